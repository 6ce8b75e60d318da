import type { Address } from '../../shared/net/address.ts'
import type { AddressBook } from './address-book.ts'
import type { Slot } from './offers.ts'
import { usableIn, type Pool, type Range, type RangeSet } from './pool.ts'
import {
  describeHolder,
  isOver,
  isReservedFor,
  type Holder,
  type LeaseRecord,
  type Workload,
} from './records.ts'
import { describeWorkload, isGeneratedName, sameWorkload } from './workload.ts'

export interface Choice {
  readonly address: Address
  readonly range: Range
  readonly source: 'reservation' | 'dynamic' | 'workload'
  readonly reason: string
}

/** Whom a choice is made for. */
export interface Chooser {
  readonly holder: Holder
  readonly workload: Workload | null
  readonly now: number
}

/** Nobody has the address, keeps it, or is to have it back. */
export function isFree(lease: LeaseRecord | undefined, now: number): boolean {
  return lease === undefined || lease.state === 'cooling' || isOver(lease, now)
}

/**
 * Whether a kept address may go to another pod of the same workload: the pod it is kept for had a name that a controller
 * made up, and so will never come back (DESIGN section 2: a workload decides retention).
 */
export function mayInherit(lease: LeaseRecord, { workload }: Chooser): boolean {
  const { holder, state } = lease
  return (
    state === 'held' &&
    holder.kind === 'pod' &&
    isGeneratedName(holder.name) &&
    sameWorkload(lease.workload, workload)
  )
}

/** The address of this range set that is reserved for the pod or its workload and not in somebody's hands. */
function reservedFor(book: AddressBook, { pool, set }: Slot, chooser: Chooser): Choice | undefined {
  const { holder, workload, now } = chooser
  if (holder.kind !== 'pod') return undefined
  const reservations = [
    ...book.reservationsFor(holder.namespace, holder.name),
    ...(workload && workload.name !== holder.name
      ? book.reservationsFor(workload.namespace, workload.name)
      : []),
  ]
  for (const reservation of reservations) {
    if (reservation.segment !== pool.segment || !isReservedFor(reservation, holder, workload)) continue
    const place = usableIn(set, reservation.address)
    if (!place) continue
    const lease = book.lease(reservation)
    if (lease && !isFree(lease, now) && !mayInherit(lease, chooser)) continue
    const whose = reservation.kind === undefined ? 'pod' : 'workload'
    return { ...place, source: 'reservation', reason: `reserved for this ${whose}` }
  }
  return undefined
}

/** An address that is kept for the workload since a pod of it is gone for good. */
function keptForWorkload(book: AddressBook, { pool, set }: Slot, chooser: Chooser): Choice | undefined {
  const { workload, now } = chooser
  if (!workload) return undefined
  for (const lease of book.leasesKeptFor(workload.namespace, workload.name)) {
    if (lease.segment !== pool.segment || isOver(lease, now) || !mayInherit(lease, chooser)) continue
    const place = usableIn(set, lease.address)
    if (!place || book.reservation(lease)) continue
    const reason = `kept for ${describeWorkload(workload)} since ${describeHolder(lease.holder)} is gone`
    return { ...place, source: 'workload', reason }
  }
  return undefined
}

/** Of the resting addresses the one that has rested longest, but none that a pod had asked for by name. */
function longestRested(book: AddressBook, pool: Pool, set: RangeSet, now: number): Choice | undefined {
  for (const lease of book.resting(pool.name)) {
    if (lease.segment !== pool.segment || (lease.named && !isOver(lease, now)) || book.reservation(lease))
      continue
    const place = usableIn(set, lease.address)
    if (!place) continue
    const reason = lease.remembered
      ? 'every address was used before: the least recently used'
      : 'all others are taken: the one that rested longest'
    return { ...place, source: 'dynamic', reason }
  }
  return undefined
}

/**
 * What a pod gets from a range set that has nothing of its own there: the lowest address nobody has or had, else the one
 * that rested longest. A pool of strategy least-recently-used remembers addresses after their rest, and so gives each of
 * them once before it gives one again.
 */
export function chooseDynamic(book: AddressBook, pool: Pool, set: RangeSet, now: number): Choice | undefined {
  for (const range of set) {
    for (const run of range.usable) {
      const address = book.lowestFree(pool.segment, range.family, run)
      if (address) return { address, range, source: 'dynamic', reason: 'lowest free address' }
    }
  }
  return longestRested(book, pool, set, now)
}

/**
 * The address a pod gets from a range set when it names none: the one reserved for it, else one kept for its workload,
 * else a dynamic one. undefined when the set is full.
 */
export function chooseAddress(book: AddressBook, slot: Slot, chooser: Chooser): Choice | undefined {
  return (
    reservedFor(book, slot, chooser) ??
    keptForWorkload(book, slot, chooser) ??
    chooseDynamic(book, slot.pool, slot.set, chooser.now)
  )
}
