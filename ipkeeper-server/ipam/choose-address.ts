import type { Address } from '../../shared/net/address.ts'
import type { AddressBook } from './address-book.ts'
import { usableIn, type Pool, type Range } from './pool.ts'
import { isOver, type Holder } from './records.ts'

export interface Choice {
  readonly address: Address
  readonly range: Range
  readonly source: 'reservation' | 'dynamic'
  readonly reason: string
}

/** The address of this range set that is reserved for the pod and not in somebody's hands. */
function reservedFor(
  book: AddressBook,
  pool: Pool,
  rangeSet: number,
  holder: Holder,
  now: number,
): Choice | undefined {
  if (holder.kind !== 'pod') return undefined
  for (const reservation of book.reservationsFor(holder.namespace, holder.name)) {
    if (reservation.segment !== pool.segment) continue
    const place = usableIn(pool.rangeSets[rangeSet] ?? [], reservation.address)
    if (!place) continue
    const lease = book.lease(reservation)
    if (lease && lease.state !== 'cooling' && !isOver(lease, now)) continue
    return { ...place, source: 'reservation', reason: 'reserved for this pod' }
  }
  return undefined
}

/** Of the resting addresses the one that has rested longest, but none that a pod had asked for by name. */
function longestRested(book: AddressBook, pool: Pool, rangeSet: number): Choice | undefined {
  const set = pool.rangeSets[rangeSet] ?? []
  let best: { since: number; address: Address; range: Range } | undefined
  for (const lease of book.leasesWithin(pool.segment, set)) {
    if (lease.state !== 'cooling' || lease.named || book.reservation(lease)) continue
    const place = usableIn(set, lease.address)
    if (place && (!best || lease.since < best.since)) best = { since: lease.since, ...place }
  }
  return (
    best && {
      address: best.address,
      range: best.range,
      source: 'dynamic',
      reason: 'all others are taken: the one that rested longest',
    }
  )
}

/** What a pod gets from a range set that has nothing of its own there: the lowest free, else the one that rested longest. */
export function chooseDynamic(book: AddressBook, pool: Pool, rangeSet: number): Choice | undefined {
  for (const range of pool.rangeSets[rangeSet] ?? []) {
    for (const run of range.usable) {
      const address = book.lowestFree(pool.segment, range.family, run)
      if (address) return { address, range, source: 'dynamic', reason: 'lowest free address' }
    }
  }
  return longestRested(book, pool, rangeSet)
}

/**
 * The address a pod gets from a range set when it names none: the one reserved for it, else a dynamic one. undefined
 * when the set is full.
 */
export function chooseAddress(
  book: AddressBook,
  pool: Pool,
  rangeSet: number,
  holder: Holder,
  now: number,
): Choice | undefined {
  return reservedFor(book, pool, rangeSet, holder, now) ?? chooseDynamic(book, pool, rangeSet)
}
