import t from 'tap'
import { freshnessOf } from '../../../../../ipkeeper-server/http/page/client/freshness.ts'

t.test('what is said of the connection', t => {
  const clockTime = (moment: number): string => `at ${moment}`
  const say = (heardAt: number | undefined, now: number, open = true): string => {
    const { state, text } = freshnessOf({ heardAt, beat: 10_000, open }, now, clockTime)
    return `${state}: ${text}`
  }
  const stale =
    'stale: Stale: no answer from the daemon since at 5. You see the state of that time; retrying.'
  t.equal(say(undefined, 0), 'connecting: Connecting')
  t.equal(say(5, 10_000), 'live: Live')
  t.equal(say(5, 25_000), 'live: Live', 'two beats may be missed')
  t.equal(say(5, 25_006), stale)
  t.equal(say(5, 10, false), stale, 'a connection that is known to be broken')
  t.end()
})
