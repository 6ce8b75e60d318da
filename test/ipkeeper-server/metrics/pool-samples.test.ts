import t from 'tap'
import { poolLimit, rangeSetLimit } from '../../../ipkeeper-server/metrics/metric-table.ts'
import { ExhaustionWatch, poolFigures } from '../../../ipkeeper-server/metrics/pool-samples.ts'
import type { RangeSetUsage } from '../../../ipkeeper-server/ipam/pools/usage.ts'

const pool = (name: string, used: bigint, rangeSet = 0): RangeSetUsage => ({
  ...{ pool: name, segment: 'default', rangeSet, family: rangeSet === 1 ? 6 : 4 },
  ...{ capacity: 10n, used, held: 1n, cooling: 2n, free: 9n - used, nextFreeAt: null },
})

t.test('pools beyond the limit are one', t => {
  const labels = (name: string, set: number) => ({
    ...{ pool: name, segment: 'default', set: String(set), family: set === 1 ? 'ipv6' : 'ipv4' },
  })
  const other = (family: string) => ({ pool: 'other', segment: 'other', set: 'other', family })
  t.strictSame(
    poolFigures([pool('a', 1n), pool('a', 9n, 1), pool('b', 2n), pool('b', 4n, 1), pool('c', 3n)], 1),
    [
      { labels: labels('a', 0), capacity: 10, used: 1, held: 1, cooling: 2, free: 8 },
      { labels: labels('a', 1), capacity: 10, used: 9, held: 1, cooling: 2, free: 0 },
      { labels: other('ipv4'), capacity: 20, used: 5, held: 2, cooling: 4, free: 13 },
      { labels: other('ipv6'), capacity: 10, used: 4, held: 1, cooling: 2, free: 5 },
    ],
  )
  const many = Array.from({ length: poolLimit + 50 }, (_, index) => pool(`p${index}`, 0n))
  t.equal(poolFigures(many).length, poolLimit + 1)
  t.strictSame(
    poolFigures(many.slice(0, poolLimit)).at(-1)?.labels,
    labels(`p${poolLimit - 1}`, 0),
    'as many as there may be',
  )
  const sets = Array.from({ length: 20 }, (_, index) => pool('a', 0n, index))
  t.ok(poolFigures(sets).length <= rangeSetLimit + 1, 'nor has a pool sets without end')
  t.end()
})

t.test('growth is of a pool, and is forgotten with it', t => {
  const watch = new ExhaustionWatch()
  const look = (at: number, ...pools: readonly RangeSetUsage[]): readonly number[] =>
    watch.look(poolFigures(pools), at).map(({ value }) => value)
  t.strictSame(look(0, pool('a', 0n), pool('b', 4n)), [Infinity, Infinity])
  t.strictSame(look(600, pool('a', 3n), pool('b', 4n)), [1_200, Infinity])
  t.strictSame(look(660, pool('b', 4n)), [Infinity])
  t.strictSame(look(720, pool('a', 6n), pool('b', 4n)), [Infinity, Infinity], 'a was away')
  t.end()
})
