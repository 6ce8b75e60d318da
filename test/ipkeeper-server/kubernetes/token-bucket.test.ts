import t from 'tap'
import { TokenBucket } from '../../../ipkeeper-server/kubernetes/token-bucket.ts'

t.test('a burst, then so many per second', t => {
  const bucket = new TokenBucket(5, 3)
  for (const [now, expected] of [
    [1000, 0],
    [1000, 0],
    [1000, 0],
    [1000, 200],
    [1100, 100],
    [1200, 0],
    [1200, 200],
    [1199, 200],
    [60_000, 0],
    [60_000, 0],
    [60_000, 0],
    [60_000, 200],
  ] as const) {
    t.equal(bucket.take(now), expected, `at ${now}`)
  }
  t.end()
})
