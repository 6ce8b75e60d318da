import t from 'tap'
import { poolLimit } from '../../../ipkeeper-server/metrics/metric-table.ts'
import { ExhaustionWatch, poolFigures } from '../../../ipkeeper-server/metrics/pool-samples.ts'
import type { PoolUsage } from '../../../ipkeeper-server/ipam/usage-tally.ts'

const pool = (name: string, used: bigint): PoolUsage => ({
  ...{ name, segment: 'default', capacity: 10n, used, held: 1n, cooling: 2n, free: 9n - used },
})

t.test('pools beyond the limit are one', t => {
  const figures = poolFigures([pool('a', 1n), pool('b', 2n), pool('c', 3n)], 1)
  t.strictSame(figures, [
    { labels: { pool: 'a', segment: 'default' }, capacity: 10, used: 1, held: 1, cooling: 2, free: 8 },
    { labels: { pool: 'other', segment: 'other' }, capacity: 20, used: 5, held: 2, cooling: 4, free: 13 },
  ])
  const many = Array.from({ length: poolLimit + 50 }, (_, index) => pool(`p${index}`, 0n))
  t.equal(poolFigures(many).length, poolLimit + 1)
  t.strictSame(
    poolFigures(many.slice(0, poolLimit)).at(-1)?.labels,
    { pool: `p${poolLimit - 1}`, segment: 'default' },
    'as many as there may be',
  )
  t.end()
})

t.test('growth is of a pool, and is forgotten with it', t => {
  const watch = new ExhaustionWatch()
  const look = (at: number, ...pools: readonly PoolUsage[]): readonly number[] =>
    watch.look(poolFigures(pools), at).map(({ value }) => value)
  t.strictSame(look(0, pool('a', 0n), pool('b', 4n)), [Infinity, Infinity])
  t.strictSame(look(600, pool('a', 3n), pool('b', 4n)), [1_200, Infinity])
  t.strictSame(look(660, pool('b', 4n)), [Infinity])
  t.strictSame(look(720, pool('a', 6n), pool('b', 4n)), [Infinity, Infinity], 'a was away')
  t.end()
})
