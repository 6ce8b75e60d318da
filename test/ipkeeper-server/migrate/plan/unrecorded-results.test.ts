import t from 'tap'
import { replaceLease, writeHolder } from '../../../../ipkeeper-server/ipam/plan/record-writes.ts'
import {
  allocationsOf,
  rangesOf,
  unrecordedResults,
  type KeptResult,
} from '../../../../ipkeeper-server/migrate/plan/unrecorded-results.ts'
import { poolFrom, TestService } from '../../leases/test-service.ts'

const ipam = { type: 'ipkeeper', subnet: '10.22.0.0/24' }

const kept = (patch: Partial<KeptResult> = {}): KeptResult => ({
  ...{ network: 'net', containerId: 'new', ifname: 'eth0', addresses: ['10.22.0.9'] },
  ...{ pod: null, netns: '/run/netns/a', mac: null, stateDirs: ['/s'], configs: [{ type: 'bridge', ipam }] },
  ...{ path: '/c/net-new-eth0', modifiedAt: 5, beforeBoot: false },
  ...patch,
})

const rows: readonly (readonly [what: string, patch: Partial<KeptResult>, isUnrecorded: boolean])[] = [
  ['of a container that nobody knows', {}, true],
  ['of one that is on record', { containerId: 'c0' }, false],
  ['of its other interface', { containerId: 'c0', ifname: 'net1' }, true],
  [
    'of a plugin that calls another one for the address',
    { containerId: 'c0', network: 'outer', addresses: ['10.22.0.2'] },
    false,
  ],
  [
    'of one on record under the name that its part has',
    { containerId: 'c0', network: 'outer', configs: [{ name: 'net', ipam }] },
    false,
  ],
  ['from before the boot', { beforeBoot: true }, false],
  ['of a container whose namespace is not said', { netns: null }, false],
]

for (const [what, patch, isUnrecorded] of rows)
  t.test(`a result ${what}`, async t => {
    const story = await TestService.open()
    await story.add({ pod: 'web-0', container: 'c0' })
    const found = unrecordedResults(story.service.ledger, [kept(patch)])
    t.equal(found.length, isUnrecorded ? 1 : 0)
  })

t.test('a lease that its holder names, and that has gone without a trace', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'web-0', container: 'c0' })
  const { ledger } = story.service
  const result = kept({ containerId: 'c0', addresses: ['10.22.0.2'] })
  const lease = ledger.lease({ segment: 'default', address: '10.22.0.2' })
  if (!lease) return
  await ledger.commit([replaceLease(lease, null)])
  t.match(unrecordedResults(ledger, [result]), [{ isLost: true }])
  const holder = ledger.holder(lease.holder)
  await ledger.commit([writeHolder(holder, lease.holder, { attachment: null }, [])])
  t.strictSame(unrecordedResults(ledger, [result]), [], 'whatever ends a lease writes both')
})

t.test('segments and ranges', async t => {
  const story = await TestService.open()
  story.pool = { ...poolFrom('net', ['10.22.0.0/24']), segment: 'blue' }
  await story.add({ pod: 'web-0', container: 'c0' })
  const segmentOf = (own: object): string | undefined =>
    unrecordedResults(story.service.ledger, [kept({ configs: [{ ipam: { type: 'ipkeeper', ...own } }] })])[0]
      ?.segment
  t.equal(segmentOf({}), 'default')
  t.equal(segmentOf({ segment: 'green' }), 'green')
  t.equal(segmentOf({ pool: 'net' }), 'blue', 'of its pool')
  t.equal(segmentOf({ pool: 'unknown' }), 'default')
})

t.test('as an import takes it', async t => {
  const story = await TestService.open()
  const pod = { namespace: 'shop', name: 'web-9', uid: null }
  const [one] = unrecordedResults(story.service.ledger, [kept({ pod, configs: [{ name: 'inner', ipam }] })])
  t.match(one && allocationsOf(one), [
    { address: '10.22.0.9', network: 'inner', containerId: 'new', pod, since: 5, netns: '/run/netns/a' },
  ])
  t.strictSame(one && rangesOf(one), [{ cniVersion: '1.0.0', name: 'inner', ipam }])
  const [pooled] = unrecordedResults(story.service.ledger, [
    kept({ configs: [{ type: 'ipkeeper', ipam: { pool: 'prod' } }, { type: 'ipkeeper' }] }),
  ])
  t.strictSame(pooled && rangesOf(pooled), [], 'ranges of a pool are those of the configuration')
})
