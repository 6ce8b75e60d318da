import t from 'tap'
import { measureUsage } from '../../../../ipkeeper-server/leases/queries/measure-usage.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { poolFrom, TestService } from '../test-service.ts'

t.test('pools by name, each range set by itself', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('early', ['10.23.0.0/29'])
  await story.add({ pod: 'c', container: 'c3' })
  await story.del('c3')
  story.pool = poolFrom('net', ['10.22.0.0/29'], ['fd00:22::/64'])
  await story.add({ pod: 'a', container: 'c1' })
  await story.add({ pod: 'b', container: 'c2', retain: 'forever' })
  await story.del('c2')
  await reserve(story.service, { segment: 'default', address: '10.23.0.6', owner: 'shop/x', note: '' })
  const { rangeSets, leases } = await measureUsage(story.service, () => Promise.resolve())
  t.strictSame(
    rangeSets.map(
      ({ pool, rangeSet, family, capacity, used, held, cooling, free }) =>
        `${pool} ${rangeSet} v${family}: ${capacity} = ${used} + ${held} + ${free} (${cooling})`,
    ),
    [
      'early 0 v4: 5 = 0 + 1 + 4 (1)',
      'net 0 v4: 5 = 1 + 1 + 3 (0)',
      `net 1 v6: ${2n ** 64n - 2n} = 1 + 1 + ${2n ** 64n - 4n} (0)`,
    ],
  )
  t.strictSame(leases, { bound: 2, held: 2, cooling: 1 })
})

t.test('gives others their turn, and counts what comes meanwhile no more than once', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/16'])
  for (let index = 0; index < 2_500; index++) await story.add({ pod: `p${index}`, container: `c${index}` })
  let turns = 0
  const { rangeSets } = await measureUsage(story.service, async () => {
    turns++
    await story.add({ pod: `late${turns}`, container: `late${turns}` })
    await story.del(`c${turns}`)
  })
  t.equal(turns, 2)
  const seen = rangeSets.reduce((total, { used, cooling }) => total + used + cooling, 0n)
  t.ok(seen >= 2_500n && seen <= 2_504n, `${seen} of 2,500 to 2,504`)
})
