import t from 'tap'
import { forecastFull, type MeasuredUse } from '../../../../ipkeeper-server/ipam/pools/forecast-full.ts'

const [hour, day] = [3_600_000, 86_400_000]
const now = 100 * day

/** So many addresses in use, so many hours ago; the oldest first. */
const uses = (...rows: readonly (readonly [hoursAgo: number, used: number])[]): MeasuredUse[] =>
  rows.map(([hoursAgo, used]) => ({ at: now - hoursAgo * hour, used, held: 0 }))

/** Ten more a day, over four days. */
const hourly = uses(
  ...Array.from({ length: 97 }, (_, hour) => [96 - hour, Math.floor((hour * 10) / 24)] as const),
)

t.test('when a pool is full, and why that is not known', t => {
  const table: readonly [
    why: string,
    samples: readonly MeasuredUse[],
    free: bigint,
    inDays: number | null,
    says: string,
  ][] = [
    ['full', uses([0, 254]), 0n, 0, 'it is full'],
    ['ranges shrank under it', uses([0, 254]), -3n, 0, 'it is full'],
    ['nothing is known', uses([0, 9]), 10n, null, 'not known yet: 1 sample over 0s; it takes 4 over 1h'],
    [
      'a daemon that has just started',
      uses([0.5, 0], [0.4, 5], [0.3, 10], [0.2, 15], [0, 20]),
      10n,
      null,
      'not known yet: 5 samples over 30m; it takes 4 over 1h',
    ],
    [
      'samples far from each other',
      uses([48, 0], [0, 20]),
      10n,
      null,
      'not known yet: 2 samples over 2d; it takes 4 over 1h',
    ],
    ['steady', uses([72, 5], [48, 5], [24, 5], [0, 5]), 9n, null, 'it did not grow in the last 3d'],
    ['it shrinks', uses([72, 8], [48, 7], [24, 6], [0, 5]), 9n, null, 'it did not grow in the last 3d'],
    [
      'ten a day',
      uses([72, 0], [48, 10], [24, 20], [0, 30]),
      50n,
      5,
      'it grew by 10 addresses a day in the last 3d',
    ],
    [
      'one busy hour does not decide',
      hourly.map((sample, hour) => (hour === 95 ? { ...sample, used: 90 } : sample)),
      50n,
      5,
      'it grew by 11 addresses a day in the last 4d',
    ],
    [
      'what was before this week is past',
      uses([400, 900], [300, 900], [72, 0], [48, 10], [24, 20], [0, 30]),
      50n,
      5,
      'it grew by 10 addresses a day in the last 3d',
    ],
    [
      'a clock that ran ahead has left samples',
      uses([72, 0], [48, 10], [24, 20], [0, 30], [-24, 900]),
      50n,
      5,
      'it grew by 10 addresses a day in the last 3d',
    ],
    [
      'a /64',
      uses([72, 0], [48, 10], [24, 20], [0, 30]),
      2n ** 64n,
      null,
      'not within a year: it grew by 10 addresses a day in the last 3d',
    ],
  ]
  for (const [why, samples, free, inDays, says] of table) {
    const forecast = forecastFull(samples, free, now)
    t.equal(forecast.says, says, why)
    const days = forecast.fullAt === null ? null : Math.round((forecast.fullAt - now) / day)
    t.equal(days, inDays, why)
  }
  t.end()
})

t.test('what is kept or reserved is in use as well', t => {
  const samples = uses([72, 0], [48, 0], [24, 0], [0, 0]).map((sample, held) => ({ ...sample, held }))
  t.equal(forecastFull(samples, 2n, now).fullAt, now + 2 * day)
  t.end()
})
