import type { RangeSetUsage } from '../ipam/pools/usage.ts'
import { otherValue, poolLimit, rangeSetLimit } from './metric-table.ts'
import type { Sample } from './metric-registry.ts'
import { exhaustionTerms, secondsToExhaustion, withOccupancy, type Occupancy } from './time-to-exhaustion.ts'

/** Figures of one range set; of all that are beyond the limits, one of each family. */
export interface RangeSetFigures {
  readonly labels: {
    readonly pool: string
    readonly segment: string
    readonly set: string
    readonly family: string
  }
  readonly capacity: number
  readonly used: number
  readonly held: number
  readonly cooling: number
  readonly free: number
}

/** The first pools by name as they are, and the rest as one. */
export function poolFigures(
  rangeSets: readonly RangeSetUsage[],
  limit: number = poolLimit,
): readonly RangeSetFigures[] {
  const shown = new Set([...new Set(rangeSets.map(({ pool }) => pool))].slice(0, limit))
  const figures = new Map<string, RangeSetFigures>()
  for (const usage of rangeSets) {
    const { pool, segment, rangeSet } = usage
    const named =
      shown.has(pool) && rangeSet < rangeSetLimit
        ? { pool, segment, set: String(rangeSet) }
        : { pool: otherValue, segment: otherValue, set: otherValue }
    const labels = { ...named, family: `ipv${usage.family}` }
    const key = Object.values(labels).join(' ')
    const { capacity = 0, used = 0, held = 0, cooling = 0, free = 0 } = figures.get(key) ?? {}
    figures.set(key, {
      labels,
      // One that is being emptied is not full.
      capacity: capacity + (usage.drains ? 0 : Number(usage.capacity)),
      used: used + Number(usage.used),
      held: held + Number(usage.held),
      cooling: cooling + Number(usage.cooling),
      free: free + Number(usage.free),
    })
  }
  return [...figures.values()]
}

/** Remembers how full pools were when they were looked at; nothing runs in between. */
export class ExhaustionWatch {
  #past = new Map<string, readonly Occupancy[]>()

  /** @param at seconds of a clock that nobody sets */
  look(pools: readonly RangeSetFigures[], at: number): readonly Sample[] {
    const past = new Map<string, readonly Occupancy[]>()
    const samples = pools.map(({ labels, used, held, free }) => {
      const key = Object.values(labels).join(' ')
      const present = { at, occupied: used + held }
      const known = withOccupancy(this.#past.get(key) ?? [], present, exhaustionTerms)
      past.set(key, known)
      return { labels, value: secondsToExhaustion(known, present, free, exhaustionTerms) }
    })
    // Pools that are gone are forgotten.
    this.#past = past
    return samples
  }
}
