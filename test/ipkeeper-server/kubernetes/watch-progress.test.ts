import t from 'tap'
import {
  afterOutcome,
  backoff,
  beginning,
  jittered,
  type PhaseOutcome,
  type WatchProgress,
} from '../../../ipkeeper-server/kubernetes/watch-progress.ts'

const watch = (resourceVersion: string, failures = 0, stuck = 0): WatchProgress => ({
  phase: { next: 'watch', resourceVersion },
  failures,
  stuck,
})
const list = (from: 'cache' | 'store', failures = 0): WatchProgress => ({
  phase: { next: 'list', from },
  failures,
  stuck: 0,
})
const failed = (
  status: number | undefined,
  resourceVersion: string | undefined,
  rest: { proved?: boolean; retryAfter?: number } = {},
): PhaseOutcome => ({
  kind: 'failed',
  status,
  resourceVersion,
  proved: rest.proved ?? false,
  retryAfter: rest.retryAfter,
})

t.test('what follows what', t => {
  for (const [what, before, outcome, after, pause] of [
    ['a list', beginning('cache'), { kind: 'listed', resourceVersion: '7' }, watch('7'), 0],
    [
      'a list after failures: they are not forgotten yet',
      list('store', 3),
      { kind: 'listed', resourceVersion: '7' },
      watch('7', 3),
      0,
    ],
    ['a list that fails', list('cache'), failed(500, undefined), list('cache', 1), 200],
    ['a list that fails again', list('store', 1), failed(undefined, undefined), list('store', 2), 400],
    [
      'a list whose continue token has expired',
      list('store'),
      { kind: 'expired', proved: false },
      list('store', 1),
      0,
    ],
    [
      'a watch that ended in time',
      watch('7', 4, 1),
      { kind: 'ended', resourceVersion: '9', proved: true },
      watch('9'),
      0,
    ],
    [
      'a watch that ended at once and brought nothing',
      watch('7'),
      { kind: 'ended', resourceVersion: '7', proved: false },
      watch('7', 1),
      200,
    ],
    ['a silent one', watch('7', 2), { kind: 'silent', resourceVersion: '8' }, watch('8'), 0],
    ['an expired one that had worked', watch('7'), { kind: 'expired', proved: true }, list('store', 1), 0],
    [
      'one that expires at once, again',
      watch('7', 1),
      { kind: 'expired', proved: false },
      list('store', 2),
      200,
    ],
    ['a cut connection', watch('7'), failed(undefined, '8', { proved: true }), watch('8', 1), 200],
    ['a server that is away', watch('7', 5), failed(undefined, '7'), watch('7', 6), 6400],
    ['a server that is away for long', watch('7', 50), failed(undefined, '7'), watch('7', 51), 30_000],
    [
      'too many requests: at least as long as asked, whatever the jitter',
      watch('7'),
      failed(429, '7', { retryAfter: 5000 }),
      watch('7', 1),
      10_000,
    ],
    [
      'a server that asks for a day is asked again after minutes',
      watch('7'),
      failed(503, '7', { retryAfter: 86_400_000 }),
      watch('7', 1),
      600_000,
    ],
    [
      'no right to watch: the version is not at fault',
      watch('7', 9, 2),
      failed(403, '7'),
      watch('7', 10),
      30_000,
    ],
    ['no valid token', watch('7', 0, 2), failed(401, '7'), watch('7', 1), 200],
    ['garbled', watch('7'), { kind: 'garbled', resourceVersion: '8', proved: true }, watch('8', 1, 1), 200],
    [
      'garbled again where it was',
      watch('8', 1, 1),
      { kind: 'garbled', resourceVersion: '8', proved: false },
      watch('8', 2, 2),
      400,
    ],
    [
      'garbled a third time: everything anew',
      watch('8', 2, 2),
      { kind: 'garbled', resourceVersion: '8', proved: false },
      list('store', 3),
      800,
    ],
    ['a version that is refused', watch('8', 2, 2), failed(400, '8'), list('store', 3), 800],
    [
      'a lack that one can live with is asked about ever more seldom',
      list('store', 12),
      {
        kind: 'failed',
        status: 404,
        retryAfter: undefined,
        resourceVersion: undefined,
        proved: false,
        canWait: true,
      },
      list('store', 13),
      600_000,
    ],
    ['a failure in between is no refusal', watch('8', 2, 2), failed(500, '8'), watch('8', 3, 0), 800],
  ] as const satisfies readonly (readonly [string, WatchProgress, PhaseOutcome, WatchProgress, number])[]) {
    t.strictSame(afterOutcome(before, outcome), { progress: after, pause }, what)
  }
  t.end()
})

t.test('waits grow from 0.2 s to 30 s, and differ from node to node', t => {
  t.strictSame(
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 99].map(failures => backoff(failures)),
    [0, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000],
  )
  for (const [pause, random, expected] of [
    [0, 0.5, 0],
    [200, 0, 200],
    [200, 0.99, 200],
    [30_000, 0, 15_000],
    [30_000, 0.5, 22_500],
    [10_000, 0, 5_000],
  ] as const) {
    t.equal(jittered(pause, random), expected, `${pause} with ${random}`)
  }
  t.end()
})
