import fc from 'fast-check'
import t from 'tap'
import { KeyIndex } from '../../../../ipkeeper-server/leases/ledger/key-index.ts'

t.test('agrees with a map of sets', t => {
  const step = fc.tuple(fc.boolean(), fc.constantFrom('p', 'q'), fc.constantFrom('a', 'b', 'c'))
  t.doesNotThrow(() => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), steps => {
        const index = new KeyIndex()
        const plain = new Map<string, Set<string>>([
          ['p', new Set()],
          ['q', new Set()],
        ])
        for (const [add, property, key] of steps) {
          if (add) index.add(property, key)
          else index.delete(property, key)
          if (add) plain.get(property)?.add(key)
          else plain.get(property)?.delete(key)
        }
        return [...plain].every(
          ([property, keys]) => [...index.get(property)].sort().join() === [...keys].sort().join(),
        )
      }),
      { numRuns: 500 },
    )
  }, '500 histories')
  t.end()
})
