/** Who still gets an address of a range that drains: whoever had it, and whom it is kept or reserved for. */
import t from 'tap'
import { canonicalPool } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import type { PoolSettings } from '../../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import { measureUsage } from '../../../../ipkeeper-server/leases/queries/measure-usage.ts'
import { poolStatuses } from '../../../../ipkeeper-server/leases/tasks/pool-statuses.ts'
import { drainingOf, usageOf, UsageTally } from '../../../../ipkeeper-server/ipam/pools/usage.ts'
import { poolOf, toPoolRecord } from '../../../../ipkeeper-server/ipam/pools/pool-record.ts'
import { configured, minute, tellStories, type Step } from '../../leases/story.ts'
import { TestService, type PodWords } from '../../leases/test-service.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'

/** Ranges of one set; "10.22.0.0/24 draining". */
const poolOfRanges = (name: string, ...texts: readonly string[]) =>
  canonicalPool(name, 'default', [
    texts.map(text => {
      const [subnet = '', word] = text.split(' ')
      return { subnet: parseCidr(subnet)!, draining: word === 'draining' }
    }),
  ])
const pool = (name: string, ...texts: readonly string[]): PoolSettings => ({
  ...configured(name, [['10.99.0.0/24']]),
  pool: poolOfRanges(name, ...texts),
})

const open = pool('old', '10.22.0.0/24')
const drained = pool('old', '10.22.0.0/24 draining')
const partly = pool('old', '10.22.0.0/24 draining', '10.23.0.0/24')
const spare = pool('spare', '10.24.0.0/24')
const pod = (name: string, container: string, more: Partial<PodWords> = {}): PodWords => ({
  ...{ pod: name, container, network: 'net', configured: ['old'] },
  ...more,
})
const listed = { ips: '10.22.0.50-10.22.0.52,10.23.0.50' }
const byName = { ip: '10.22.0.50' }

const stories: Readonly<Record<string, readonly Step[]>> = {
  'a new pod gets none': [
    ['configure', drained],
    ['add', pod('a', 'c1'), 'IPK_POOL_DRAINING', /pool old is draining: no new pod gets an address of it/],
  ],
  'one that asks for one by name neither': [
    ['configure', drained],
    [
      'add',
      pod('a', 'c1', byName),
      'IPK_POOL_DRAINING',
      /annotation ipkeeper\.io\/ip asks for 10\.22\.0\.50, which is in a range of pool old that is draining/,
    ],
  ],
  "nor by CNI's own channel, in host-local's words": [
    ['configure', drained],
    [
      'add',
      pod('a', 'c1', { cniIp: '10.22.0.50' }),
      'IPK_POOL_DRAINING',
      /^failed to allocate for range 0: requested IP address 10\.22\.0\.50 is not available in range set .*; 10\.22\.0\.50 is in a range of pool old that is draining/,
    ],
  ],
  'it is served by another range of the pool': [
    ['configure', partly],
    ['add', pod('a', 'c1'), '10.23.0.2', /lowest free address/],
  ],
  'nor one of a network that has the same ranges as the pool': [
    ['configure', pool('net', '10.22.0.0/24 draining')],
    ['add', { pod: 'a', container: 'c1', pool: pool('net', '10.22.0.0/24').pool }, 'IPK_POOL_DRAINING'],
  ],
  'or by another pool, where it names none': [
    ['configure', drained, spare],
    ['add', { pod: 'a', container: 'c1', network: 'net', configured: [] }, '10.24.0.2'],
  ],
  'an address that cools down is not given to another pod': [
    ['configure', open],
    ['add', pod('a', 'c1'), '10.22.0.2'],
    ['del', 'c1'],
    ['configure', drained],
    ['add', pod('b', 'c2'), 'IPK_POOL_DRAINING'],
    ['wait', 20 * minute],
    ['add', pod('c', 'c3'), 'IPK_POOL_DRAINING'],
  ],
  'a new sandbox of the same pod has its address again': [
    ['configure', open],
    ['add', pod('a', 'c1', { uid: 'u1' }), '10.22.0.2'],
    ['configure', drained],
    ['add', pod('a', 'c2', { uid: 'u1' }), '10.22.0.2'],
  ],
  'what is kept goes back to its owner': [
    ['configure', open],
    ['add', pod('a', 'c1', { retain: 'forever' }), '10.22.0.2'],
    ['del', 'c1'],
    ['configure', drained],
    ['add', pod('a', 'c2', { uid: 'another' }), '10.22.0.2', /kept for shop\/a/],
  ],
  'who asked for his by name can be restarted': [
    ['configure', open],
    ['add', pod('web-0', 'c1', { ...byName, uid: 'u1' }), '10.22.0.50'],
    ['del', 'c1'],
    ['configure', drained],
    ['add', pod('web-1', 'c2', byName), 'IPK_POOL_DRAINING'],
    ['add', pod('web-0', 'c3', { ...byName, uid: 'u2' }), '10.22.0.50'],
  ],
  'what is reserved for a pod goes to it': [
    ['configure', open],
    ['add', pod('z', 'c0'), '10.22.0.2'],
    ['reserve', '10.22.0.60', 'shop/a'],
    ['configure', drained],
    ['add', pod('a', 'c1'), '10.22.0.60', /reserved for this pod/],
    ['add', pod('b', 'c2', { ip: '10.22.0.61' }), 'IPK_POOL_DRAINING'],
  ],
  'of a list the candidates that drain are passed over': [
    ['configure', partly],
    ['add', pod('a', 'c1', listed), '10.23.0.50'],
    [
      'add',
      pod('b', 'c2', listed),
      'IPK_CANDIDATES_TAKEN',
      /10\.22\.0\.50 by no pod, but its range is draining/,
    ],
  ],
  'but not for the pod that had one': [
    ['configure', open],
    ['add', pod('a', 'c1', { ips: '10.22.0.50-10.22.0.52', retain: 'forever' }), '10.22.0.50'],
    ['del', 'c1'],
    ['configure', partly],
    ['add', pod('a', 'c2', { ...listed, uid: 'another' }), '10.22.0.50', /the one this pod had/],
  ],
}
tellStories(t, stories)

t.test('what is left of a pool that drains may be only reserved', async t => {
  const story = await TestService.open()
  const drains = poolOfRanges('old', '10.22.0.0/24 draining')
  story.book = { ...story.book, pools: [open] }
  story.pool = open.pool
  await story.add({ pod: 'a', container: 'c1', network: 'old' })
  const tally = new UsageTally([drains], story.service.now())
  for (const lease of story.service.ledger.leaseOutlines()) tally.lease(lease)
  const key = { segment: drains.segment, address: '10.22.0.9' }
  tally.reservation(key, undefined)
  tally.reservation(
    { ...key, address: '10.22.0.2' },
    story.service.ledger.lease({ ...key, address: '10.22.0.2' }),
  )
  t.strictSame(drainingOf(tally.rangeSets()), { whole: true, left: 2n, reserved: 1n })
})

t.test('figures of a pool that drains', async t => {
  const story = await TestService.open()
  story.book = { ...story.book, pools: [open] }
  story.pool = open.pool
  await story.add({ pod: 'a', container: 'c1', network: 'old' })
  await story.add({ pod: 'b', container: 'c2', network: 'old', retain: 'forever' })
  await story.add({ pod: 'c', container: 'c3', network: 'old' })
  await story.del('c2', 'eth0', 'old')
  await story.del('c3', 'eth0', 'old')
  const { ledger } = story.service
  for (const [what, texts, capacity, free, whole] of [
    ['whole', ['10.22.0.0/24 draining'], 2n, 0n, true],
    ['in part', ['10.22.0.0/24 draining', '10.23.0.0/24'], 255n, 253n, false],
  ] as const) {
    const drains = poolOfRanges('old', ...texts)
    const usage = await measureUsage(
      {
        ledger: Object.assign(Object.create(ledger) as typeof ledger, {
          pools: () => [toPoolRecord(drains, 1)],
          leaseOutlines: () => ledger.leaseOutlines(),
          reservations: () => ledger.reservations(),
          lease: (key: Parameters<typeof ledger.lease>[0]) => ledger.lease(key),
          reservation: (key: Parameters<typeof ledger.reservation>[0]) => ledger.reservation(key),
        }),
        now: story.service.now,
      },
      () => Promise.resolve(),
    )
    const { rangeSets } = usage
    t.match(rangeSets, [{ capacity, used: 1n, held: 1n, free, left: 2n }], what)
    t.strictSame(drainingOf(rangeSets), { whole, left: 2n }, what)
    t.match(usageOf(ledger, drains, story.service.now()), { capacity, used: 1n, held: 1n, free }, what)
    t.strictSame(poolStatuses(usage).get('old')?.exhausted, [], 'it is not full')
    t.strictSame(poolOf(toPoolRecord(drains, 1)), drains, 'and is remembered so')
  }
})
