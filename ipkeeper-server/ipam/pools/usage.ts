import type { AddressBook } from './address-book.ts'
import { capacityOf, usableIn, type Pool, isUsable, type RangeSet } from './pool.ts'
import { isOver, type LeaseKey, type LeaseOutline, type LeaseState } from '../records/records.ts'
import { parseAddress, type Family } from '../../../shared/net/address.ts'
import { RangeIndex } from './range-index.ts'

/** Counts of addresses; used + held + free = capacity. `held` are kept, resting by name, or reserved without a lease. */
export interface Usage {
  readonly capacity: bigint
  readonly used: bigint
  readonly held: bigint
  readonly free: bigint
  /** When the next kept or resting address becomes free for everybody; null when none does by itself. */
  readonly nextFreeAt: number | null
}

/** The only arithmetic of a pool's usage. Leases outside the pool's present ranges do not count. */
export function usageOf(book: AddressBook, pool: Pool, now: number): Usage {
  const capacity = capacityOf(pool)
  let used = 0n
  let held = 0n
  let nextFreeAt = Infinity
  for (const set of pool.rangeSets) {
    const counted = new Set<string>()
    const usable = (text: string): boolean => usableIn(set, text) !== undefined
    for (const lease of book.leasesWithin(pool.segment, set)) {
      if (!usable(lease.address) || isOver(lease, now)) continue
      if (lease.until !== null && lease.until < nextFreeAt && !book.reservation(lease))
        nextFreeAt = lease.until
      if (lease.state === 'bound') used++
      else if (lease.state === 'held' || lease.named) held++
      else continue
      counted.add(lease.address)
    }
    for (const reservation of book.reservationsWithin(pool.segment, set)) {
      if (usable(reservation.address) && !counted.has(reservation.address)) held++
    }
  }
  return {
    capacity,
    used,
    held,
    free: capacity - used - held,
    nextFreeAt: nextFreeAt === Infinity ? null : nextFreeAt,
  }
}

/** What of sums goes beside each other: the figures of several sets. */
export function sumUsage(sets: readonly Usage[]): Usage {
  const sum = (figure: 'capacity' | 'used' | 'held' | 'free'): bigint =>
    sets.reduce((total, set) => total + set[figure], 0n)
  const next = sets.flatMap(({ nextFreeAt }) => (nextFreeAt === null ? [] : [nextFreeAt]))
  return {
    ...{ capacity: sum('capacity'), used: sum('used'), held: sum('held'), free: sum('free') },
    nextFreeAt: next.length === 0 ? null : Math.min(...next),
  }
}

/** By family, IPv4 first: a family that is full is not seen in a sum with the other one's /64. */
export function byFamily<T extends { readonly family: Family }>(
  sets: readonly T[],
): readonly { readonly family: Family; readonly sets: readonly T[] }[] {
  return ([4, 6] as const)
    .map(family => ({ family, sets: sets.filter(set => set.family === family) }))
    .filter(group => group.sets.length > 0)
}

/**
 * Usage of one range set of a pool, and how many of its free addresses rest: dynamic choice takes those last. By set,
 * since a pod needs an address of each, and one that is full is not seen in a sum with a /64.
 */
export interface RangeSetUsage extends Usage {
  readonly pool: string
  readonly segment: string
  /** Index in the pool. */
  readonly rangeSet: number
  readonly family: Family
  readonly cooling: bigint
}

interface Count extends Pick<RangeSetUsage, 'pool' | 'segment' | 'rangeSet' | 'family' | 'capacity'> {
  used: bigint
  held: bigint
  cooling: bigint
  nextFreeAt: number | null
}

/**
 * Usage of many pools by one walk over all leases, then one over all reservations: with usageOf each pool would walk them
 * all. The rules are those of usageOf. The walk may be done in steps, between which records come and go.
 */
export class UsageTally {
  readonly #now: number
  readonly #counts: readonly Count[]
  readonly #ranges: RangeIndex<Count>
  readonly #states: Record<LeaseState, number> = { bound: 0, held: 0, cooling: 0 }

  /** `now`: milliseconds since the epoch. */
  constructor(pools: readonly Pool[], now: number) {
    this.#now = now
    const placed = pools.flatMap(pool => pool.rangeSets.map((set, rangeSet) => countOf(pool, set, rangeSet)))
    this.#counts = placed.map(({ count }) => count)
    this.#ranges = new RangeIndex(
      placed.flatMap(({ set, count }) => set.map(range => ({ segment: count.segment, range, owner: count }))),
    )
  }

  /** `isReserved`: whether its address is; asked only where it would be the next to come free. */
  lease(
    lease: LeaseKey & Omit<LeaseOutline, 'namespace' | 'aside'>,
    isReserved: () => boolean = () => false,
  ): void {
    if (isOver(lease, this.#now)) return
    this.#states[lease.state]++
    const count = this.#countAt(lease)
    if (!count) return
    const next = count.nextFreeAt ?? Infinity
    if (lease.until !== null && lease.until < next && !isReserved()) count.nextFreeAt = lease.until
    if (lease.state === 'bound') count.used++
    else if (lease.state === 'held' || lease.named) count.held++
    else count.cooling++
  }

  /** `lease`: the one of its address, if there is one. */
  reservation(key: LeaseKey, lease: Omit<LeaseOutline, 'namespace' | 'aside'> | undefined): void {
    const count = this.#countAt(key)
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

  /** In the order of the pools. */
  rangeSets(): readonly RangeSetUsage[] {
    return this.#counts.map(count => ({ ...count, free: count.capacity - count.used - count.held }))
  }

  #countAt(key: LeaseKey): Count | undefined {
    const address = parseAddress(key.address)
    const place = address && this.#ranges.around(key.segment, address)
    return place && isUsable(place.range, address) ? place.owner : undefined
  }
}

function countOf(
  { name, segment }: Pool,
  set: RangeSet,
  rangeSet: number,
): { readonly set: RangeSet; readonly count: Count } {
  const capacity = capacityOf({ name, segment, rangeSets: [set] })
  const family = set[0]?.family ?? 4
  const none = { used: 0n, held: 0n, cooling: 0n, nextFreeAt: null }
  return { set, count: { pool: name, segment, rangeSet, family, capacity, ...none } }
}
