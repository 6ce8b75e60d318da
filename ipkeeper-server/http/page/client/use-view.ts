import type { PoolUse, UseSample } from '../../../../shared/api/pool-use.schema.ts'
import { countText } from './count-text.ts'
import { timeText } from './time-text.ts'

/** How full one family of a pool was, drawn into `width` by `height`; y grows downwards. */
export interface UseChart {
  /** Outline of what pods had and what was kept, and lines of both; in the language of SVG's paths. */
  readonly area: string
  readonly taken: string
  readonly used: string
  /** From now on to the day it is full, or to the edge; undefined where there is none to come. */
  readonly forecast: string | undefined
  /** How many addresses the pool has; undefined where that is far above everything else. */
  readonly size: string | undefined
  /** What the upper edge stands for. */
  readonly top: string
  readonly from: string
  readonly to: string
  /** The same for those who hear the page. */
  readonly says: string
}

export interface UseView {
  readonly family: PoolUse['family']
  readonly title: string
  /** When it is full, or why nobody knows. */
  readonly forecast: string
  readonly fullAt: string | undefined
  readonly isFull: boolean
  /** undefined where there is nothing to draw a line through yet. */
  readonly chart: UseChart | undefined
  /** The same in some figures, the newest first. */
  readonly rows: readonly (readonly [when: string, used: string, held: string])[]
}

export const width = 600
export const height = 160

/** So many figures tell what the lines show. */
const mostRows = 24

interface Point {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly count: number
}

const takenOf = ({ used, held }: UseSample): number => used + held

/** Evenly over the whole time, the last one among them. */
function some<T>(items: readonly T[], most: number): T[] {
  const step = Math.max(1, Math.ceil(items.length / most))
  return items.filter((_, index) => (items.length - 1 - index) % step === 0)
}

/** What drains has nothing free either, but was meant to. */
const fullNow = ({ free, drains }: PoolUse): boolean => BigInt(free) <= 0n && !drains

function forecastText(use: PoolUse): string {
  const { fullAt, says } = use.forecast
  if (use.drains) return 'It is being drained: no new pod gets an address'
  if (fullNow(use)) return 'It is full now'
  return fullAt === null
    ? `Day it is full: ${says}`
    : `Full on ${timeText(fullAt)} at the present rate: ${says}`
}

function chartOf({ samples, capacity, free, forecast }: PoolUse): UseChart | undefined {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || first.at === last.at) return undefined
  const [begin, now] = [Date.parse(first.at), Date.parse(last.at)]
  const size = Number(capacity)
  const fullAt = forecast.fullAt === null || BigInt(free) <= 0n ? undefined : Date.parse(forecast.fullAt)
  // The future gets no more room than the past has.
  const end = fullAt === undefined ? now : Math.min(fullAt, 2 * now - begin)
  const present = takenOf(last)
  const coming = fullAt === undefined ? present : present + ((size - present) * (end - now)) / (fullAt - now)
  const most = Math.max(1, coming, ...samples.map(takenOf))
  // Beside a /64 every line would be flat.
  const isSizeShown = size <= 4 * most
  const top = isSizeShown ? size : most
  const x = (at: number): string => (((at - begin) / (end - begin)) * width).toFixed(1)
  const y = (count: number): string => (height - (Math.min(count, top) / top) * (height - 4)).toFixed(1)
  const line = (points: readonly Point[]): string =>
    points.map(({ at, count }, index) => `${index === 0 ? 'M' : 'L'}${x(at)},${y(count)}`).join('')
  const points = (countOf: (sample: UseSample) => number): Point[] =>
    samples.map(sample => ({ at: Date.parse(sample.at), count: countOf(sample) }))
  const taken = line(points(takenOf))
  return {
    area: `${taken}L${x(now)},${height}L0,${height}Z`,
    taken,
    used: line(points(({ used }) => used)),
    forecast:
      fullAt === undefined
        ? undefined
        : line([
            { at: now, count: present },
            { at: end, count: coming },
          ]),
    size: isSizeShown ? `M0,${y(size)}L${width},${y(size)}` : undefined,
    top: countText(Math.ceil(top)),
    from: timeText(first.at),
    to: timeText(new Date(end).toISOString()),
    says: `Taken: ${countText(takenOf(first))} at ${timeText(first.at)}, ${countText(present)} at ${timeText(last.at)}.`,
  }
}

/** A view for each family of the pool. */
export function useViews(use: readonly PoolUse[], pool: string): UseView[] {
  return use
    .filter(({ name }) => name === pool)
    .map(of => {
      const { family, samples, capacity, forecast } = of
      const isFull = fullNow(of)
      return {
        family,
        title: `${family}, ${countText(capacity)} ${BigInt(capacity) === 1n ? 'address' : 'addresses'}`,
        forecast: forecastText(of),
        fullAt: isFull || forecast.fullAt === null ? undefined : forecast.fullAt,
        isFull,
        chart: chartOf(of),
        rows: some(samples, mostRows)
          .map(({ at, used, held }) => [timeText(at), countText(used), countText(held)] as const)
          .reverse(),
      }
    })
}
