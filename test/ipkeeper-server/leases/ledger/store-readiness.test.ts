import t from 'tap'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { lease, putLease } from '../../../rigs/records.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { FragileStore } from '../../store/fragile-store.ts'

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

for (const code of ['IPK_STORE_AWAY', 'IPK_STORE_INCOMPLETE'] as const)
  t.test(`${code}: some changes are taken`, async t => {
    const store = new FragileStore()
    const ledger = await Ledger.open(store)
    store.commit = () => Promise.reject(new Problem(code, 'not that'))
    await thrownProblem(() => ledger.commit([putLease(lease('10.0.0.2', 1), null)]))
    await ledger.checkStore(0)
    t.equal(store.probes, 0)
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
