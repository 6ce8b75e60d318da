import t from 'tap'
import { leaseKey, type Change } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import type { StoreNews } from '../../../../ipkeeper-server/store/lease-store.ts'
import { MemoryStore } from '../../../../ipkeeper-server/store/memory/memory-store.ts'
import { lease, poolRecord, putLease } from '../../../rigs/records.ts'
import { sharedAspect } from '../../../rigs/shared-aspect.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { poolFrom } from '../test-service.ts'
import { gate, lowest, two } from './small-pool.ts'

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

t.test('what the store takes that built on what it refused is read again', async t => {
  const store = new FragileStore()
  const ledger = await Ledger.open(store)
  await ledger.commit([putLease(lease('10.0.0.2'), null)])
  let refused = 0
  store.fails = () => ++refused <= 2
  // Deleted and given again, it has the generation that it had: the store cannot tell it from what it still has.
  const outcomes = await Promise.allSettled([
    ledger.commit([{ ...putLease(lease('10.0.0.2'), 1), record: null }]),
    ledger.commit([putLease(lease('10.0.0.2'), null)]),
    ledger.commit([putLease(lease('10.0.0.2', 2), 1), putLease(lease('10.0.0.3'), null)]),
  ])
  t.strictSame(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  await store.probe()
  await new Promise(setImmediate)
  for (const [address, generation] of [
    ['10.0.0.2', 2],
    ['10.0.0.3', 1],
  ] as const) {
    t.equal((await store.read('lease', leaseKey({ ...two, address })))?.generation, generation)
    t.equal(ledger.lease({ ...two, address })?.generation, generation, `${address}, without another plan`)
  }
})

t.test('a change from an old generation is refused before the store is asked', async t => {
  const store = new FragileStore()
  const ledger = await Ledger.open(store)
  await ledger.commit([putLease(lease('10.0.0.2'), null)])
  store.delay = () => Promise.reject(new Error('the store was asked'))
  for (const write of [putLease(lease('10.0.0.2'), null), putLease(lease('10.0.0.2', 3), 2)]) {
    const problem = await thrownProblem(() => ledger.commit([write]))
    t.match(problem, { code: 'IPK_STORE_CONFLICT', message: /10\.0\.0\.2.* was changed by another writer/ })
  }
  t.equal(ledger.lease(two)?.generation, 1)
})

t.test('leases of a store that nodes share are counted as those of a store of its own', async t => {
  const memory = new MemoryStore()
  let adopt: (news: StoreNews) => void = () => undefined
  const shared = sharedAspect(tell => (adopt = tell))
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
    { kind: 'pool', key: 'net', expect: null, record: poolRecord('net') },
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
