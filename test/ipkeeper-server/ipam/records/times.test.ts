import t from 'tap'
import {
  ageOf,
  isAhead,
  setBy,
  withinSpan,
  formatTime,
} from '../../../../ipkeeper-server/ipam/records/times.ts'
import type { LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { lease } from '../../../rigs/records.ts'

const now = 1_000_000

const cooling = (since: number, until: number | null): LeaseRecord =>
  lease('10.22.0.2', 1, { state: 'cooling', attachment: null, since, until })

t.test('no end lies further away than the whole time from now on', t => {
  const rows: readonly [since: number, until: number | null, expected: readonly [number, number | null]][] = [
    [now - 10, now + 50, [now - 10, now + 50]],
    [now, now + 60, [now, now + 60]],
    [now + 1000, now + 1060, [now + 1000, now + 1060]],
    [now + 1001, now + 1061, [now, now + 60]],
    [now + 1e9, now + 1e9 + 60, [now, now + 60]],
    [now + 1e9, now - 5, [now, now]],
    [now + 1e9, null, [now + 1e9, null]],
    [now - 1e9, now - 1e9 + 60, [now - 1e9, now - 1e9 + 60]],
  ]
  for (const [since, until, expected] of rows) {
    const kept = withinSpan(cooling(since, until), now)
    t.strictSame([kept.since, kept.until], expected, JSON.stringify([since, until]))
    t.equal(isAhead(cooling(since, until), now), kept.since !== since)
    t.strictSame({ ...kept, since, until }, cooling(since, until), 'and all else is as it was')
  }
  t.end()
})

t.test('a clock that is set moves both ends', t => {
  t.match(setBy(cooling(now - 10, now + 50), -500), { since: now - 510, until: now - 450 })
  const forever = cooling(now, null)
  t.equal(setBy(forever, 500), forever)
  t.end()
})

t.equal(formatTime(0), '1970-01-01T00:00:00Z')
t.equal(formatTime(1_700_000_000_999), '2023-11-14T22:13:20Z')

t.test('how old an attachment is, whatever was done to the clock', t => {
  const clock = { now: 90_000, openedAt: 80_000, bootId: 'boot-2' }
  const rows: readonly (readonly [name: string, attachment: Parameters<typeof ageOf>[0], age: number])[] = [
    ['since its plugin was started', { bootId: 'boot-2', startedAt: 60_000_000 }, 30_000],
    [
      'since it was last answered',
      { bootId: 'boot-2', startedAt: 60_000_000, answeredAt: 70_000_000 },
      20_000,
    ],
    ['of an earlier boot: for all of this one', { bootId: 'boot-1', startedAt: 89_000_000 }, 90_000],
    ['of an older daemon of this boot', { bootId: 'boot-2', startedAt: null }, 10_000],
    ['of a boot that nobody knows', { bootId: null, startedAt: null }, 10_000],
  ]
  for (const [name, attachment, age] of rows) t.equal(ageOf(attachment, clock), age, name)
  t.end()
})
