import { parseAddress } from '../../shared/net/address.ts'
import { capacityOf, isUsable, type Pool } from './pool.ts'
import { RangeIndex } from './range-index.ts'
import { isOver, type LeaseKey, type LeaseRecord, type LeaseState } from './records.ts'
import type { Usage } from './usage.ts'

/** Usage of a pool, and how many of its free addresses rest: dynamic choice takes those last. */
export interface PoolUsage extends Omit<Usage, 'nextFreeAt'> {
  readonly name: string
  readonly segment: string
  readonly cooling: bigint
}

interface Count {
  used: bigint
  held: bigint
  cooling: bigint
}

/**
 * Usage of many pools by one walk over all leases, then one over all reservations: with usageOf each pool would walk them
 * all. The rules are those of usageOf. The walk may be done in steps, between which records come and go.
 */
export class UsageTally {
  readonly #now: number
  readonly #counts: ReadonlyMap<Pool, Count>
  readonly #ranges: RangeIndex<Pool>
  readonly #states: Record<LeaseState, number> = { bound: 0, held: 0, cooling: 0 }

  /** `now`: milliseconds since the epoch. */
  constructor(pools: readonly Pool[], now: number) {
    this.#now = now
    this.#counts = new Map(pools.map(pool => [pool, { used: 0n, held: 0n, cooling: 0n }]))
    this.#ranges = new RangeIndex(
      pools.flatMap(pool =>
        pool.rangeSets.flat().map(range => ({ segment: pool.segment, range, owner: pool })),
      ),
    )
  }

  lease(lease: LeaseRecord): void {
    if (isOver(lease, this.#now)) return
    this.#states[lease.state]++
    const count = this.#countOf(lease)
    if (!count) return
    if (lease.state === 'bound') count.used++
    else if (lease.state === 'held' || lease.named) count.held++
    else count.cooling++
  }

  /** `lease`: the one of its address, if there is one. */
  reservation(key: LeaseKey, lease: LeaseRecord | undefined): void {
    const count = this.#countOf(key)
    if (!count) return
    const present = lease && !isOver(lease, this.#now) ? lease : undefined
    const rests = present?.state === 'cooling' && !present.named
    if (rests) count.cooling--
    if (!present || rests) count.held++
  }

  /** How many leases there are, those outside of every pool too. */
  states(): Readonly<Record<LeaseState, number>> {
    return this.#states
  }

  pools(): readonly PoolUsage[] {
    return Array.from(this.#counts, ([pool, { used, held, cooling }]) => {
      const capacity = capacityOf(pool)
      const { name, segment } = pool
      return { name, segment, capacity, used, held, cooling, free: capacity - used - held }
    })
  }

  #countOf(key: LeaseKey): Count | undefined {
    const address = parseAddress(key.address)
    const place = address && this.#ranges.around(key.segment, address)
    return place && isUsable(place.range, address) ? this.#counts.get(place.owner) : undefined
  }
}
