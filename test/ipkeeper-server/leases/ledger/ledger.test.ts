import t from 'tap'
import { commitPlan, mostAttempts } from '../../../../ipkeeper-server/leases/ledger/commit-plan.ts'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import {
  leaseKey,
  type Change,
  type LeaseRecord,
  type Workload,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { blockOf } from '../../../../ipkeeper-server/ipam/pools/block-affinity.ts'
import type { SharedAspect, StoreNews } from '../../../../ipkeeper-server/store/lease-store.ts'
import { MemoryStore } from '../../../../ipkeeper-server/store/memory/memory-store.ts'
import { formatAddress } from '../../../../shared/net/address.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { lease, putLease } from '../../../contract/lease-store-contract.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { poolFrom } from '../test-service.ts'

const two = { segment: 'default', address: '10.0.0.2' }
const [[range] = []] = poolFrom('net', ['10.0.0.0/29']).rangeSets
const run = range!.usable[0]!

const lowest = (ledger: Ledger): number | undefined => {
  const address = ledger.lowestFree('default', 4, run)
  return address && Number(address.value & 0xffn)
}

/** A commit that the test lets go on when it likes. */
function gate(store: FragileStore): { readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  store.delay = async () => {
    await promise
  }
  return {
    open: () => {
      store.delay = async () => Promise.resolve()
      resolve(undefined)
    },
  }
}

t.test('a commit shows at once, before it is durable', async t => {
  const store = new FragileStore()
  const ledger = await Ledger.open(store)
  const { open } = gate(store)
  const committed = ledger.commit([putLease(lease('10.0.0.2'), null)])
  t.equal(ledger.lease(two)?.generation, 1)
  t.equal(lowest(ledger), 3)
  t.equal(ledger.leasesOf({ network: 'net', containerId: 'c1', ifname: 'eth0' }).length, 1)
  t.equal(ledger.hasLiveLease({ name: 'net' }), true)
  t.equal(await store.read('lease', leaseKey(two)), undefined)
  open()
  await committed
  t.equal((await store.read('lease', leaseKey(two)))?.generation, 1)
})

t.test('a refused commit leaves no trace: what it touched is read again, nothing else', async t => {
  const store = new FragileStore()
  const ledger = await Ledger.open(store)
  await ledger.commit([putLease(lease('10.0.0.3'), null)])
  const asked: string[] = []
  const read = store.read.bind(store)
  store.read = (kind, key) => {
    asked.push(key)
    return read(kind, key)
  }
  store.fails = () => true
  const change: Change = [
    putLease(lease('10.0.0.2'), null),
    putLease(lease('10.0.0.3', 2, { state: 'cooling', attachment: null, until: 5 }), 1),
  ]
  t.equal((await thrownProblem(() => ledger.commit(change))).code, 'IPK_STORE_FAILED')
  t.strictSame(asked.sort(), change.map(write => write.key).sort())
  t.equal(ledger.lease(two), undefined)
  t.match(ledger.lease({ ...two, address: '10.0.0.3' }), { generation: 1, state: 'bound' })
  t.equal(lowest(ledger), 2)
  t.equal(ledger.counts().lease, 1)
  t.equal(ledger.hasLiveLease({ name: 'net' }), true)
  asked.length = 0
  await ledger.settle()
  t.strictSame(asked, [], 'nothing is in doubt any more')
})

t.test('a store that cannot even be read leaves records in doubt until the next plan', async t => {
  const store = new FragileStore()
  const ledger = await Ledger.open(store)
  const read = store.read.bind(store)
  store.fails = () => true
  store.read = () => Promise.reject(new Problem('IPK_STORE_FAILED', 'no disk'))
  const refused = await thrownProblem(() => ledger.commit([putLease(lease('10.0.0.2'), null)]))
  t.equal(refused.message, 'disk full', 'the first fault is told, not that of looking')
  const plan = await thrownProblem(() => commitPlan(ledger, () => ({ change: [] })))
  t.equal(plan.message, 'no disk', 'nobody plans on what is in doubt')
  store.fails = () => false
  store.read = read
  await commitPlan(ledger, () => {
    t.equal(ledger.lease(two), undefined)
    return { change: [putLease(lease('10.0.0.2'), null)] }
  })
  t.equal(ledger.lease(two)?.generation, 1)
})

t.test('what was built on a refused commit conflicts in its turn, and is planned again', async t => {
  const store = new FragileStore()
  const ledger = await Ledger.open(store)
  const { open } = gate(store)
  let turn = 0
  store.fails = () => ++turn === 1
  const first = ledger.commit([putLease(lease('10.0.0.2'), null)])
  const seen: (number | undefined)[] = []
  const second = commitPlan(ledger, () => {
    const present = ledger.lease(two)
    seen.push(present?.generation)
    const record: LeaseRecord = lease('10.0.0.2', (present?.generation ?? 0) + 1, { node: 'n2' })
    return { change: [putLease(record, present?.generation ?? null)] }
  })
  await new Promise(resolve => setImmediate(resolve))
  open()
  t.equal((await thrownProblem(() => first)).code, 'IPK_STORE_FAILED')
  await second
  t.strictSame(seen, [1, undefined], 'planned on the refused change, then without it')
  t.match(ledger.lease(two), { generation: 1, node: 'n2' })
  t.match(await store.read('lease', leaseKey(two)), { generation: 1, node: 'n2' })
})

t.test('a change from an old generation is refused before the store is asked', async t => {
  const store = new FragileStore()
  const ledger = await Ledger.open(store)
  await ledger.commit([putLease(lease('10.0.0.2'), null)])
  store.delay = () => Promise.reject(new Error('the store was asked'))
  for (const write of [putLease(lease('10.0.0.2'), null), putLease(lease('10.0.0.2', 3), 2)]) {
    const problem = await thrownProblem(() => ledger.commit([write]))
    t.match(problem, { code: 'IPK_STORE_CONFLICT', message: /10\.0\.0\.2.* was changed by somebody else/ })
  }
  t.equal(ledger.lease(two)?.generation, 1)
})

t.test('somebody else wrote to the store: the plan is made anew from what is there', async t => {
  const store = new MemoryStore()
  const ledger = await Ledger.open(store)
  await store.commit([putLease(lease('10.0.0.2', 1, { node: 'other' }), null)])
  const seen: (string | undefined)[] = []
  const plan = await commitPlan(ledger, () => {
    const present = ledger.lease(two)
    seen.push(present?.node)
    return present ? { change: [] } : { change: [putLease(lease('10.0.0.2'), null)] }
  })
  t.strictSame(plan.change, [])
  t.strictSame(seen, [undefined, 'other'])
})

t.test('a conflict without end is an error after some tries, not a loop', async t => {
  const ledger = await Ledger.open(new MemoryStore())
  let tries = 0
  const problem = await thrownProblem(() =>
    commitPlan(ledger, () => {
      tries++
      return { change: [putLease(lease('10.0.0.2', 8), 7)] }
    }),
  )
  t.match(problem, { code: 'IPK_STORE_CONFLICT' })
  t.equal(tries, mostAttempts)
})

t.test('what a plan throws is not tried again', async t => {
  const ledger = await Ledger.open(new MemoryStore())
  let tries = 0
  const problem = await thrownProblem(() =>
    commitPlan(ledger, () => {
      tries++
      throw new Problem('IPK_POOL_FULL', 'full')
    }),
  )
  t.equal(problem.code, 'IPK_POOL_FULL')
  t.equal(tries, 1)
})

t.test('dynamic choice sees: leased, reserved, both, neither', async t => {
  const ledger = await Ledger.open(new MemoryStore())
  const reservation = { ...two, generation: 1, namespace: 'shop', name: 'a', note: '', since: 1 }
  const reserve = { kind: 'reservation', key: leaseKey(two), expect: null, record: reservation } as const
  await ledger.commit([putLease(lease('10.0.0.2'), null)])
  await ledger.commit([reserve])
  t.equal(lowest(ledger), 3)
  await ledger.commit([{ kind: 'lease', key: leaseKey(two), expect: 1, record: null }])
  t.equal(lowest(ledger), 3, 'still reserved')
  t.equal(ledger.reservationsFor('shop', 'a').length, 1)
  await ledger.commit([{ ...reserve, expect: 1, record: null }])
  t.equal(lowest(ledger), 2)
  t.strictSame(ledger.reservationsFor('shop', 'a'), [])
})

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

t.test('in a store that nodes share each node keeps to itself', async t => {
  /** The store as another node sees it: the same records, heard of at once. */
  const heard: ((news: StoreNews) => void)[] = []
  const memory = new MemoryStore()
  const shared: SharedAspect = {
    follow: adopt => heard.push(adopt),
    status: () => ({ state: 'ready', owed: 0 }),
    isHeard: () => true,
    takenAtStart: () => [],
    lastContactAge: () => 0,
    ignores: [],
  }
  const store = Object.assign(memory, { shared })
  const open = (node: string): Promise<Ledger> => Ledger.open(store, () => 0, node)
  const [one, other] = [await open('worker-1'), await open('worker-2')] as const
  const wide = poolFrom('net', ['10.0.0.0/16']).rangeSets[0]?.[0]?.usable[0]
  if (!wide) throw new Error('no run')
  const stripe = (ledger: Ledger): bigint | undefined => {
    const address = ledger.lowestFree('default', 4, wide)
    return address && blockOf(address.value)
  }
  const take = async (ledger: Ledger, node: string): Promise<string> => {
    const address = formatAddress(ledger.lowestFree('default', 4, wide) ?? { family: 4, value: 0n })
    const write = putLease(lease(address, 1, { node }), null)
    await ledger.commit([write])
    for (const adopt of heard) adopt({ kind: 'lease', key: write.key, text: JSON.stringify(write.record) })
    return address
  }
  t.not(stripe(one), stripe(other))
  const before = stripe(one)
  const first = await take(one, 'worker-1')
  t.equal(stripe(one), before, 'goes on in the stripe that is its own')
  for (const adopt of heard) {
    const write = putLease(lease(first, 2, { node: 'worker-2' }), 1)
    adopt({ kind: 'lease', key: write.key, text: JSON.stringify(write.record) })
  }
  t.not(stripe(one), before, 'leaves it when it is another node that has an address there')
  for (const adopt of heard)
    adopt({ kind: 'lease', key: leaseKey({ segment: 'default', address: first }), text: null })
  t.equal(stripe(one), before, 'comes back when that has gone')
  // Somebody else has something in every stripe that it would look at.
  const crowd = Array.from({ length: 1_024 }, (_, index) =>
    putLease(lease(`10.0.${index >> 2}.${((index & 3) << 6) + 20}`, 1, { node: 'worker-2' }), null),
  )
  for (const { kind, key, record } of crowd)
    for (const adopt of heard) adopt({ kind, key, text: JSON.stringify(record) })
  const own = '10.0.77.7'
  const write = putLease(lease(own, 1, { node: 'worker-1' }), null)
  const lowest = (): string => formatAddress(one.lowestFree('default', 4, wide) ?? { family: 4, value: 0n })
  await one.commit([write])
  await one.commit([{ kind: 'lease', key: write.key, expect: 1, record: null }])
  t.equal(lowest(), own, 'goes back to what it had')
  await one.commit([putLease(lease(own, 1, { node: 'worker-2' }), null)])
  t.not(lowest(), own)
  const rested = ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5'].map(address =>
    putLease(lease(address, 1, { state: 'cooling', attachment: null, until: 1000 }), null),
  )
  await one.commit(rested)
  const order = Array.from(one.restingToReuse('net'), ({ address }) => address)
  t.strictSame(
    [...new Set(order)].sort(),
    Array.from(one.resting('net'), ({ address }) => address),
  )
  t.not(order.slice(0, 4).join(), [...order].sort().slice(0, 4).join(), 'its own order first')
})

t.test('leases of a store that nodes share are counted as those of a store of its own', async t => {
  const memory = new MemoryStore()
  let adopt: (news: StoreNews) => void = () => undefined
  const shared: SharedAspect = {
    follow: tell => (adopt = tell),
    status: () => ({ state: 'ready', owed: 0 }),
    isHeard: () => true,
    takenAtStart: () => [],
    lastContactAge: () => 0,
    ignores: [],
  }
  const store = Object.assign(memory, { shared })
  const container = { kind: 'container', network: 'net', containerId: 'c2', ifname: 'eth0' } as const
  await store.commit([
    putLease(lease('10.0.0.2'), null),
    putLease(lease('10.0.0.3', 1, { holder: container, named: false }), null),
    putLease(lease('10.0.1.2', 1, { segment: 'other "one"' }), null),
    putLease(lease('10.0.2.2'), null),
  ])
  const ledger = await Ledger.open(store, () => 0, 'n1')
  const [set = []] = poolFrom('net', ['10.0.0.0/23']).rangeSets
  const counted = (segment = 'default'): string[] =>
    Array.from(
      ledger.leasesWithin(segment, set),
      ({ address, state, named, until, namespace }) =>
        `${address} ${state} ${named ? 'named' : 'chosen'} ${namespace} ${until}`,
    ).sort()
  t.strictSame(counted(), ['10.0.0.2 bound named shop null', '10.0.0.3 bound chosen null null'])
  t.strictSame(counted('other "one"'), ['10.0.1.2 bound named shop null'])
  t.strictSame(counted('other'), [])
  t.equal([...ledger.leaseOutlines()].length, 4)
  const cooling = lease('10.0.0.2', 2, { state: 'cooling', attachment: null, until: 7, node: 'n2' })
  await store.commit([putLease(cooling, 1)])
  adopt({ kind: 'lease', key: leaseKey(cooling), text: JSON.stringify(cooling) })
  adopt({ kind: 'lease', key: leaseKey({ segment: 'default', address: '10.0.0.3' }), text: null })
  t.strictSame(counted(), ['10.0.0.2 cooling named shop 7'])
  t.strictSame(ledger.lease(two), cooling)
  await ledger.commit([putLease(lease('10.0.0.2', 3), 2)])
  t.strictSame(counted(), ['10.0.0.2 bound named shop null'])
  t.equal(ledger.lease(two)?.generation, 3)
})

t.test('a ledger that is opened again is the same', async t => {
  const store = new MemoryStore()
  const first = await Ledger.open(store)
  await first.commit([
    putLease(lease('10.0.0.2'), null),
    putLease(lease('10.0.0.3', 1, { state: 'held', attachment: null, until: 50 }), null),
    {
      kind: 'pool',
      key: 'net',
      expect: null,
      record: { generation: 1, name: 'net', segment: 'default', ranges: [] },
    },
  ])
  const second = await Ledger.open(store)
  t.strictSame([...second.leases()], [...first.leases()])
  t.strictSame([...second.pools()], [...first.pools()])
  t.strictSame(second.counts(), first.counts())
  t.equal(lowest(second), 4)
  t.equal(second.nextExpiry(), 50)
})

t.test('a record that no version of ipkeeper writes stops the start, and is named', async t => {
  const store = new MemoryStore()
  await store.commit([putLease(lease('10.0.0.999'), null)])
  t.match(await thrownProblem(() => Ledger.open(store)), {
    code: 'IPK_STORE_DAMAGED',
    message: /: lease \["default","10\.0\.0\.999"\] is not as ipkeeper writes it$/,
  })
})

t.test('whether the store takes changes: asked only after a refusal, and not too often', async t => {
  const store = new FragileStore()
  const ledger = await Ledger.open(store)
  let generation = 0
  const change = async (): Promise<string> => {
    try {
      await ledger.commit([putLease(lease('10.0.0.2', generation + 1), generation === 0 ? null : generation)])
      generation++
      return 'taken'
    } catch (error) {
      return (error as Problem).code
    }
  }
  const check = async (now: number): Promise<string> => {
    try {
      await ledger.checkStore(now)
      return 'well'
    } catch (error) {
      return (error as Problem).message
    }
  }
  const start = 1_700_000_000_000
  t.equal(await check(start), 'well')
  t.equal(await change(), 'taken')
  t.equal(await check(start), 'well')
  t.equal(store.probes, 0, 'nothing is written while all is well')

  store.fails = () => true
  t.equal(await check(start), 'well', 'nobody knows yet')
  t.equal(await change(), 'IPK_STORE_FAILED')
  for (const [at, probes] of [
    [0, 1],
    [1, 1],
    [4_999, 1],
    [5_000, 2],
    [5_001, 2],
    [10_000, 3],
  ] as const) {
    t.equal(await check(start + at), 'disk full', String(at))
    t.equal(store.probes, probes, `${at}: ${probes} probes`)
  }
  t.equal(await change(), 'IPK_STORE_FAILED', 'another refusal')
  t.equal(await check(start + 11_000), 'disk full')
  t.equal(store.probes, 3, 'is no reason to ask sooner')

  store.fails = () => false
  t.equal(await check(start + 11_000), 'disk full', 'not asked again yet')
  t.equal(await check(start + 15_000), 'well')
  t.equal(store.probes, 4)
  t.equal(await check(start + 60_000), 'well')
  t.equal(store.probes, 4, 'and no more')

  store.fails = () => true
  t.equal(await change(), 'IPK_STORE_FAILED')
  store.fails = () => false
  t.equal(await change(), 'taken')
  t.equal(await check(start + 120_000), 'well')
  t.equal(store.probes, 4, 'a change that was taken says as much')
})

t.test('a conflict says nothing of the store; a store that cannot be read does', async t => {
  const store = new FragileStore()
  const ledger = await Ledger.open(store)
  await thrownProblem(() => ledger.commit([putLease(lease('10.0.0.2', 3), 2)]))
  await ledger.checkStore(0)
  t.equal(store.probes, 0)
  const read = store.read.bind(store)
  store.fails = () => true
  store.read = () => Promise.reject(new Problem('IPK_STORE_FAILED', 'no disk'))
  await thrownProblem(() => ledger.commit([putLease(lease('10.0.0.2'), null)]))
  store.fails = () => false
  t.equal((await thrownProblem(() => ledger.checkStore(10_000))).message, 'no disk')
  store.read = read
  await ledger.checkStore(20_000)
  t.equal(store.probes, 2)
})

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
