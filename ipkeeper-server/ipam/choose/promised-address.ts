import type { AddressBook } from '../pools/address-book.ts'
import {
  describeHolder,
  describeReservation,
  holderKey,
  isReservedFor,
  type LeaseRecord,
  type ReservationRecord,
} from '../records/records.ts'
import type { AddContext } from './add-context.ts'

/** An address that somebody has and another one is to have next: a move (docs/adr/0028). */

/** The reservation by which an address goes to another owner when whoever has it is gone; undefined where there is none. */
export function promisedAway(
  book: Pick<AddressBook, 'reservation'>,
  lease: LeaseRecord,
): ReservationRecord | undefined {
  const reservation = book.reservation(lease)
  const stays =
    !reservation ||
    lease.state === 'cooling' ||
    isReservedFor(reservation, lease.holder, lease.workload ?? null)
  return stays ? undefined : reservation
}

/**
 * Whether a pod gets an address that was moved to it: kept for whoever had it, or in a sandbox that is proved gone, by the proof
 * by which an address follows a pod of a StatefulSet.
 */
export function receives(
  lease: LeaseRecord,
  { book, request, workload, takeover }: Omit<AddContext, 'terms' | 'trace'>,
): boolean {
  const reservation = promisedAway(book, lease)
  return (
    reservation !== undefined &&
    isReservedFor(reservation, request.holder, workload) &&
    holderKey(lease.holder) !== holderKey(request.holder) &&
    (lease.state === 'held' || takeover.left(lease) !== undefined)
  )
}

/** "moved to shop/web-1 from shop/web-0 on node n1: the old sandbox is dead" */
export function whyReceived(lease: LeaseRecord, { book, takeover }: AddContext): string {
  const reservation = promisedAway(book, lease)
  const whom = reservation ? ` to ${describeReservation(reservation)}` : ''
  const why = lease.state === 'bound' ? takeover.left(lease) : undefined
  const from = `moved${whom} from ${describeHolder(lease.holder)}`
  return why === undefined ? from : `${from} on node ${lease.node}: ${why}`
}

/** ", which gets it in place of shop/web-0": of an address that was moved; '' of any other. */
export function describeMove(book: Pick<AddressBook, 'reservation'>, lease: LeaseRecord | undefined): string {
  if (!lease || !promisedAway(book, lease)) return ''
  const who = describeHolder(lease.holder)
  return lease.state === 'bound'
    ? `, which gets it when ${who} is gone`
    : `, which gets it in place of ${who}`
}
