import { formatAddress, type Address } from '../../shared/net/address.ts'
import type { AddRequest } from './add-request.ts'
import type { AddressBook } from './address-book.ts'
import { chooseAddress } from './choose-address.ts'
import { claimProblem, requestProblem } from './claim-problems.ts'
import type { Takeover } from './plan-takeover.ts'
import { rangeOf, usableIn, type Range, type RangeSet } from './pool.ts'
import type { AddressRequest } from './request.ts'
import {
  describeHolder,
  holderKey,
  isOver,
  leaseKey,
  type Holder,
  type ReservationRecord,
} from './records.ts'

/** One address of an ADD, before it becomes a record. */
export interface Grant {
  readonly address: Address
  readonly range: Range
  readonly rangeSet: number
  /** Asked for by name, not chosen. */
  readonly named: boolean
  /** Which channel asked; "reservation", "kept" or "dynamic" when nobody did. */
  readonly source: string
  readonly reason: string
}

interface Wish {
  readonly range: Range
  readonly asked: AddressRequest
}

/** Matches requested addresses to range sets: each set takes the first request that lies in one of its ranges. */
function assignRequests(request: AddRequest): ReadonlyMap<number, Wish> {
  const assigned = new Map<number, Wish>()
  const open = [...request.pod.addresses]
  request.pool.rangeSets.forEach((set, index) => {
    const position = open.findIndex(asked => rangeOf(set, asked.address))
    const asked = open[position]
    const range = asked && rangeOf(set, asked.address)
    if (!asked || !range) return
    open.splice(position, 1)
    assigned.set(index, { range, asked })
  })
  const [unplaced] = open
  if (unplaced) throw requestProblem.outside(request.pool, open, unplaced)
  return assigned
}

function isFor(reservation: ReservationRecord, holder: Holder): boolean {
  return (
    holder.kind === 'pod' && holder.namespace === reservation.namespace && holder.name === reservation.name
  )
}

/** An address that was asked for by name: that one, or the problem that names who has it. */
function grantByName(
  book: AddressBook,
  request: AddRequest,
  takeover: Takeover,
  rangeSet: number,
  { range, asked }: Wish,
  now: number,
): Grant {
  const unusable = requestProblem.unusable(range, rangeSet, asked)
  if (unusable) throw unusable
  const key = { segment: request.pool.segment, address: formatAddress(asked.address) }
  const reservation = book.reservation(key)
  if (reservation && !isFor(reservation, request.holder)) {
    throw claimProblem.reserved(request.pool, rangeSet, asked, reservation)
  }
  const lease = book.lease(key)
  if (lease && lease.state !== 'cooling' && !isOver(lease, now) && !takeover.mayTake(lease)) {
    const attachment = lease.attachment && book.attachment(lease.attachment)
    throw attachment && holderKey(lease.holder) === holderKey(request.holder)
      ? claimProblem.holderLive(request, attachment, [lease])
      : claimProblem.held(request.pool, rangeSet, asked, lease)
  }
  return { address: asked.address, range, rangeSet, named: true, source: asked.source, reason: asked.source }
}

/** The first of the holder's own movable addresses that lies in the range set and is not granted yet. */
function grantKept(
  request: AddRequest,
  takeover: Takeover,
  rangeSet: number,
  set: RangeSet,
  granted: ReadonlySet<string>,
): Grant | undefined {
  for (const lease of takeover.movable) {
    if (lease.segment !== request.pool.segment || granted.has(leaseKey(lease))) continue
    const place = usableIn(set, lease.address)
    if (!place) continue
    const reason = `kept for ${describeHolder(request.holder)}`
    return { ...place, rangeSet, named: false, source: 'kept', reason }
  }
  return undefined
}

/**
 * One address for every range set: the one asked for, else the holder's own, else a choice. Throws the problem that the
 * runtime is to show when any of them cannot be had: all or nothing.
 */
export function planGrants(
  book: AddressBook,
  request: AddRequest,
  takeover: Takeover,
  now: number,
): readonly Grant[] {
  const { pool, holder } = request
  const wishes = assignRequests(request)
  const granted = new Set<string>()
  return pool.rangeSets.map((set, rangeSet): Grant => {
    const wish = wishes.get(rangeSet)
    if (wish) return grantByName(book, request, takeover, rangeSet, wish, now)
    const kept = grantKept(request, takeover, rangeSet, set, granted)
    if (kept) {
      granted.add(leaseKey({ segment: pool.segment, address: formatAddress(kept.address) }))
      return kept
    }
    const choice = chooseAddress(book, pool, rangeSet, holder, now)
    if (!choice) throw claimProblem.poolFull(book, pool, rangeSet, now)
    return { ...choice, rangeSet, named: false }
  })
}
