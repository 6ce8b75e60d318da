import t from 'tap'
import { leaseKey, type LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { commitPlan, mostAttempts } from '../../../../ipkeeper-server/leases/ledger/commit-plan.ts'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import { MemoryStore } from '../../../../ipkeeper-server/store/memory/memory-store.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { lease, putLease } from '../../../rigs/records.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { gate, two } from './small-pool.ts'

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

t.test('what is planned after a refusal sees nothing of what was built on the refused change', async t => {
  const store = new FragileStore()
  const ledger = await Ledger.open(store)
  await ledger.commit([putLease(lease('10.0.0.2'), null)])
  const first = gate(store)
  let turn = 0
  store.fails = () => ++turn === 1
  const cooling = lease('10.0.0.2', 2, { state: 'cooling', attachment: null, until: 0 })
  const seen: (number | undefined)[] = []
  const ended = commitPlan(ledger, () => {
    seen.push(ledger.lease(two)?.generation)
    return { change: [putLease(cooling, 1)] }
  })
  await new Promise(resolve => setImmediate(resolve))
  const expired = ledger.commit([{ kind: 'lease', key: leaseKey(two), expect: 2, record: null }])
  t.equal(ledger.lease(two), undefined, 'its time is over')
  first.open()
  // The store is still about to refuse what was built on it.
  const second = gate(store)
  const refused = await thrownProblem(() => ended)
  t.equal(refused.code, 'IPK_STORE_FAILED')
  t.equal((await thrownProblem(() => expired)).code, 'IPK_STORE_CONFLICT')
  const again = commitPlan(ledger, () => {
    seen.push(ledger.lease(two)?.generation)
    return { change: [putLease(cooling, 1)] }
  })
  await new Promise(resolve => setImmediate(resolve))
  second.open()
  await again
  t.strictSame(seen, [1, 1])
  t.match(await store.read('lease', leaseKey(two)), { generation: 2, state: 'cooling' })
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
