import { Problem } from '../../../shared/problem/problem.ts'
import { isFree } from '../../ipam/choose/choose-address.ts'
import { moveLine, releaseLine, unreserveLine } from '../../ipam/choose/claim-problems.ts'
import { promisedAway } from '../../ipam/choose/promised-address.ts'
import { locateAddress } from '../../ipam/pools/pool-record.ts'
import {
  describeHolder,
  describeReservation,
  isReservedFor,
  leaseKey,
  mustStay,
  type Change,
  type ReservationRecord,
  type LeaseKey,
} from '../../ipam/records/records.ts'
import {
  formatReservationOwner,
  parseReservationOwner,
  sameOwner,
} from '../../ipam/records/reservation-owner.ts'
import { remedyFor } from '../../ipam/records/standing.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from './service.ts'
import { standingOfLease } from './standing-of-lease.ts'
import { formatAddress, parseAddress, type Address } from '../../../shared/net/address.ts'
import { isSegmentName } from '../../ipam/pools/pool.ts'

export interface Reservation {
  readonly segment: string
  readonly address: string
  /** "shop/web-0", "shop/statefulset/web" or "external:printer-3": see parseReservationOwner. */
  readonly owner: string
  /** undefined leaves the note of an earlier reservation as it is. */
  readonly note: string | undefined
  /** Somebody may have the address, and keeps it until its sandbox is gone (docs/adr/0028). */
  readonly moves?: boolean
}

/**
 * Promises an address to a pod, to the pods of a workload, or to an owner that is no pod; none need exist. Repeating it is
 * no error; an address that somebody else has, that is reserved for another, or that no pool would ever give is.
 */
export async function reserve(service: LeaseService, reservation: Reservation): Promise<ReservationRecord> {
  const { record } = await commitPlan(service.ledger, () => planReservation(service, reservation))
  return record
}

/**
 * The record of a reservation, whether it was so before, and the change that makes it. One that is there is written again: what
 * is known of a shared store may be old. Throws as `reserve` does.
 */
export function planReservation(
  service: LeaseService,
  reservation: Reservation,
): { readonly record: ReservationRecord; readonly isSame: boolean; readonly change: Change } {
  const owner = parseReservationOwner(reservation.owner)
  const { key, address } = readLeaseKey(reservation.segment, reservation.address)
  const place = locateAddress(service.ledger, key.segment, address)
  if (place.kind === 'unusable') {
    throw new Problem(
      'IPK_ADDRESS_UNUSABLE',
      `${key.address} cannot be assigned: in pool ${place.pool} it is ${place.why}`,
    )
  }
  const before = service.ledger.reservation(key)
  const lease = service.ledger.lease(key)
  const had = lease && !isFree(lease, service.now()) ? lease : undefined
  const { moves = false } = reservation
  // Whoever has it may have it reserved as well: that goes with the address.
  const isItsOwn = had !== undefined && !promisedAway(service.ledger, had)
  if (before && !sameOwner(before, owner) && !(moves && isItsOwn)) {
    throw new Problem(
      'IPK_ADDRESS_RESERVED',
      `${key.address} is reserved for ${describeReservation(before)}`,
      { hint: `choose another address, or: ${unreserveLine(key)}` },
    )
  }
  if (had && !moves && !isReservedFor(owner, had.holder, had.workload ?? null)) {
    const isKept = had.state !== 'bound'
    const remedy = isKept ? `end it now: ${releaseLine(key)}` : remedyFor(had, standingOfLease(service, had))
    throw new Problem(
      'IPK_ADDRESS_HELD',
      `${key.address} is ${isKept ? 'kept for' : 'held by'} ${describeHolder(had.holder)} on node ${had.node}`,
      { hint: `${remedy}; then reserve it again; or: ${moveLine(key, formatReservationOwner(owner))}` },
    )
  }
  const again = before && sameOwner(before, owner) ? before : undefined
  const note = reservation.note ?? again?.note ?? ''
  const record: ReservationRecord = {
    ...key,
    generation: (before?.generation ?? 0) + 1,
    ...owner,
    note,
    since: again?.since ?? service.now(),
    ...(again?.retain !== undefined && { retain: again.retain }),
  }
  return {
    record,
    isSame: again?.note === note,
    change: [
      { kind: 'reservation', key: leaseKey(key), expect: before?.generation ?? null, record },
      // Somebody may get the address on another node meanwhile.
      ...(service.ledger.isShared ? [mustStay('lease', leaseKey(key), lease)] : []),
    ],
  }
}

/** Takes a reservation back; a lease that uses it stays. Throws IPK_RESERVATION_MISSING. */
export async function unreserve(service: LeaseService, segment: string, address: string): Promise<void> {
  const { key } = readLeaseKey(segment, address)
  await commitPlan(service.ledger, () => {
    const before = service.ledger.reservation(key)
    if (!before) {
      service.ledger.expectHeard()
      throw new Problem('IPK_RESERVATION_MISSING', `${key.address} is not reserved in segment ${segment}`)
    }
    return { change: planUnreservation(key, before) }
  })
}

export const planUnreservation = (key: LeaseKey, { generation }: ReservationRecord): Change => [
  { kind: 'reservation', key: leaseKey(key), expect: generation, record: null },
]

/** An address that an operator named: its key as records have it, and its number. */
export interface NamedAddress {
  readonly key: LeaseKey
  readonly address: Address
}

/** Throws IPK_REQUEST_INVALID for what is no segment, IPK_ADDRESS_INVALID for what is no single address. */
export function readLeaseKey(segment: string, text: string): NamedAddress {
  if (!isSegmentName(segment)) {
    throw new Problem('IPK_REQUEST_INVALID', `segment "${segment}" is no name of letters, digits and "-"`, {
      hint: 'name the "ipam.segment" of the conflist, or leave it away',
    })
  }
  const address = parseAddress(text)
  if (!address) {
    throw new Problem('IPK_ADDRESS_INVALID', `"${text}" is no IP address`, {
      hint: 'write one address, such as 10.22.0.50 or fd00:22::50, without "/prefix"',
    })
  }
  return { key: { segment, address: formatAddress(address) }, address }
}
