import type { Address } from '../../../shared/net/address.ts'
import type { AddressBook } from '../pools/address-book.ts'
import type { AddTerms } from '../request/add-request.ts'
import type { AddContext } from './add-context.ts'
import type { Slot } from './offers.ts'
import type { Takeover } from './plan-takeover.ts'
import { receives, whyReceived } from './promised-address.ts'
import { usableIn, type Pool, type Range, type RangeSet } from '../pools/pool.ts'
import {
  describeHolder,
  isTimeOver,
  isReservedFor,
  type LeaseKey,
  type LeaseRecord,
  type ReservationRecord,
} from '../records/records.ts'
import { bearsGeneratedName, describeWorkload, sameWorkload } from '../records/workload.ts'

export interface Choice {
  readonly address: Address
  readonly range: Range
  readonly source: 'reservation' | 'dynamic' | 'workload'
  readonly reason: string
}

/** What a dynamic choice depends on, whoever it is for. */
export type DynamicTerms = Pick<AddTerms, 'now' | 'own'>

/** Nobody has the address, keeps it, or is to have it back. */
export function isFree(lease: LeaseRecord | undefined, now: number): boolean {
  return lease === undefined || lease.state === 'cooling' || isTimeOver(lease, now)
}

/**
 * Whether an address may go to another pod of the same workload, for the same interface: the pod that it is kept for, or
 * whose sandbox is proved gone, had a name that a controller made up, and so will never come back. The proof is the one by which an address follows a pod of a StatefulSet.
 */
export function mayInherit(lease: LeaseRecord, { request, workload, takeover }: AddContext): boolean {
  const { holder } = request
  return (
    lease.state !== 'cooling' &&
    lease.holder.kind === 'pod' &&
    holder.kind === 'pod' &&
    lease.holder.network === holder.network &&
    lease.holder.ifname === holder.ifname &&
    bearsGeneratedName(lease.holder.name, lease.workload) &&
    bearsGeneratedName(holder.name, workload) &&
    sameWorkload(lease.workload, workload) &&
    (lease.state === 'held' || (lease.holder.name !== holder.name && takeover.left(lease) !== undefined))
  )
}

/** What is reserved for the pod or its workload and not in somebody's hands, in any segment: its own first. */
export function openReservations(context: AddContext): readonly ReservationRecord[] {
  const { book, request, workload, terms } = context
  const { holder } = request
  if (holder.kind !== 'pod') return []
  const isOpen = (lease: LeaseRecord | undefined): boolean =>
    lease === undefined || isFree(lease, terms.now) || mayInherit(lease, context) || receives(lease, context)
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
export function inheritable(context: AddContext): readonly LeaseRecord[] {
  const { book, workload, terms } = context
  if (!workload) return []
  const leases = [...book.leasesKeptFor(workload.namespace, workload.name)].filter(
    lease => !isTimeOver(lease, terms.now) && mayInherit(lease, context),
  )
  return [
    ...leases.filter(({ state }) => state === 'held'),
    ...leases.filter(({ state }) => state === 'bound'),
  ]
}

/** The first of a range set that is reserved for the pod or its workload, and that it can have. */
function firstReserved({ pool, set }: Pick<Slot, 'pool' | 'set'>, context: AddContext) {
  for (const reservation of openReservations(context)) {
    const place = reservation.segment === pool.segment ? usableIn(set, reservation.address) : undefined
    if (place && !context.terms.own.find(place.address)) return { reservation, place }
  }
  return undefined
}

/**
 * Whether the pod is to have another address of a range set than the one that it had: what is reserved for this very pod comes first,
 * so that an address can be moved to a pod that keeps another one.
 */
export function isToMove(
  slot: Pick<Slot, 'pool' | 'set'>,
  had: Pick<LeaseKey, 'address'>,
  context: AddContext,
): boolean {
  if (context.book.reservation({ segment: slot.pool.segment, address: had.address })) return false
  const first = firstReserved(slot, context)
  return first !== undefined && first.reservation.kind === undefined
}

function reservedFor(slot: Slot, context: AddContext): Choice | undefined {
  const first = firstReserved(slot, context)
  if (!first) return undefined
  const { reservation, place } = first
  const whose = reservation.kind === undefined ? 'pod' : 'workload'
  const lease = context.book.lease(reservation)
  const moved = lease && receives(lease, context) ? `; ${whyReceived(lease, context)}` : ''
  return { ...place, source: 'reservation', reason: `reserved for this ${whose}${moved}` }
}

/**
 * "kept for Deployment shop/web since shop/web-6d4cf56db6-x2x5z is gone", "Deployment shop/web takes it over from
 * shop/web-6d4cf56db6-x2x5z on node n1: the old sandbox is dead".
 */
export function whyInherited(lease: LeaseRecord, { left }: Pick<Takeover, 'left'>): string {
  const { workload, holder, node } = lease
  const whose = workload ? describeWorkload(workload) : 'this workload'
  const why = lease.state === 'bound' ? left(lease) : undefined
  return why === undefined
    ? `kept for ${whose} since ${describeHolder(holder)} is gone`
    : `${whose} takes it over from ${describeHolder(holder)} on node ${node}: ${why}`
}

/** An address of this range set that is kept for the workload since a pod of it is gone for good. */
function keptForWorkload({ pool, set }: Slot, context: AddContext): Choice | undefined {
  const { book, takeover, terms } = context
  for (const lease of inheritable(context)) {
    const place = lease.segment === pool.segment ? usableIn(set, lease.address) : undefined
    if (!place || book.reservation(lease) || terms.own.find(place.address)) continue
    return { ...place, source: 'workload', reason: whyInherited(lease, takeover) }
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
    const over = isTimeOver(lease, now)
    if (lease.segment !== pool.segment || (lease.named && !over) || book.reservation(lease)) continue
    const place = usableIn(set, lease.address)
    if (!place || place.range.draining || own.find(place.address)) continue
    const reason = over
      ? 'every address was used before: the least recently used'
      : 'all others are taken: the one that has cooled down longest'
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
    if (range.draining) continue
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
export function chooseAddress(slot: Slot, context: AddContext): Choice | undefined {
  return (
    reservedFor(slot, context) ??
    keptForWorkload(slot, context) ??
    chooseDynamic(context.book, slot.pool, slot.set, context.terms)
  )
}
