import type { PoolUsage } from '../ipam/usage-tally.ts'
import { otherValue, poolLimit } from './metric-table.ts'
import type { Sample } from './metric-registry.ts'
import { exhaustionTerms, secondsToExhaustion, withOccupancy, type Occupancy } from './time-to-exhaustion.ts'

/** Figures of one pool; of all that are beyond the limit together. */
export interface PoolFigures {
  readonly labels: { readonly pool: string; readonly segment: string }
  readonly capacity: number
  readonly used: number
  readonly held: number
  readonly cooling: number
  readonly free: number
}

/** The first pools by name as they are, and the rest as one. */
export function poolFigures(pools: readonly PoolUsage[], limit: number = poolLimit): readonly PoolFigures[] {
  const figures = pools.slice(0, limit).map(({ name, segment, ...counts }) => ({
    labels: { pool: name, segment },
    ...inNumbers(counts),
  }))
  const rest = pools.slice(limit)
  if (rest.length === 0) return figures
  const sum = rest.reduce((total, { capacity, used, held, cooling, free }) => ({
    ...total,
    capacity: total.capacity + capacity,
    used: total.used + used,
    held: total.held + held,
    cooling: total.cooling + cooling,
    free: total.free + free,
  }))
  const labels = { pool: otherValue, segment: otherValue }
  return [...figures, { labels, ...inNumbers(sum) }]
}

function inNumbers({
  capacity,
  used,
  held,
  cooling,
  free,
}: Omit<PoolUsage, 'name' | 'segment'>): Omit<PoolFigures, 'labels'> {
  return {
    capacity: Number(capacity),
    used: Number(used),
    held: Number(held),
    cooling: Number(cooling),
    free: Number(free),
  }
}

/** Remembers how full pools were when they were looked at; nothing runs in between. */
export class ExhaustionWatch {
  #past = new Map<string, readonly Occupancy[]>()

  /** @param at seconds of a clock that nobody sets */
  look(pools: readonly PoolFigures[], at: number): readonly Sample[] {
    const past = new Map<string, readonly Occupancy[]>()
    const samples = pools.map(({ labels, used, held, free }) => {
      const key = `${labels.segment} ${labels.pool}`
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
