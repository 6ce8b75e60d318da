/** The runner of properties: it finds what is false, says how to see it again, and is not content with empty cases. */
import fc from 'fast-check'
import t from 'tap'
import { property, replayCommand } from './property.ts'

const below = (limit: number, shares: Readonly<Record<string, number>> = {}) =>
  property({
    name: 'numbers',
    runs: 500,
    cases: fc.nat(1000),
    check: value => {
      if (value >= limit) throw new Error(`${value} is too much`)
      return value < 100 ? 'small' : 'large'
    },
    shares,
  })

t.test('a property that holds', async t => {
  const { cases, outcomes, failure } = await below(1001, { small: 5, large: 50 }).run({ seed: 1 })
  t.equal(failure, undefined)
  t.equal(cases, 500)
  t.equal((outcomes.get('small') ?? 0) + (outcomes.get('large') ?? 0), 500)
})

t.test('one that does not hold, and its smallest case again', async t => {
  const numbers = below(500)
  const verdict = await numbers.run({ seed: 1 })
  t.match(verdict.failure, /500 is too much/)
  t.match(replayCommand(numbers, 1, verdict), /^FUZZ_SEED=1 FUZZ_ONLY='numbers' FUZZ_PATH=[\d:]+ make fuzz$/)
  const { path } = verdict
  if (path === undefined) throw new Error('no path')
  const again = await numbers.run({ seed: 1, path })
  t.match(again.failure, /500 is too much/)
  const mended = await below(1001).run({ seed: 1, path })
  t.equal(mended.failure, undefined)
})

t.test('one whose cases do not get where they should', async t => {
  const { failure } = await below(1001, { small: 90, tiny: 1 }).run({ seed: 1 })
  t.match(failure, /"small" \d+ of 500, wanted 90 %; "tiny" 0 of 500, wanted 1 %/)
})
