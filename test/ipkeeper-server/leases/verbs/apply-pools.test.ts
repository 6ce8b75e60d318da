import { join } from 'node:path'
import t from 'tap'
import { applyPools } from '../../../../ipkeeper-server/leases/verbs/apply-pools.ts'
import { EngineDouble } from '../../../rigs/engine-double.ts'
import { until } from '../../../rigs/poll.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { openSharedLeases } from '../../../rigs/shared-store.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { configured } from '../story.ts'
import { TestService } from '../test-service.ts'

const prod = (subnet: string) => configured('prod', [[subnet]])

t.test('pools are put in force in the turn in which they are decided', async t => {
  const story = await TestService.open()
  await applyPools(story.service, [prod('10.30.0.0/24')], () => undefined)
  story.book = { ...story.book, pools: [prod('10.30.0.0/24')] }
  const smaller = [prod('10.30.0.0/29')]
  const applying = applyPools(story.service, smaller, () => {
    story.book = { ...story.book, pools: smaller }
  })
  // Asked for while the change is on its way to the store.
  const asked = story.add({ pod: 'web-0', container: 'c1', configured: ['prod'], ip: '10.30.0.99' })
  await applying
  t.equal(await asked, 'IPK_ADDRESS_OUTSIDE')
  t.strictSame(story.leases(), [])
})

t.test('pools that would leave an address in use outside change nothing', async t => {
  const story = await TestService.open()
  await applyPools(story.service, [prod('10.30.0.0/24')], () => undefined)
  story.book = { ...story.book, pools: [prod('10.30.0.0/24')] }
  t.equal(
    await story.add({ pod: 'web-0', container: 'c1', configured: ['prod'], ip: '10.30.0.99' }),
    '10.30.0.99',
  )
  let decided = false
  const problem = await thrownProblem(() =>
    applyPools(story.service, [prod('10.30.0.0/29')], () => {
      decided = true
    }),
  )
  t.match(problem, { code: 'IPK_POOLS_ORPHAN', message: /prod/ })
  t.equal(decided, false)
  t.strictSame(story.leases(), ['10.30.0.99 bound shop/web-0 c1'])
})

t.test('a store that refuses is told', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  store.fails = () => true
  t.match(await thrownProblem(() => applyPools(story.service, [prod('10.30.0.0/24')], () => undefined)), {
    code: 'IPK_STORE_FAILED',
  })
  store.fails = () => false
  t.strictSame([...story.service.ledger.pools()], [])
})

t.test('nodes that share a ledger, with different files', async t => {
  const engine = new EngineDouble()
  const folder = t.testdir({ n1: {}, n2: {} })
  const open = (node: string): Promise<TestService> =>
    openSharedLeases(t, engine.connect(), join(folder, node, 'journal.db'), { node })
  const pools = ({ service }: TestService): readonly string[] =>
    Array.from(service.ledger.pools(), ({ name }) => name).sort()
  const lab = configured('lab', [['10.40.0.0/24']])
  const one = await open('n1')
  await applyPools(one.service, [prod('10.30.0.0/24')], () => undefined)
  one.book = { ...one.book, pools: [prod('10.30.0.0/24')] }
  t.equal(
    await one.add({ pod: 'web-0', container: 'c1', configured: ['prod'], ip: '10.30.0.9' }),
    '10.30.0.9',
  )

  const two = await open('n2')
  t.match(await applyPools(two.service, [lab], () => undefined), { added: ['lab'], removed: [] })
  t.strictSame(pools(two), ['lab', 'prod'], 'in use on the other node')
  await until('the other one hears of it', () => pools(one).length === 2)
  t.match(await applyPools(one.service, [prod('10.30.0.0/24')], () => undefined), { removed: [] })
  t.match(await applyPools(two.service, [], () => undefined, [lab]), { removed: ['lab'] }, 'its own')
  await until('it is gone', () => pools(one).length === 1)
})

t.test('what another node has made of the pool in the store excuses nothing', async t => {
  const engine = new EngineDouble()
  const folder = t.testdir({ n1: {}, n2: {} })
  const open = (node: string): Promise<TestService> =>
    openSharedLeases(t, engine.connect(), join(folder, node, 'journal.db'), { node })
  const [one, two] = [await open('n1'), await open('n2')]
  const [whole, smaller] = [[prod('10.30.0.0/24')], [prod('10.30.0.0/29')]]
  await applyPools(one.service, whole, () => undefined)
  one.book = { ...one.book, pools: whole }
  await until('it is heard', () => [...two.service.ledger.pools()].length === 1)
  await applyPools(two.service, smaller, () => undefined, whole)
  const asked = { pod: 'web-0', container: 'c1', configured: ['prod'], ip: '10.30.0.99' }
  t.equal(await one.add(asked), '10.30.0.99')
  t.match(await thrownProblem(() => applyPools(one.service, smaller, () => undefined, whole)), {
    code: 'IPK_POOLS_ORPHAN',
    message:
      'pool prod changes to 10.30.0.1-10.30.0.6, which would leave out 1 address in use: 10.30.0.99 (shop/web-0)',
  })
})
