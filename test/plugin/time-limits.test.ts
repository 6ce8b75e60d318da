import t from 'tap'
import { fallbackLimitMs, limitsFor, type DaemonVerb } from '../../plugin/time-limits.ts'

t.test('deadlines of docs/operations/running-by-hand.md', t => {
  const cases: readonly [
    verb: DaemonVerb,
    timeout: number,
    elapsedMs: number,
    totalMs: number,
    reachMs: number,
  ][] = [
    ['ADD', 60, 0, 60_000, 10_000],
    ['ADD', 5, 0, 5_000, 5_000],
    ['ADD', 300, 0, 300_000, 10_000],
    ['ADD', 60, 55_000, 5_000, 5_000],
    ['ADD', 1, 2_000, 0, 0],
    ['CHECK', 60, 0, 10_000, 10_000],
    ['CHECK', 3, 0, 3_000, 3_000],
    ['DEL', 60, 0, 10_000, 0],
    ['DEL', 1, 0, 1_000, 0],
    ['GC', 60, 0, 15_000, 5_000],
    ['GC', 1, 0, 15_000, 1_000],
    ['STATUS', 60, 0, 2_000, 0],
  ]
  for (const [verb, timeout, elapsedMs, totalMs, reachMs] of cases) {
    t.same(
      limitsFor(verb, timeout, elapsedMs),
      { totalMs, reachMs },
      `${verb} ${timeout} s, ${elapsedMs} ms gone`,
    )
  }
  t.end()
})

t.test('what a fallback may take of it', t => {
  const cases: readonly [verb: DaemonVerb, timeout: number, elapsedMs: number, ms: number][] = [
    ['ADD', 60, 1_000, 59_000],
    ['ADD', 5, 1_000, 4_000],
    ['CHECK', 60, 1_000, 9_000],
    ['DEL', 60, 10_000, 20_000],
    ['DEL', 1, 1_000, 1_000],
    ['GC', 60, 0, 15_000],
    ['STATUS', 60, 100, 1_900],
    ['STATUS', 60, 2_000, 500],
  ]
  for (const [verb, timeout, elapsedMs, ms] of cases) {
    t.equal(fallbackLimitMs(verb, timeout, elapsedMs), ms, `${verb} ${timeout} s, ${elapsedMs} ms gone`)
  }
  t.end()
})
