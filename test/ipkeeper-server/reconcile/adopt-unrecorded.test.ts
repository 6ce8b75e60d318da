import t, { type Test } from 'tap'
import type { NetnsState } from '../../../ipkeeper-server/ipam/records/standing.ts'
import type { KeptResult } from '../../../ipkeeper-server/migrate/plan/unrecorded-results.ts'
import { AdoptUnrecorded } from '../../../ipkeeper-server/reconcile/adopt-unrecorded.ts'
import { reserve } from '../../../ipkeeper-server/leases/verbs/reserve.ts'
import type { LeaseStore } from '../../../ipkeeper-server/store/lease-store.ts'
import { MemoryStore } from '../../../ipkeeper-server/store/memory/memory-store.ts'
import type { PoolSettings } from '../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import { attachmentKey } from '../../../ipkeeper-server/ipam/records/records.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { poolFrom, TestService } from '../leases/test-service.ts'

const kept = (
  containerId: string,
  address: string,
  { netns = '/run/netns/lives', pod = `pod-${containerId}` } = {},
): KeptResult => ({
  ...{ network: 'net', containerId, ifname: 'eth0', addresses: [address], mac: null, netns },
  pod: { namespace: 'shop', name: pod, uid: null },
  ...{ path: `/c/net-${containerId}-eth0`, modifiedAt: 0, beforeBoot: false, stateDirs: ['/s'] },
  configs: [{ type: 'bridge', ipam: { type: 'ipkeeper', subnet: '10.22.0.0/24' } }],
})

const configured: PoolSettings = {
  ...{ pool: poolFrom('blue', ['10.40.0.0/24']), rules: {}, network: {} },
  policy: { retention: 'release', cooldown: 0, preferFor: 0, strategy: 'lowest-free' },
}

const namespaces: Readonly<Record<string, NetnsState>> = {
  '/run/netns/lives': { kind: 'namespace', inode: '7' },
  '/proc/5/ns/net': { kind: 'namespace', inode: '1' },
  '/proc/self/ns/net': { kind: 'namespace', inode: '1' },
}

async function begin(t: Test, results: () => readonly KeptResult[], store?: LeaseStore) {
  const story = await TestService.open(store)
  const told: string[] = []
  const adopt = new AdoptUnrecorded({
    service: story.service,
    facts: {
      namespaceAt: path => namespaces[path] ?? { kind: 'absent' },
      reachNetns: path =>
        path.includes('hangs') ? Promise.reject(new Problem('IPK_FILE_HANGS', path)) : Promise.resolve(),
    },
    results: () => Promise.resolve(results()),
    onAdopted: ({ address, containerId }) => void told.push(`${address} ${containerId ?? ''}`),
    onRefused: ({ address, verdict }) => void told.push(`${address} ${verdict}`),
    onError: error => void told.push(String(error)),
  })
  t.teardown(() => adopt.stop())
  return { story, adopt, told }
}

t.test('who lives is taken up, and nobody else', async t => {
  const { story, adopt, told } = await begin(t, () => [
    kept('lives', '10.22.0.9'),
    kept('gone', '10.22.0.10', { netns: '/run/netns/gone' }),
    kept('hangs', '10.22.0.11', { netns: '/run/netns/hangs' }),
    kept('reused', '10.22.0.12', { netns: '/proc/5/ns/net' }),
    kept('deleted', '10.22.0.13'),
    kept('nowhere', '10.99.0.1'),
  ])
  const key = { network: 'net', containerId: 'deleted', ifname: 'eth0' }
  story.service.tombstones.bury(key, { bootId: 'b', startedAt: 1 }, story.service.monotonic())
  await adopt.begin()
  t.strictSame(told, ['10.22.0.9 lives', '10.99.0.1 unfit'])
  t.match(story.service.ledger.lease({ segment: 'default', address: '10.22.0.9' }), {
    state: 'bound',
    attachment: { containerId: 'lives' },
    source: 'import result-cache',
  })
  await adopt.begin()
  t.equal(told.length, 2, 'and told of once')
})

t.test('who had the address by the older ledger', async t => {
  const { story, adopt, told } = await begin(t, () => [kept('later', '10.22.0.2')])
  t.equal(await story.add({ pod: 'early', container: 'c0' }), '10.22.0.2')
  await adopt.begin()
  t.strictSame(told, ['10.22.0.2 conflict'], 'and may live')
  story.dead.add('c0')
  await adopt.begin()
  t.strictSame(told, ['10.22.0.2 conflict', '10.22.0.2 later'], 'and is dead')
  t.equal(story.service.ledger.attachment({ network: 'net', containerId: 'c0', ifname: 'eth0' }), undefined)
})

t.test('what this ledger has ended, and a runtime keeps yet', async t => {
  const store = new MemoryStore()
  const before = await TestService.open(store)
  t.equal(await before.add({ pod: 'a', container: 'ended' }), '10.22.0.2')
  await before.del('ended')
  const results = () => [kept('ended', '10.22.0.2'), kept('unknown', '10.22.0.9')]
  const { adopt, told } = await begin(t, results, store)
  await adopt.begin()
  t.strictSame(told, ['10.22.0.9 unknown'])
})

t.test('of two sandboxes that were given one address the later one has it', async t => {
  const { story, adopt, told } = await begin(t, () => [
    { ...kept('late', '10.22.0.9', { pod: 'a' }), modifiedAt: 2 },
    { ...kept('early', '10.22.0.9', { pod: 'a' }), modifiedAt: 1 },
  ])
  await adopt.begin()
  t.strictSame(told, ['10.22.0.9 late'])
  t.match(story.service.ledger.lease({ segment: 'default', address: '10.22.0.9' }), {
    attachment: { containerId: 'late' },
  })
})

for (const [what, later, owner] of [
  ['a later sandbox of its pod', 1, 'other'],
  ['an earlier sandbox of its pod', -1, 'c0'],
] as const)
  t.test(`who has it by the older ledger, and lives, and ${what}`, async t => {
    const added = { at: 0 }
    const { story, adopt } = await begin(t, () => [
      { ...kept('other', '10.22.0.2', { pod: 'a' }), modifiedAt: added.at + later },
    ])
    t.equal(await story.add({ pod: 'a', container: 'c0' }), '10.22.0.2')
    added.at = story.service.now()
    await adopt.begin()
    const lease = () => story.service.ledger.lease({ segment: 'default', address: '10.22.0.2' })
    t.equal(lease()?.attachment?.containerId, owner)
    await story.del('c0')
    t.equal(lease()?.state === 'bound', owner === 'other')
  })

t.test('what was promised to another pod while it was not on record', async t => {
  const { story, adopt, told } = await begin(t, () => [kept('lives', '10.22.0.9')])
  await reserve(story.service, { segment: 'default', address: '10.22.0.9', owner: 'shop/next', note: '' })
  await adopt.begin()
  t.strictSame(told, ['10.22.0.9 lives'])
  t.match(await story.add({ pod: 'next', container: 'c1', ip: '10.22.0.9' }), /IPK_ADDRESS_HELD/)
  await story.del('lives')
  t.equal(await story.add({ pod: 'next', container: 'c2', ip: '10.22.0.9' }), '10.22.0.9', 'it waits')
})

t.test('whose pod keeps another address by the older ledger', async t => {
  const { story, adopt, told } = await begin(t, () => [kept('lives', '10.22.0.9', { pod: 'a' })])
  t.equal(await story.add({ pod: 'a', container: 'c0', retain: '30m' }), '10.22.0.2')
  await story.del('c0')
  await adopt.begin()
  t.strictSame(told, ['10.22.0.9 lives'])
  t.match(story.service.ledger.lease({ segment: 'default', address: '10.22.0.2' }), { state: 'cooling' })
  t.strictSame(
    story.service.ledger.holder({ kind: 'pod', network: 'net', namespace: 'shop', name: 'a', ifname: 'eth0' })
      ?.leases,
    [{ segment: 'default', address: '10.22.0.9' }],
    'and has one address',
  )
})

t.test('what its pod keeps by the ledger', async t => {
  const { story, adopt, told } = await begin(t, () => [kept('lives', '10.22.0.2', { pod: 'a' })])
  t.equal(await story.add({ pod: 'a', container: 'c0', retain: '30m' }), '10.22.0.2')
  await story.del('c0')
  await adopt.begin()
  t.strictSame(told, ['10.22.0.2 lives'])
  await story.del('lives')
  t.match(
    story.service.ledger.lease({ segment: 'default', address: '10.22.0.2' }),
    { state: 'held' },
    'and it is kept after that as well',
  )
})

t.test('in a pool of the configuration, of which the store has lost the record', async t => {
  const { story, adopt, told } = await begin(t, () => [
    { ...kept('lives', '10.40.0.9'), configs: [{ type: 'bridge', ipam: { type: 'ipkeeper' } }] },
  ])
  story.book = { ...story.book, pools: [configured] }
  await adopt.begin()
  t.strictSame(told, ['10.40.0.9 lives'])
})

t.test('in no pool, until other pools are in force', async t => {
  const { story, adopt, told } = await begin(t, () => [
    { ...kept('lives', '10.40.0.9'), configs: [{ type: 'bridge', ipam: { type: 'ipkeeper' } }] },
  ])
  await adopt.begin()
  t.match(told, [/unfit/])
  story.book = { ...story.book, pools: [configured] }
  await adopt.poolsChanged()
  t.strictSame(told.slice(1), ['10.40.0.9 lives'])
  await adopt.poolsChanged()
  t.equal(told.length, 2)
})

t.test('whose lease is on record, and whose sandbox is not', async t => {
  const store = new MemoryStore()
  const before = await TestService.open(store)
  t.equal(await before.add({ pod: 'a', container: 'lives', retain: '1h' }), '10.22.0.2')
  const key = { network: 'net', containerId: 'lives', ifname: 'eth0' }
  const { generation } = before.service.ledger.attachment(key) ?? {}
  await store.commit([{ kind: 'attachment', key: attachmentKey(key), expect: generation ?? 0, record: null }])
  const { story, adopt, told } = await begin(
    t,
    () => [
      kept('lives', '10.22.0.2', { pod: 'a' }),
      // By a clock that was set back since.
      { ...kept('earlier', '10.22.0.2', { pod: 'a' }), modifiedAt: before.service.now() + 3_600_000 },
    ],
    store,
  )
  const lease = story.service.ledger.lease({ segment: 'default', address: '10.22.0.2' })
  await adopt.begin()
  t.strictSame(told, ['10.22.0.2 lives'])
  t.match(story.service.ledger.attachment(key), {
    generation: 1,
    netns: '/run/netns/lives',
    netnsInode: '7',
  })
  const written = lease && { ...lease, generation: lease.generation + 1 }
  t.strictSame(story.service.ledger.lease({ segment: 'default', address: '10.22.0.2' }), written, 'as it was')
  await adopt.begin()
  t.match(told.slice(1), ['10.22.0.2 ours'], 'that another sandbox of its pod lives, and has no record')
})

/** Whether nodes that share the ledger have all told what they hold, and how often it was said that all is taken up. */
class SharedRecords extends MemoryStore {
  told = false
  tookUp = 0
  readonly shared = {
    ...{ follow: () => undefined, status: () => ({ state: 'ready', owed: 0 }) as const, ignores: [] },
    ...{
      isHeard: () => true,
      takenAtStart: () => [],
      lastContactAge: () => 0,
      named: () => Promise.resolve(),
    },
    ...{
      isOwnName: () => true,
      sure: () => undefined,
      hasEnded: () => false,
      ended: () => [],
      haveAllTold: () => this.told,
    },
    tookUp: () => {
      this.tookUp++
    },
  }
}

interface Taking {
  readonly what: string
  /** `held`: what another pod has. undefined: it cannot be read. */
  readonly address: ((held: string) => string) | undefined
  readonly haveAllTold: boolean
  readonly tookUp: boolean
}

const takings: readonly Taking[] = [
  { what: 'who lives is adopted', address: () => '10.22.0.9', haveAllTold: false, tookUp: true },
  { what: 'no pool has it', address: () => '10.99.0.1', haveAllTold: false, tookUp: true },
  { what: 'another one has it', address: held => held, haveAllTold: true, tookUp: true },
  { what: 'another one had it once', address: held => held, haveAllTold: false, tookUp: false },
  { what: 'results cannot be read', address: undefined, haveAllTold: true, tookUp: false },
]

for (const { what, address, haveAllTold, tookUp } of takings)
  t.test(`whether all is taken up: ${what}`, async t => {
    const store = new SharedRecords()
    let held = ''
    const { story, adopt } = await begin(
      t,
      () => {
        if (!address) throw new Error('EIO')
        return [kept('later', address(held))]
      },
      store,
    )
    held = await story.add({ pod: 'early', container: 'c0' })
    store.told = haveAllTold
    await adopt.begin()
    t.equal(store.tookUp, tookUp ? 1 : 0)
  })

t.test('results that cannot be read', async t => {
  let fails = true
  const { adopt, told } = await begin(t, () => {
    if (fails) throw new Error('EIO')
    return [kept('lives', '10.22.0.9')]
  })
  await adopt.begin()
  fails = false
  await adopt.begin()
  t.strictSame(told, ['Error: EIO', '10.22.0.9 lives'])
})
