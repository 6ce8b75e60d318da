import type { Filters } from '../../../shared/api/listing-query.schema.ts'
import type { SearchReply } from '../../../shared/api/search.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
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
import { labelsFrom, listedLease, listedReservation, mustKnowPool, type PodLabels } from './listed-record.ts'
import { leaseItem, reservedReply } from './listing.ts'
import { readFilter } from './listing-filter.ts'

type AddressState = SearchReply['reservations'][number]['state']

export interface SearchTerms {
  /** Words, all of which have to fit. */
  readonly text?: string | undefined
  readonly filters?: Filters
  /** At most so many leases, and as many reservations. */
  readonly limit: number
  readonly cluster?: PodLabels | undefined
}

/**
 * Leases and reservations that every filter fits, as in listings, and all that a person remembers. Every record is looked at, in
 * steps.
 *
 * @param turn resolves when others had theirs
 * @throws Problem IPK_REQUEST_INVALID
 */
export async function searchRecords(
  service: LeaseService,
  { text = '', filters = {}, limit, cluster }: SearchTerms,
  turn: Turn,
): Promise<SearchReply> {
  const { ledger } = service
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0 && Object.keys(filters).length === 0)
    throw new Problem('IPK_REQUEST_INVALID', 'nothing to search for: neither a text nor a filter was given')
  const isAsked = readFilter(filters)
  const labelsOf = labelsFrom(cluster, filters)
  const now = service.now()
  const isWantedLease = (lease: LeaseRecord): boolean =>
    !isTimeOver(lease, now) &&
    isAsked(listedLease(lease, labelsOf)) &&
    words.every(word => fitsLease(word, lease))
  const stateOf = (reservation: ReservationRecord): AddressState => {
    const lease = ledger.lease(reservation)
    return lease && !isTimeOver(lease, now) ? lease.state : 'reserved'
  }
  const isWantedReservation = (reservation: ReservationRecord): boolean => {
    const state = stateOf(reservation)
    return (
      isAsked({ ...listedReservation(ledger, reservation), state }) &&
      words.every(word => isIn(word, wordsOfReservation(reservation)) || namesOfState(state).includes(word))
    )
  }
  const leases = await all(inTurns(ledger.leases(), isWantedLease, turn))
  const reservations = await all(inTurns(ledger.reservations(), isWantedReservation, turn))
  if (leases.length + reservations.length === 0 && filters.pool !== undefined)
    mustKnowPool(ledger, filters.pool)
  const [firstLeases, firstReservations] = [
    inAddressOrder(leases).slice(0, limit),
    inAddressOrder(reservations).slice(0, limit),
  ]
  const more = leases.length + reservations.length - firstLeases.length - firstReservations.length
  return {
    leases: firstLeases.map(leaseItem),
    reservations: firstReservations.map(record => ({
      ...reservedReply(service, record),
      state: stateOf(record),
    })),
    ...(more > 0 && { more }),
  }
}

const isIn = (word: string, texts: readonly string[]): boolean =>
  texts.some(known => known.toLowerCase().includes(word))

const fitsLease = (word: string, lease: LeaseRecord): boolean =>
  isIn(word, wordsOfLease(lease)) ||
  namesOfLease(lease).some(name => name.toLowerCase() === word) ||
  lease.attachment?.containerId.toLowerCase().startsWith(word) === true

const wordsOfLease = ({ address, holder, workload }: LeaseRecord): string[] => [
  address,
  describeHolder(holder),
  ...(workload && isKnown(workload) ? [describeWorkload(workload)] : []),
]

/** These are known as a whole: a part of them would find nearly everything. */
const namesOfLease = ({ node, state }: LeaseRecord): string[] => [node, ...namesOfState(state)]

const namesOfState = (state: AddressState): string[] => [state, ...(state === 'bound' ? ['leased'] : [])]

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
