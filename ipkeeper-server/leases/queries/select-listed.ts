import type {
  attachmentTerms,
  leaseTerms,
  ListingQuery,
  poolTerms,
  reservationTerms,
} from '../../../shared/api/listing-query.schema.ts'
import type {
  AttachmentsReply,
  LeasesReply,
  PoolItem,
  PoolsReply,
  ReservationsReply,
} from '../../../shared/api/listing.schema.ts'
import { inAddressOrder } from '../../ipam/records/address-order.ts'
import {
  describeHolder,
  isTimeOver,
  type AttachmentRecord,
  type LeaseRecord,
  type ReservationRecord,
} from '../../ipam/records/records.ts'
import { formatReservationOwner } from '../../ipam/records/reservation-owner.ts'
import type { LeaseService } from '../verbs/service.ts'
import { labelsFrom, listedLease, listedReservation, mustKnowPool, type PodLabels } from './listed-record.ts'
import { attachmentItem, leaseItem, listLeases, listPools, reservationItem } from './listing.ts'
import { podOfHolder, readFilter } from './listing-filter.ts'

/** Rows are chosen, sorted and cut as records: only what is shown becomes an answer. */

type SortValue = string | number | bigint | null
export type Sorts<T, Sort extends string> = Readonly<Record<Sort, ((record: T) => SortValue) | 'as they are'>>

type LeaseSort = (typeof leaseTerms.sorts)[number]
type AttachmentSort = (typeof attachmentTerms.sorts)[number]
type PoolSort = (typeof poolTerms.sorts)[number]
type ReservationSort = (typeof reservationTerms.sorts)[number]

const stateOrder = ['bound', 'held', 'cooling']

const leaseSorts: Sorts<LeaseRecord, LeaseSort> = {
  address: 'as they are',
  since: ({ since }) => since,
  until: ({ until }) => until,
  state: ({ state }) => stateOrder.indexOf(state),
  pod: ({ holder }) => (holder.kind === 'pod' ? describeHolder(holder) : null),
  node: ({ node }) => node,
  pool: ({ pool }) => pool,
}

const attachmentSorts: Sorts<AttachmentRecord, AttachmentSort> = {
  since: ({ since }) => since,
  pod: ({ holder }) => (holder.kind === 'pod' ? describeHolder(holder) : null),
  node: ({ node }) => node,
  network: ({ network }) => network,
}

const reservationSorts: Sorts<ReservationRecord, ReservationSort> = {
  address: 'as they are',
  since: ({ since }) => since,
  owner: formatReservationOwner,
}

const least = (values: readonly bigint[]): bigint | null =>
  values.reduce<bigint | null>((a, b) => (a === null || b < a ? b : a), null)

const poolSorts: Sorts<PoolItem, PoolSort> = {
  name: 'as they are',
  // Of the family that has the fewest: it is full first.
  free: ({ families }) => least(families.map(({ free }) => BigInt(free))),
  used: ({ used }) => -BigInt(used),
}

/** What has no value comes last. */
function compare(a: SortValue, b: SortValue): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  return a < b ? -1 : 1
}

/** Those that are shown, and how many are not. Records of one value stay in the order that they have. */
export function cut<T, Sort extends string>(
  records: readonly T[],
  sorts: Sorts<T, Sort>,
  sort: Sort,
  limit: string | undefined,
): { readonly shown: readonly T[]; readonly rest: { readonly more?: number } } {
  const valueOf = sorts[sort]
  const sorted =
    valueOf === 'as they are' ? records : records.toSorted((a, b) => compare(valueOf(a), valueOf(b)))
  const shown = limit === undefined ? sorted : sorted.slice(0, Number(limit))
  return { shown, rest: beyond(records.length, shown.length) }
}

const beyond = (all: number, shown: number): { readonly more?: number } =>
  all > shown ? { more: all - shown } : {}

/** @throws Problem IPK_REQUEST_INVALID */
export function selectLeases(
  service: LeaseService,
  query: ListingQuery<LeaseSort>,
  cluster?: PodLabels,
): LeasesReply {
  const { sort = 'address', limit, ...filters } = query
  const { ledger } = service
  const now = service.now()
  if (sort === 'address' && Object.keys(filters).length === 0) {
    const leases = listLeases(service, limit === undefined ? undefined : Number(limit))
    let all = 0
    for (const lease of ledger.leaseOutlines()) if (!isTimeOver(lease, now)) all++
    return { leases, ...beyond(all, leases.length) }
  }
  const isAsked = readFilter(filters)
  const labelsOf = labelsFrom(cluster, filters)
  const found: LeaseRecord[] = []
  for (const lease of ledger.leases()) {
    if (!isTimeOver(lease, now) && isAsked(listedLease(lease, labelsOf))) found.push(lease)
  }
  if (found.length === 0 && filters.pool !== undefined) mustKnowPool(ledger, filters.pool)
  const { shown, rest } = cut(inAddressOrder(found), leaseSorts, sort, limit)
  return { leases: shown.map(leaseItem), ...rest }
}

/** Oldest first unless something else is asked for. Throws Problem IPK_REQUEST_INVALID. */
export function selectAttachments(
  service: LeaseService,
  { sort = 'since', limit, ...filters }: ListingQuery<AttachmentSort>,
  cluster?: PodLabels,
): AttachmentsReply {
  const isAsked = readFilter(filters)
  const labelsOf = labelsFrom(cluster, filters)
  const found = [...service.ledger.attachments()].filter(({ holder, node }) =>
    isAsked({ ...podOfHolder(holder), node, labels: () => labelsOf(holder) }),
  )
  const { shown, rest } = cut(found, attachmentSorts, sort, limit)
  return { attachments: shown.map(attachment => attachmentItem(service, attachment)), ...rest }
}

/** @throws Problem IPK_REQUEST_INVALID */
export function selectReservations(
  { ledger }: LeaseService,
  { sort = 'address', limit, ...filters }: ListingQuery<ReservationSort>,
): ReservationsReply {
  const isAsked = readFilter(filters)
  const found = [...ledger.reservations()].filter(reservation =>
    isAsked(listedReservation(ledger, reservation)),
  )
  if (found.length === 0 && filters.pool !== undefined) mustKnowPool(ledger, filters.pool)
  const { shown, rest } = cut(inAddressOrder(found), reservationSorts, sort, limit)
  return { reservations: shown.map(reservationItem), ...rest }
}

/**
 * The pools with the fewest free addresses, or the most in use, first, where that is asked for.
 *
 * @throws Problem IPK_REQUEST_INVALID
 */
export async function selectPools(
  service: LeaseService,
  { sort = 'name', limit, pool }: ListingQuery<PoolSort>,
  turn: () => Promise<unknown>,
): Promise<PoolsReply> {
  if (pool !== undefined) mustKnowPool(service.ledger, pool)
  const all = await listPools(service, turn)
  const { shown, rest } = cut(
    all.filter(({ name }) => pool === undefined || name === pool),
    poolSorts,
    sort,
    limit,
  )
  return { pools: [...shown], ...rest }
}
