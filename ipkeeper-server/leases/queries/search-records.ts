import type { SearchReply } from '../../../shared/api/search.schema.ts'
import {
  describeHolder,
  isTimeOver,
  type LeaseRecord,
  type ReservationRecord,
} from '../../ipam/records/records.ts'
import { inAddressOrder } from '../../ipam/records/address-order.ts'
import { formatReservationOwner } from '../../ipam/records/reservation-owner.ts'
import { describeWorkload, isKnown } from '../../ipam/records/workload.ts'
import type { LeaseService } from '../verbs/service.ts'
import { inTurns, type Turn } from './in-turns.ts'
import { leaseItem, reservedReply } from './listing.ts'

export interface SearchTerms {
  readonly text: string
  /** At most so many leases, and as many reservations. */
  readonly limit: number
}

/**
 * Leases and reservations in which a text is that a person remembers. Every record is looked at, in steps.
 *
 * @param turn resolves when others had theirs
 */
export async function searchRecords(
  service: LeaseService,
  { text, limit }: SearchTerms,
  turn: Turn,
): Promise<SearchReply> {
  const { ledger } = service
  const wanted = text.trim().toLowerCase()
  const isIn = (...texts: readonly string[]): boolean =>
    texts.some(known => known.toLowerCase().includes(wanted))
  const now = service.now()
  const isWantedLease = (lease: LeaseRecord): boolean =>
    !isTimeOver(lease, now) &&
    (isIn(...wordsOfLease(lease)) ||
      namesOfLease(lease).some(name => name.toLowerCase() === wanted) ||
      lease.attachment?.containerId.toLowerCase().startsWith(wanted) === true)
  const isWantedReservation = (reservation: ReservationRecord): boolean =>
    isIn(...wordsOfReservation(reservation)) || wanted === 'reserved'
  const leases = await all(inTurns(ledger.leases(), isWantedLease, turn))
  const reservations = await all(inTurns(ledger.reservations(), isWantedReservation, turn))
  const [firstLeases, firstReservations] = [
    inAddressOrder(leases).slice(0, limit),
    inAddressOrder(reservations).slice(0, limit),
  ]
  const more = leases.length + reservations.length - firstLeases.length - firstReservations.length
  return {
    leases: firstLeases.map(leaseItem),
    reservations: firstReservations.map(record => reservedReply(service, record)),
    ...(more > 0 && { more }),
  }
}

const wordsOfLease = ({ address, holder, workload }: LeaseRecord): string[] => [
  address,
  describeHolder(holder),
  ...(workload && isKnown(workload) ? [describeWorkload(workload)] : []),
]

/** These are known as a whole: a part of them would find nearly everything. */
const namesOfLease = ({ node, state }: LeaseRecord): string[] => [
  node,
  state,
  ...(state === 'bound' ? ['leased'] : []),
]

const wordsOfReservation = (reservation: ReservationRecord): string[] => [
  reservation.address,
  formatReservationOwner(reservation),
  reservation.note,
]

async function all<T>(found: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const one of found) items.push(one)
  return items
}
