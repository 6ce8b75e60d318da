import type { AddressBook } from './address-book.ts'
import { capacityOf, usableIn, type Pool } from './pool.ts'
import { isOver } from '../records/records.ts'

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
