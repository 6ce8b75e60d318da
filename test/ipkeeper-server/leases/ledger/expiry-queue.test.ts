import fc from 'fast-check'
import t from 'tap'
import { ExpiryQueue } from '../../../../ipkeeper-server/leases/ledger/expiry-queue.ts'

t.test('agrees with sorting', t => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: fc.integer({ min: 0, max: 40 }) }) },
    { weight: 1, arbitrary: fc.record({ takeUntil: fc.integer({ min: 0, max: 40 }) }) },
  )
  const run = (steps: readonly ({ add: number } | { takeUntil: number })[]): boolean => {
    const queue = new ExpiryQueue()
    let plain: { key: string; until: number }[] = []
    for (const [index, now] of steps.entries()) {
      if ('add' in now) {
        queue.add(`k${index}`, now.add)
        plain.push({ key: `k${index}`, until: now.add })
      } else {
        const seen = [...queue.upTo(now.takeUntil)]
        const taken = queue.takeUntil(now.takeUntil)
        const over = plain.filter(entry => entry.until <= now.takeUntil)
        plain = plain.filter(entry => entry.until > now.takeUntil)
        if (taken.some((entry, place) => place > 0 && entry.until < (taken[place - 1]?.until ?? 0)))
          return false
        const keys = (entries: readonly { key: string }[]): string =>
          entries
            .map(entry => entry.key)
            .sort()
            .join()
        if (keys(taken) !== keys(over) || keys(seen) !== keys(over)) return false
      }
      const earliest = plain.length === 0 ? undefined : Math.min(...plain.map(entry => entry.until))
      if (queue.next() !== earliest) return false
    }
    return queue.takeUntil(Infinity).length === plain.length && queue.next() === undefined
  }
  t.doesNotThrow(() => {
    fc.assert(fc.property(fc.array(step, { maxLength: 100 }), run), { numRuns: 1000 })
  }, '1000 histories')
  t.end()
})

t.test('an empty queue', t => {
  const queue = new ExpiryQueue()
  t.equal(queue.next(), undefined)
  t.strictSame(queue.takeUntil(Infinity), [])
  t.strictSame([...queue.upTo(Infinity)], [])
  t.end()
})
