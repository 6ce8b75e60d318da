import { formatDuration } from '../../../shared/text/duration.ts'

/** How full one family of a pool is. */
export interface PoolUseNow {
  readonly name: string
  readonly family: 4 | 6
  readonly used: bigint
  readonly held: bigint
}

/** How many addresses of one family of a pool were in use at a moment. */
export interface MeasuredUse {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly used: number
  readonly held: number
}

export interface FullForecast {
  /** Milliseconds since the epoch; null where it is not known, or never. */
  readonly fullAt: number | null
  /** The same in words, with the reason. */
  readonly says: string
}

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

/** What was longer ago says little of tomorrow. */
const window = 7 * day

/** Of less the first pods after a start would look like a flood. */
const leastSpan = hour
const leastSamples = 4

/** A rate of a week says nothing of later. */
const farthest = 365 * day

/**
 * When a pool with so many free addresses is full, if it goes on growing as in these samples: a straight line through them
 * by least squares, so that one busy hour does not decide.
 *
 * @param samples the oldest first, of any clock that may have been set meanwhile
 * @param now milliseconds since the epoch
 */
export function forecastFull(samples: readonly MeasuredUse[], free: bigint, now: number): FullForecast {
  if (free <= 0n) return { fullAt: now, says: 'it is full' }
  const seen = samples.filter(({ at }) => at <= now && at > now - window)
  const span = now - (seen[0]?.at ?? now)
  if (seen.length < leastSamples || span < leastSpan) return { fullAt: null, says: tooFew(seen.length, span) }
  const over = formatSpan(span)
  const growth = slope(seen)
  if (growth <= 0) return { fullAt: null, says: `it did not grow in the last ${over}` }
  const left = Number(free) / growth
  const perDay = `by ${perDayText(growth)} a day in the last ${over}`
  if (left > farthest) return { fullAt: null, says: `not within a year: it grew ${perDay}` }
  return { fullAt: Math.round(now + left), says: `it grew ${perDay}` }
}

function perDayText(growth: number): string {
  const addresses = Number((growth * day).toPrecision(2))
  return `${addresses} ${addresses === 1 ? 'address' : 'addresses'}`
}

const tooFew = (known: number, span: number): string =>
  `not known yet: ${known} ${known === 1 ? 'sample' : 'samples'} over ${formatSpan(span)}; ` +
  `it takes ${leastSamples} over ${formatDuration(leastSpan)}`

/** In the largest unit of which there are two. */
function formatSpan(span: number): string {
  const unit = span >= 2 * day ? day : span >= 2 * hour ? hour : minute
  return formatDuration(Math.floor(span / unit) * unit)
}

/** Addresses a millisecond. */
function slope(samples: readonly MeasuredUse[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const points = samples.map(({ at, used, held }) => ({ at, occupied: used + held }))
  const at = mean(points.map(point => point.at))
  const occupied = mean(points.map(point => point.occupied))
  const sum = (term: (point: (typeof points)[number]) => number): number =>
    points.reduce((total, point) => total + term(point), 0)
  const spread = sum(point => (point.at - at) ** 2)
  return spread === 0 ? 0 : sum(point => (point.at - at) * (point.occupied - occupied)) / spread
}
