import t from 'tap'
import { applyPools } from '../../../ipkeeper-server/leases/apply-pools.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'
import { FragileStore } from '../store/fragile-store.ts'
import { configured } from './story.ts'
import { TestService } from './test-service.ts'

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
