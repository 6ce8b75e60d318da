import fc from 'fast-check'
import t from 'tap'
import { IntervalSet } from '../../../../ipkeeper-server/ipam/pools/interval-set.ts'

t.test('agrees with a plain set', t => {
  const step = fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 30 }))
  t.doesNotThrow(() => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), steps => {
        const intervals = new IntervalSet()
        const plain = new Set<number>()
        for (const [add, value] of steps) {
          if (add) {
            intervals.add(BigInt(value))
            plain.add(value)
          } else {
            intervals.delete(BigInt(value))
            plain.delete(value)
          }
        }
        for (let first = 0; first <= 31; first++) {
          if (intervals.has(BigInt(first)) !== plain.has(first)) return false
          for (const last of [first, first + 3, 31]) {
            const values = Array.from({ length: last - first + 1 }, (_, index) => first + index)
            const gap = values.find(value => !plain.has(value))
            if (
              intervals.firstGap(BigInt(first), BigInt(last)) !==
              (gap === undefined ? undefined : BigInt(gap))
            )
              return false
          }
        }
        return true
      }),
      { numRuns: 500 },
    )
  }, '500 histories')
  t.end()
})

t.test('a /8 and a /48 cost no more than a few intervals', t => {
  const set = new IntervalSet()
  const base = 0xfd000022n << 96n
  for (let index = 0n; index < 1000n; index++) set.add(base + index)
  t.equal(set.firstGap(base, base + (1n << 80n)), base + 1000n)
  set.delete(base + 500n)
  t.equal(set.firstGap(base, base + (1n << 80n)), base + 500n)
  t.end()
})
