import fc from 'fast-check'
import t from 'tap'
import type { Range } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { RangeIndex, type PlacedRange } from '../../../../ipkeeper-server/ipam/pools/range-index.ts'

const range = (family: 4 | 6, first: number, last: number): Range =>
  ({ family, first: { family, value: BigInt(first) }, last: { family, value: BigInt(last) } }) as Range

const placed = (
  owner: string,
  first: number,
  last: number,
  segment = 'default',
  family: 4 | 6 = 4,
): PlacedRange<string> => ({ segment, owner, range: range(family, first, last) })

t.test('overlaps', t => {
  const cases: readonly (readonly [name: string, ranges: readonly PlacedRange<string>[], pairs: string[]])[] =
    [
      ['none', [placed('a', 10, 19), placed('b', 20, 29), placed('c', 0, 9)], []],
      ['at one address', [placed('a', 10, 20), placed('b', 20, 29)], ['a b']],
      ['the same', [placed('a', 10, 20), placed('b', 10, 20)], ['a b']],
      ['inside', [placed('a', 10, 20), placed('b', 12, 13), placed('c', 19, 30)], ['a b', 'a c']],
      ['of the other family', [placed('a', 10, 20), placed('b', 10, 20, 'default', 6)], []],
      ['of another segment', [placed('a', 10, 20), placed('b', 10, 20, 'lab')], []],
    ]
  for (const [name, ranges, pairs] of cases) {
    const found = [...new RangeIndex(ranges).overlaps()].map(([a, b]) => `${a.owner} ${b.owner}`)
    t.strictSame(found, pairs, name)
  }
  t.end()
})

t.test('looking up', t => {
  const index = new RangeIndex([
    placed('a', 10, 19),
    placed('b', 30, 39),
    placed('c', 40, 40),
    placed('lab', 0, 99, 'lab'),
    placed('six', 5, 6, 'default', 6),
  ])
  for (const [segment, family, first, last, owner] of [
    ['default', 4, 9, 9, undefined],
    ['default', 4, 10, 10, 'a'],
    ['default', 4, 19, 19, 'a'],
    ['default', 4, 20, 29, undefined],
    ['default', 4, 0, 9, undefined],
    ['default', 4, 0, 10, 'a'],
    ['default', 4, 20, 30, 'b'],
    ['default', 4, 40, 99, 'c'],
    ['default', 4, 41, 99, undefined],
    ['lab', 4, 20, 20, 'lab'],
    ['default', 6, 5, 5, 'six'],
    ['none', 4, 10, 10, undefined],
  ] as const) {
    const run = { first: BigInt(first), last: BigInt(last) }
    t.equal(index.meeting(segment, family, run)?.owner, owner, `${segment} ${family} ${first}-${last}`)
    if (first === last) t.equal(index.around(segment, { family, value: run.first })?.owner, owner)
  }
  t.end()
})

t.test('whether ranges overlap is what comparing each with each says', t => {
  const ranges = fc.array(
    fc.tuple(fc.nat(30), fc.nat(8)).map(([first, size]) => placed('x', first, first + size)),
    { maxLength: 8 },
  )
  fc.assert(
    fc.property(ranges, all => {
      const naive = all.some((a, index) =>
        all
          .slice(index + 1)
          .some(b => a.range.first.value <= b.range.last.value && b.range.first.value <= a.range.last.value),
      )
      return [...new RangeIndex(all).overlaps()].length > 0 === naive
    }),
    { seed: 1 },
  )
  t.end()
})
