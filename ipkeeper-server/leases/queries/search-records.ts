import type { SearchReply } from '../../../shared/api/search.schema.ts'
import {
  describeHolder,
  isOver,
  type LeaseRecord,
  type ReservationRecord,
} from '../../ipam/records/records.ts'
import { formatReservationOwner } from '../../ipam/records/reservation-owner.ts'
import { describeWorkload, isKnown } from '../../ipam/records/workload.ts'
import type { LeaseService } from '../verbs/service.ts'
import { inOrder, leaseItem, reservedReply } from './listing.ts'

export interface SearchTerms {
  readonly text: string
  /** At most so many leases, and as many reservations. */
  readonly limit: number
}

/** Records between two turns of the event loop: about a millisecond. */
const step = 1_000

/**
 * Leases and reservations in which a text is that a person remembers. Every record is looked at, in steps.
 *
 * @param turn resolves when others had theirs
 */
export async function searchRecords(
  service: LeaseService,
  { text, limit }: SearchTerms,
  turn: () => Promise<unknown>,
): Promise<SearchReply> {
  const { ledger } = service
  const wanted = text.trim().toLowerCase()
  const isIn = (...texts: readonly string[]): boolean =>
    texts.some(known => known.toLowerCase().includes(wanted))
  const now = service.now()
  const leases = await matching(
    ledger.leases(),
    lease =>
      !isOver(lease, now) &&
      (isIn(...wordsOfLease(lease)) ||
        lease.attachment?.containerId.toLowerCase().startsWith(wanted) === true),
    turn,
  )
  const reservations = await matching(
    ledger.reservations(),
    reservation => isIn(...wordsOfReservation(reservation)),
    turn,
  )
  const [firstLeases, firstReservations] = [
    inOrder(leases).slice(0, limit),
    inOrder(reservations).slice(0, limit),
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

const wordsOfReservation = (reservation: ReservationRecord): string[] => [
  reservation.address,
  formatReservationOwner(reservation),
  reservation.note,
]

async function matching<T>(
  records: Iterable<T>,
  fits: (record: T) => boolean,
  turn: () => Promise<unknown>,
): Promise<T[]> {
  const found: T[] = []
  let walked = 0
  for (const record of records) {
    if (fits(record)) found.push(record)
    if (++walked % step === 0) await turn()
  }
  return found
}
