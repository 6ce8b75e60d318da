import type { Address } from '../../../shared/net/address.ts'
import type { AddressBook } from '../pools/address-book.ts'
import type { Slot } from './offers.ts'
import type { OwnAddresses } from '../pools/own-addresses.ts'
import { usableIn, type Pool, type Range, type RangeSet } from '../pools/pool.ts'
import {
  describeHolder,
  isOver,
  isReservedFor,
  type Holder,
  type LeaseRecord,
  type ReservationRecord,
  type Workload,
} from '../records/records.ts'
import { bearsGeneratedName, describeWorkload, sameWorkload } from '../records/workload.ts'

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
  /** Of the node that asks. */
  readonly own: OwnAddresses
  /** Why the sandbox that has a lease has to give it up to another pod of its workload; undefined when it need not. */
  readonly left: (lease: LeaseRecord) => string | undefined
}

/** What a dynamic choice depends on, whoever it is for. */
export type DynamicTerms = Pick<Chooser, 'now' | 'own'>

/** Nobody has the address, keeps it, or is to have it back. */
export function isFree(lease: LeaseRecord | undefined, now: number): boolean {
  return lease === undefined || lease.state === 'cooling' || isOver(lease, now)
}

/**
 * Whether an address may go to another pod of the same workload, for the same interface: the pod that it is kept for, or
 * whose sandbox is proved gone, had a name that a controller made up, and so will never come back (DESIGN.md, "Choosing": a
 * workload decides retention). The proof is the one by which an address follows a pod of a StatefulSet.
 */
export function mayInherit(lease: LeaseRecord, chooser: Chooser): boolean {
  const { holder, workload, left } = chooser
  return (
    lease.state !== 'cooling' &&
    lease.holder.kind === 'pod' &&
    holder.kind === 'pod' &&
    lease.holder.network === holder.network &&
    lease.holder.ifname === holder.ifname &&
    bearsGeneratedName(lease.holder.name, lease.workload) &&
    bearsGeneratedName(holder.name, workload) &&
    sameWorkload(lease.workload, workload) &&
    (lease.state === 'held' || (lease.holder.name !== holder.name && left(lease) !== undefined))
  )
}

/** What is reserved for the pod or its workload and not in somebody's hands, in any segment: its own first. */
export function openReservations(book: AddressBook, chooser: Chooser): readonly ReservationRecord[] {
  const { holder, workload, now } = chooser
  if (holder.kind !== 'pod') return []
  const isOpen = (lease: LeaseRecord | undefined): boolean =>
    lease === undefined || isFree(lease, now) || mayInherit(lease, chooser)
  return [
    ...book.reservationsFor(holder.namespace, holder.name),
    ...(workload && workload.name !== holder.name
      ? book.reservationsFor(workload.namespace, workload.name)
      : []),
  ].filter(reservation => isReservedFor(reservation, holder, workload) && isOpen(book.lease(reservation)))
}

/**
 * What is kept for the workload since pods of it are gone for good, in any segment: the longest kept first. Then what would
 * be, if their DELs could come: of a node that is lost none will.
 */
export function inheritable(book: AddressBook, chooser: Chooser): readonly LeaseRecord[] {
  const { workload, now } = chooser
  if (!workload) return []
  const leases = [...book.leasesKeptFor(workload.namespace, workload.name)].filter(
    lease => !isOver(lease, now) && mayInherit(lease, chooser),
  )
  return [
    ...leases.filter(({ state }) => state === 'held'),
    ...leases.filter(({ state }) => state === 'bound'),
  ]
}

/** The address of this range set that is reserved for the pod or its workload. */
function reservedFor(book: AddressBook, { pool, set }: Slot, chooser: Chooser): Choice | undefined {
  for (const reservation of openReservations(book, chooser)) {
    const place = reservation.segment === pool.segment ? usableIn(set, reservation.address) : undefined
    if (!place || chooser.own.find(place.address)) continue
    const whose = reservation.kind === undefined ? 'pod' : 'workload'
    return { ...place, source: 'reservation', reason: `reserved for this ${whose}` }
  }
  return undefined
}

/**
 * "kept for Deployment shop/web since shop/web-6d4cf56db6-x2x5z is gone", "Deployment shop/web takes it over from
 * shop/web-6d4cf56db6-x2x5z on node n1: the old sandbox is dead".
 */
export function whyInherited(lease: LeaseRecord, { left }: Pick<Chooser, 'left'>): string {
  const { workload, holder, node } = lease
  const whose = workload ? describeWorkload(workload) : 'this workload'
  const why = lease.state === 'bound' ? left(lease) : undefined
  return why === undefined
    ? `kept for ${whose} since ${describeHolder(holder)} is gone`
    : `${whose} takes it over from ${describeHolder(holder)} on node ${node}: ${why}`
}

/** An address of this range set that is kept for the workload since a pod of it is gone for good. */
function keptForWorkload(book: AddressBook, { pool, set }: Slot, chooser: Chooser): Choice | undefined {
  for (const lease of inheritable(book, chooser)) {
    const place = lease.segment === pool.segment ? usableIn(set, lease.address) : undefined
    if (!place || book.reservation(lease) || chooser.own.find(place.address)) continue
    return { ...place, source: 'workload', reason: whyInherited(lease, chooser) }
  }
  return undefined
}

/** Of the resting addresses the one that has rested longest, but none that a pod had asked for by name. */
function longestRested(
  book: AddressBook,
  pool: Pool,
  set: RangeSet,
  { now, own }: DynamicTerms,
): Choice | undefined {
  for (const lease of book.restingToReuse(pool.name)) {
    const over = isOver(lease, now)
    if (lease.segment !== pool.segment || (lease.named && !over) || book.reservation(lease)) continue
    const place = usableIn(set, lease.address)
    if (!place || own.find(place.address)) continue
    const reason = over
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
export function chooseDynamic(
  book: AddressBook,
  pool: Pool,
  set: RangeSet,
  terms: DynamicTerms,
): Choice | undefined {
  for (const range of set) {
    for (const run of range.usable.flatMap(whole => terms.own.leftOf(range.family, whole))) {
      const address = book.lowestFree(pool.segment, range.family, run)
      if (address) return { address, range, source: 'dynamic', reason: 'lowest free address' }
    }
  }
  return longestRested(book, pool, set, terms)
}

/**
 * The address a pod gets from a range set when it names none: the one reserved for it, else one kept for its workload,
 * else a dynamic one. undefined when the set is full.
 */
export function chooseAddress(book: AddressBook, slot: Slot, chooser: Chooser): Choice | undefined {
  return (
    reservedFor(book, slot, chooser) ??
    keptForWorkload(book, slot, chooser) ??
    chooseDynamic(book, slot.pool, slot.set, chooser)
  )
}
