import t from 'tap'
import { measureUsage } from '../../../../ipkeeper-server/leases/queries/measure-usage.ts'
import { listPoolUse, poolsInUse } from '../../../../ipkeeper-server/leases/queries/pool-use.ts'
import type { LeaseService } from '../../../../ipkeeper-server/leases/verbs/service.ts'
import { poolFrom, TestService } from '../test-service.ts'

const noTurn = (): Promise<void> => Promise.resolve()
const day = 86_400_000

/** A pool with two range sets of one family, the second smaller, and one of the other. Two pods, one of them gone and kept. */
async function poolInUse() {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/24'], ['10.23.0.0/29'], ['fd00:22::/120'])
  await story.add({ pod: 'a', container: 'c1' })
  await story.add({ pod: 'b', container: 'c2', retain: 'forever' })
  await story.del('c2')
  return story
}

t.test('a sample of each family of a pool', async t => {
  const { service } = await poolInUse()
  const { rangeSets } = await measureUsage(service, noTurn)
  t.strictSame(poolsInUse(rangeSets), [
    { name: 'net', family: 4, used: 2n, held: 2n },
    { name: 'net', family: 6, used: 1n, held: 1n },
  ])
  t.strictSame(poolsInUse([]), [])
})

t.test('how full a pool was, and when it is full: as soon as its fullest range set', async t => {
  const story = await poolInUse()
  const at = (daysAgo: number): number => story.now - daysAgo * day
  const useSamples: NonNullable<LeaseService['useSamples']> = ({ name, family }) =>
    name === 'net' && family === 4
      ? [
          { at: at(3), used: 1, held: 0 },
          { at: at(2), used: 2, held: 0 },
          { at: at(1), used: 3, held: 0 },
          // Of before the clock was set back.
          { at: at(-1), used: 99, held: 0 },
        ]
      : []
  const iso = (daysAgo: number): string => new Date(at(daysAgo)).toISOString()
  t.match(await listPoolUse({ ...story.service, useSamples }, noTurn), [
    {
      ...{ name: 'net', segment: 'default', family: 'IPv4', capacity: 258, free: 254 },
      samples: [
        { at: iso(3), used: 1, held: 0 },
        { at: iso(2), used: 2, held: 0 },
        { at: iso(1), used: 3, held: 0 },
        { at: iso(0), used: 2, held: 2 },
      ],
      // The second set has 3 addresses left: 6 with those that the first one gives beside them.
      forecast: { fullAt: iso(-6), says: 'it grew by 1 address a day in the last 3d' },
    },
    {
      ...{ name: 'net', segment: 'default', family: 'IPv6' },
      samples: [{ at: iso(0), used: 1, held: 1 }],
      forecast: { fullAt: null, says: /^not known yet: 1 sample over 0s/ },
    },
  ])
  const [without] = await listPoolUse(story.service, noTurn)
  t.equal(without?.samples.length, 1, 'where nobody keeps samples')
})
