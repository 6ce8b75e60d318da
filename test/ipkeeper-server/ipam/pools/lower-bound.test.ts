import t from 'tap'
import { lowerBound } from '../../../../ipkeeper-server/ipam/pools/lower-bound.ts'

const rows: readonly (readonly [sorted: readonly number[], bound: number, place: number])[] = [
  [[], 5, 0],
  [[5], 5, 0],
  [[5], 6, 1],
  [[1, 3, 5, 7], 0, 0],
  [[1, 3, 5, 7], 3, 1],
  [[1, 3, 5, 7], 4, 2],
  [[1, 3, 5, 7], 8, 4],
  [[3, 3, 3], 3, 0],
]
for (const [sorted, bound, place] of rows)
  t.equal(
    lowerBound(sorted, element => element < bound),
    place,
    `${bound} in ${JSON.stringify(sorted)}`,
  )
