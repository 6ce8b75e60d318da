import t from 'tap'
import {
  leaseKey,
  type LeaseRecord,
  type Workload,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import { MemoryStore } from '../../../../ipkeeper-server/store/memory/memory-store.ts'
import { lease, putLease } from '../../../rigs/records.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { lowest, two } from './small-pool.ts'

const holderOf = (name: string, namespace = 'shop'): LeaseRecord['holder'] => ({
  kind: 'pod',
  network: 'net',
  namespace,
  name,
  ifname: 'eth0',
})

const workload = (name: string, uid: string | null = null): Workload => ({
  namespace: 'shop',
  kind: 'Deployment',
  name,
  apiVersion: uid === null ? null : 'apps/v1',
  uid,
})

const unbound = { attachment: null } as const

/** What the ledger says of records, and what a fresh one says that read them from the store. */
async function bothSay<T>(records: readonly LeaseRecord[], ask: (ledger: Ledger) => T): Promise<[T, T]> {
  const store = new MemoryStore()
  const ledger = await Ledger.open(store)
  // The last one comes first: in the store records have no order.
  for (const record of [...records].reverse()) await ledger.commit([putLease(record, null)])
  return [ask(ledger), ask(await Ledger.open(store))]
}

t.test(
  'kept until a moment: told when it is known, free when it is over, also before its record goes',
  async t => {
    const store = new MemoryStore()
    const ledger = await Ledger.open(store)
    let told = 0
    ledger.subscribe({ kept: () => told++ })
    const resting = (until: number, generation: number): LeaseRecord =>
      lease('10.0.0.2', generation, { state: 'cooling', attachment: null, until })
    t.equal(ledger.nextExpiry(), undefined)
    await ledger.commit([putLease(resting(100, 1), null)])
    t.equal(told, 1)
    t.equal(ledger.nextExpiry(), 100)
    t.strictSame(ledger.expire(99), [])
    t.equal(lowest(ledger), 3)
    await ledger.commit([putLease(resting(200, 2), 1)])
    t.strictSame(ledger.expire(150), [], 'an outdated moment')
    t.strictSame(ledger.expire(200), [resting(200, 2)])
    t.equal(lowest(ledger), 2)
    t.strictSame(ledger.expire(200), [resting(200, 2)], 'until its record is gone')
    await ledger.commit([putLease(lease('10.0.0.2', 3), 2)])
    t.equal(lowest(ledger), 3, 'given again')
    t.strictSame(ledger.expire(1000), [])
  },
)

t.test(
  'resting addresses come in the order of their release, also of what a refused change had taken',
  async t => {
    const store = new FragileStore()
    const ledger = await Ledger.open(store)
    const resting = (address: string, since: number, generation = 1): LeaseRecord =>
      lease(address, generation, { state: 'cooling', attachment: null, since, until: 1000 })
    const order = (from: Ledger): string[] => Array.from(from.resting('net'), ({ address }) => address)
    await ledger.commit([putLease(resting('10.0.0.2', 10), null)])
    await ledger.commit([putLease(resting('10.0.0.3', 20), null)])
    await ledger.commit([putLease(resting('10.0.0.4', 5), null)])
    t.strictSame(order(ledger), ['10.0.0.4', '10.0.0.2', '10.0.0.3'], 'a clock that was set back')
    store.fails = () => true
    await t.rejects(ledger.commit([putLease(lease('10.0.0.4', 2), 1)]))
    store.fails = () => false
    t.strictSame(order(ledger), ['10.0.0.4', '10.0.0.2', '10.0.0.3'], 'nothing has changed')
    await ledger.commit([putLease(resting('10.0.0.4', 30, 2), 1)])
    t.strictSame(order(ledger), ['10.0.0.2', '10.0.0.3', '10.0.0.4'], 'released again')
    t.strictSame(order(await Ledger.open(store)), order(ledger), 'as after a restart')
  },
)

t.test('what rests, by the pool that gave it: the longest rested first, whatever came when', async t => {
  const records = [
    lease('10.0.0.2', 1, { ...unbound, state: 'cooling', since: 30, until: 90 }),
    lease('10.0.0.3', 1, { ...unbound, state: 'cooling', since: 10, until: 70, remembered: true }),
    lease('10.0.0.4', 1, { ...unbound, state: 'cooling', since: 20, until: 80 }),
    lease('10.0.0.5', 1, { ...unbound, state: 'cooling', since: 5, until: 80, pool: 'other' }),
    lease('10.0.0.6', 1, { ...unbound, state: 'held', since: 1, until: 80 }),
    lease('10.0.0.7'),
  ]
  const said = await bothSay(records, ledger => ({
    net: Array.from(ledger.resting('net'), record => record.address),
    other: Array.from(ledger.resting('other'), record => record.address),
    none: [...ledger.resting('gone')],
    counts: ['net', 'other', 'gone'].map(pool => ledger.restingCount(pool)),
  }))
  for (const each of said) {
    t.strictSame(each, {
      net: ['10.0.0.3', '10.0.0.4', '10.0.0.2'],
      other: ['10.0.0.5'],
      none: [],
      counts: [3, 1, 0],
    })
  }
})

t.test('a lease that rests no longer, or was brought back, is in its place', async t => {
  const store = new MemoryStore()
  const ledger = await Ledger.open(store)
  const cooling = (address: string, generation: number, since: number): LeaseRecord =>
    lease(address, generation, { ...unbound, state: 'cooling', since, until: since + 1 })
  await ledger.commit([
    putLease(cooling('10.0.0.2', 1, 10), null),
    putLease(cooling('10.0.0.3', 1, 20), null),
  ])
  const order = (): string => Array.from(ledger.resting('net'), record => record.address).join(' ')
  await ledger.commit([putLease(lease('10.0.0.2', 2), 1)])
  t.equal(order(), '10.0.0.3')
  await ledger.commit([putLease(cooling('10.0.0.2', 3, 10), 2)])
  t.equal(order(), '10.0.0.2 10.0.0.3', 'an undo gave it back')
  await ledger.commit([
    { kind: 'lease', key: leaseKey({ ...two, address: '10.0.0.3' }), expect: 1, record: null },
  ])
  t.equal(order(), '10.0.0.2')
})

t.test(
  'remembered addresses are taken for used until they are given again, also after their time',
  async t => {
    const store = new MemoryStore()
    const ledger = await Ledger.open(store)
    await ledger.commit([
      putLease(lease('10.0.0.2', 1, { ...unbound, state: 'cooling', until: 5, remembered: true }), null),
      putLease(lease('10.0.0.3', 1, { ...unbound, state: 'cooling', until: 5 }), null),
    ])
    for (const each of [ledger, await Ledger.open(store)]) {
      t.equal(lowest(each), 4)
      t.strictSame(
        each.expire(10).map(record => record.address),
        ['10.0.0.3'],
        'what is remembered is not to be deleted',
      )
      t.equal(lowest(each), 3)
      t.equal(each.nextExpiry(), undefined)
    }
  },
)

t.test('what is kept for a workload, or would be after a DEL, the longest kept first', async t => {
  const held = (address: string, since: number, patch: Partial<LeaseRecord> = {}): LeaseRecord =>
    lease(address, 1, { ...unbound, state: 'held', since, workload: workload('api'), ...patch })
  const records = [
    held('10.0.0.2', 30),
    held('10.0.0.3', 10),
    held('10.0.0.4', 20, { workload: workload('web') }),
    held('10.0.0.5', 20, { state: 'cooling' }),
    lease('10.0.0.6', 1, { workload: workload('api'), retain: 'release' }),
    lease('10.0.0.8', 1, { workload: workload('api'), retain: 'forever', since: 40 }),
    lease('10.0.0.9', 1, { workload: { ...workload('api'), kind: 'StatefulSet' }, retain: 'forever' }),
    lease('10.0.0.7', 1, { ...unbound, state: 'held' }),
  ]
  const said = await bothSay(records, ledger =>
    [
      ['shop', 'api'],
      ['shop', 'web'],
      ['lab', 'api'],
    ].map(([namespace = '', name = '']) =>
      ledger.leasesKeptFor(namespace, name).map(({ address }) => address),
    ),
  )
  for (const each of said) t.strictSame(each, [['10.0.0.3', '10.0.0.2', '10.0.0.8'], ['10.0.0.4'], []])
})

t.test('how many addresses of a pool a namespace has', async t => {
  const store = new MemoryStore()
  const ledger = await Ledger.open(store)
  await ledger.commit(
    [
      lease('10.0.0.2'),
      lease('10.0.0.3', 1, { ...unbound, state: 'held' }),
      lease('10.0.0.4', 1, { ...unbound, state: 'cooling' }),
      lease('10.0.0.5', 1, { holder: holderOf('a', 'lab') }),
      lease('10.0.0.6', 1, { pool: 'other' }),
      lease('fd00::2'),
      lease('10.0.0.7', 1, {
        holder: { kind: 'container', network: 'net', containerId: 'c1', ifname: 'eth0' },
      }),
    ].map(record => putLease(record, null)),
  )
  const counts = (each: Ledger): number[] => [
    each.liveIn('net', 'shop', 4, 0),
    each.liveIn('net', 'shop', 6, 0),
    each.liveIn('net', 'lab', 4, 0),
    each.liveIn('other', 'shop', 4, 0),
    each.liveIn('net', 'nobody', 4, 0),
  ]
  t.strictSame(counts(ledger), [2, 1, 1, 1, 0])
  t.strictSame(counts(await Ledger.open(store)), [2, 1, 1, 1, 0])
  await ledger.commit([
    putLease(lease('10.0.0.2', 2, { ...unbound, state: 'cooling' }), 1),
    putLease(lease('10.0.0.3', 2), 1),
    putLease(lease('10.0.0.4', 2), 1),
    putLease(lease('10.0.0.5', 2, { holder: holderOf('a') }), 1),
  ])
  t.strictSame(counts(ledger), [3, 1, 0, 1, 0])
})

t.test('what a namespace keeps counts until its time is over, whether or not somebody noticed', async t => {
  const store = new MemoryStore()
  const ledger = await Ledger.open(store)
  const held = { ...unbound, state: 'held' } as const
  await ledger.commit(
    [
      lease('10.0.0.2', 1, { ...held, until: 10 }),
      lease('10.0.0.3', 1, { ...held, until: 20 }),
      lease('10.0.0.4', 1, { ...held, until: 10, holder: holderOf('a', 'lab') }),
      lease('10.0.0.5', 1, { ...unbound, state: 'cooling', until: 10 }),
      lease('fd00::2', 1, { ...held, until: 10 }),
    ].map(record => putLease(record, null)),
  )
  // A moment twice, and one that no longer holds.
  await ledger.commit([
    putLease(lease('10.0.0.2', 2, { ...held, until: 10 }), 1),
    putLease(lease('10.0.0.3', 2, { ...held, until: 30 }), 1),
  ])
  const counts = (each: Ledger): number[] => [9, 10, 20, 30].map(now => each.liveIn('net', 'shop', 4, now))
  t.strictSame(counts(ledger), [2, 1, 1, 0])
  t.strictSame(counts(await Ledger.open(store)), [2, 1, 1, 0])
  ledger.expire(30)
  t.strictSame(counts(ledger), [2, 1, 1, 0], 'also when the clock is set back')
  await ledger.commit([putLease(lease('10.0.0.2', 3), 2)])
  t.strictSame(counts(ledger), [2, 2, 2, 1])
})

t.test('what is kept while an owner exists that can be asked for', async t => {
  const kept = (address: string, patch: Partial<LeaseRecord> = {}): LeaseRecord =>
    lease(address, 1, {
      ...unbound,
      state: 'held',
      retain: 'while-owner-exists',
      workload: workload('api', 'd1'),
      ...patch,
    })
  const records = [
    kept('10.0.0.2'),
    kept('10.0.0.3', { workload: workload('api') }),
    kept('10.0.0.4', { retain: 'forever' }),
    kept('10.0.0.5', { state: 'bound', attachment: { network: 'net', containerId: 'c1', ifname: 'eth0' } }),
    kept('10.0.0.6', { state: 'cooling', until: 5 }),
  ]
  const said = await bothSay(records, ledger => ledger.keptForOwners().map(({ address }) => address))
  for (const each of said) t.strictSame(each, ['10.0.0.2'])
  const ledger = await Ledger.open(new MemoryStore())
  let calls = 0
  ledger.subscribe({ kept: () => calls++ })
  await ledger.commit([putLease(kept('10.0.0.3', { workload: workload('api') }), null)])
  t.equal(calls, 0, 'nobody waits for what does not end')
  await ledger.commit([putLease(kept('10.0.0.2'), null)])
  t.equal(calls, 1)
  await ledger.commit([
    putLease(lease('10.0.0.2', 2, { retain: 'while-owner-exists', workload: workload('api', 'd1') }), 1),
  ])
  t.strictSame(ledger.keptForOwners(), [])
})
