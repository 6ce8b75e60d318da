import type { AddressBook } from './address-book.ts'
import { capacityOf, usableIn, type Pool, isUsable, type RangeSet } from './pool.ts'
import { isTimeOver, type LeaseKey, type LeaseOutline, type LeaseState } from '../records/records.ts'
import { parseAddress, type Family } from '../../../shared/net/address.ts'
import { RangeIndex, type PlacedRange } from './range-index.ts'

/**
 * Counts of addresses; used + held + free = capacity. `held` are kept, resting by name, or reserved without a lease. Of a range
 * that drains nothing can be given any more: it has the capacity of what is left in it.
 */
export interface Usage {
  readonly capacity: bigint
  readonly used: bigint
  readonly held: bigint
  readonly free: bigint
  /** When the next kept or resting address becomes free for everybody; null when none does by itself. */
  readonly nextFreeAt: number | null
}

const withoutDraining = (pool: Pool): Pool => ({
  ...pool,
  rangeSets: pool.rangeSets.map(set => set.filter(({ draining }) => !draining)),
})

/** The only arithmetic of a pool's usage. Leases outside the pool's present ranges do not count. */
export function usageOf(book: AddressBook, pool: Pool, now: number): Usage {
  let capacity = capacityOf(withoutDraining(pool))
  let used = 0n
  let held = 0n
  let nextFreeAt = Infinity
  for (const set of pool.rangeSets) {
    const counted = new Set<string>()
    const usable = (text: string): boolean => usableIn(set, text) !== undefined
    const drains = (text: string): boolean => usableIn(set, text)?.range.draining === true
    for (const lease of book.leasesWithin(pool.segment, set)) {
      if (!usable(lease.address) || isTimeOver(lease, now)) continue
      if (lease.until !== null && lease.until < nextFreeAt && !book.reservation(lease))
        nextFreeAt = lease.until
      if (lease.state === 'bound') used++
      else if (lease.state === 'held' || lease.named) held++
      else continue
      counted.add(lease.address)
      if (drains(lease.address)) capacity++
    }
    for (const reservation of book.reservationsWithin(pool.segment, set)) {
      if (!usable(reservation.address) || counted.has(reservation.address)) continue
      held++
      if (drains(reservation.address)) capacity++
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
): readonly { readonly family: Family; readonly sets: readonly [T, ...T[]] }[] {
  return ([4, 6] as const).flatMap(family => {
    const [first, ...rest] = sets.filter(set => set.family === family)
    return first ? [{ family, sets: [first, ...rest] as const }] : []
  })
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
  /** Addresses that are left in ranges that drain; undefined where none does. */
  readonly left?: bigint
  /** How many of those are reserved, and no lease has them. */
  readonly promised?: bigint
  /** Whether all of its ranges drain. */
  readonly drains?: true
}

/** What is left in the ranges of a pool that drain; undefined where none does. */
export function drainingOf(
  sets: readonly RangeSetUsage[],
): { readonly whole: boolean; readonly left: bigint; readonly reserved?: bigint } | undefined {
  const draining = sets.filter(({ left }) => left !== undefined)
  if (draining.length === 0) return undefined
  const left = draining.reduce((sum, set) => sum + (set.left ?? 0n), 0n)
  const reserved = draining.reduce((sum, set) => sum + (set.promised ?? 0n), 0n)
  return { whole: allDrain(sets), left, ...(reserved > 0n && { reserved }) }
}

/** Whether nothing of them is free because they are being emptied, and not because they are full. */
export const allDrain = (sets: readonly Pick<RangeSetUsage, 'drains'>[]): boolean =>
  sets.every(({ drains }) => drains === true)

interface Count extends Pick<RangeSetUsage, 'pool' | 'segment' | 'rangeSet' | 'family' | 'drains'> {
  capacity: bigint
  left?: bigint
  promised?: bigint
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
    if (isTimeOver(lease, this.#now)) return
    this.#states[lease.state]++
    const place = this.#placeOf(lease)
    if (!place) return
    const count = place.owner
    const next = count.nextFreeAt ?? Infinity
    if (lease.until !== null && lease.until < next && !isReserved()) count.nextFreeAt = lease.until
    if (lease.state === 'bound') count.used++
    else if (lease.state === 'held' || lease.named) count.held++
    else if (!place.range.draining) count.cooling++
    if (lease.state !== 'cooling' || lease.named) leave(place)
  }

  /** `lease`: the one of its address, if there is one. */
  reservation(key: LeaseKey, lease: Omit<LeaseOutline, 'namespace' | 'aside'> | undefined): void {
    const place = this.#placeOf(key)
    if (!place) return
    const count = place.owner
    const present = lease && !isTimeOver(lease, this.#now) ? lease : undefined
    const rests = present?.state === 'cooling' && !present.named
    if (rests && !place.range.draining) count.cooling--
    if (present && !rests) return
    count.held++
    if (place.range.draining) count.promised = (count.promised ?? 0n) + 1n
    leave(place)
  }

  /** How many leases there are, those outside of every pool too. */
  states(): Readonly<Record<LeaseState, number>> {
    return this.#states
  }

  /** In the order of the pools. */
  rangeSets(): readonly RangeSetUsage[] {
    return this.#counts.map(count => ({ ...count, free: count.capacity - count.used - count.held }))
  }

  #placeOf(key: LeaseKey): PlacedRange<Count> | undefined {
    const address = parseAddress(key.address)
    const place = address && this.#ranges.around(key.segment, address)
    return place && isUsable(place.range, address) ? place : undefined
  }
}

/** An address that somebody still has. */
function leave({ range, owner }: PlacedRange<Count>): void {
  if (!range.draining) return
  owner.capacity++
  owner.left = (owner.left ?? 0n) + 1n
}

function countOf(
  { name, segment }: Pool,
  set: RangeSet,
  rangeSet: number,
): { readonly set: RangeSet; readonly count: Count } {
  const capacity = capacityOf(withoutDraining({ name, segment, rangeSets: [set] }))
  const family = set[0]?.family ?? 4
  const none = { used: 0n, held: 0n, cooling: 0n, nextFreeAt: null }
  const drains = {
    ...(set.some(({ draining }) => draining) && { left: 0n }),
    ...(set.every(({ draining }) => draining) && { drains: true as const }),
  }
  return { set, count: { pool: name, segment, rangeSet, family, capacity, ...drains, ...none } }
}
