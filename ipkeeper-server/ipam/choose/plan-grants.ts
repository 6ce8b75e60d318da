import { formatAddress, type Address } from '../../../shared/net/address.ts'
import type { AddRequest } from '../request/add-request.ts'
import { chooseAddress, isFree, isToMove, mayInherit, whyInherited } from './choose-address.ts'
import { claimProblem, requestProblem } from './claim-problems.ts'
import { isDrained } from './draining.ts'
import { beginningOf, type Offer, type Slot } from './offers.ts'
import { pickCandidate } from './plan-candidates.ts'
import { receives, whyReceived } from './promised-address.ts'
import { rangeOf, usableIn, type Range } from '../pools/pool.ts'
import type { AddContext } from './add-context.ts'
import { describeHolder, holderKey, isReservedFor, leaseKey } from '../records/records.ts'
import { retains } from '../records/retention.ts'
import type { AddressRequest, CandidateList } from '../request/request.ts'

/** One address of an ADD, before it becomes a record. */
export interface Grant {
  readonly slot: Slot
  readonly address: Address
  readonly range: Range
  /** Asked for by name, not chosen. */
  readonly named: boolean
  /** Which channel asked; "reservation", "workload", "kept" or "dynamic" when none did. */
  readonly source: string
  readonly reason: string
}

/** Matches requested addresses to slots: each takes the first request that lies in one of its ranges. */
function assignRequests(request: AddRequest, offer: Offer): ReadonlyMap<Slot, AddressRequest> {
  const assigned = new Map<Slot, AddressRequest>()
  const open = [...request.pod.addresses]
  for (const slot of offer) {
    const position = open.findIndex(asked => rangeOf(slot.set, asked.address))
    const asked = open[position]
    if (!asked) continue
    open.splice(position, 1)
    assigned.set(slot, asked)
  }
  const [unplaced] = open
  if (unplaced)
    throw requestProblem.outside(
      offer.map(({ pool }) => pool),
      open,
      unplaced,
    )
  return assigned
}

/** The slot that a list of candidates is for: the one whose ranges hold its first address. */
function assignCandidates(
  request: AddRequest,
  offer: Offer,
  asked: ReadonlyMap<Slot, AddressRequest>,
): ReadonlyMap<Slot, CandidateList> {
  return new Map(
    request.pod.candidates.flatMap(list =>
      beginningOf(list).map(({ address, source }) => {
        const slot = offer.find(candidate => rangeOf(candidate.set, address) && !asked.has(candidate))
        if (!slot) {
          throw requestProblem.outsideAll(
            offer.map(({ pool }) => pool),
            { address, source },
          )
        }
        return [slot, list] as const
      }),
    ),
  )
}

/** An address that was asked for by name: that one, or the problem that names who has it. `reason`: that of a candidate. */
function grantByName(
  context: AddContext,
  slot: Slot,
  asked: AddressRequest,
  reason: string | undefined,
): Grant {
  const { book, request, terms, workload, takeover } = context
  const { pool, rangeSet } = slot
  const range = rangeOf(slot.set, asked.address)
  if (!range) throw requestProblem.outside([pool], [asked], asked)
  const unusable = requestProblem.unusable(range, rangeSet, asked)
  if (unusable) throw unusable
  const own = terms.own.find(asked.address)
  if (own) throw claimProblem.ofNode(pool, rangeSet, asked, own, request.node)
  const key = { segment: pool.segment, address: formatAddress(asked.address) }
  const reservation = book.reservation(key)
  if (reservation && !isReservedFor(reservation, request.holder, workload)) {
    throw claimProblem.reserved(pool, rangeSet, asked, reservation)
  }
  const lease = book.lease(key)
  const inherits = lease !== undefined && mayInherit(lease, context)
  const isMoved = lease !== undefined && receives(lease, context)
  if (lease && !isFree(lease, terms.now) && !takeover.mayTake(lease) && !inherits && !isMoved) {
    const attachment = lease.attachment && book.attachment(lease.attachment)
    const judged = { standing: takeover.standing(lease), byTime: takeover.byTime(lease) }
    throw attachment && holderKey(lease.holder) === holderKey(request.holder)
      ? claimProblem.holderLive(request, attachment, [lease], judged)
      : claimProblem.held({ pool, rangeSet, asked }, lease, { holder: request.holder, workload }, judged)
  }
  if (isDrained(context, slot, asked.address)) throw claimProblem.draining(slot.pool, rangeSet, asked)
  const { source } = asked
  const why = isMoved
    ? whyReceived(lease, context)
    : inherits && lease.state === 'bound' && whyInherited(lease, takeover)
  const plain = why ? `${source}; ${why}` : source
  return { slot, address: asked.address, range, named: true, source, reason: reason ?? plain }
}

/**
 * The first of the holder's own movable addresses that lies in the range set and is not granted yet. One whose time was
 * over may have been reserved for another owner since.
 */
function grantKept(
  { book, request, terms, workload, takeover }: AddContext,
  slot: Slot,
  granted: ReadonlySet<string>,
): Grant | undefined {
  const { holder } = request
  for (const lease of takeover.movable) {
    if (lease.segment !== slot.pool.segment || granted.has(leaseKey(lease))) continue
    const place = usableIn(slot.set, lease.address)
    const reservation = book.reservation(lease)
    if (!place || (reservation && !isReservedFor(reservation, holder, workload))) continue
    const own = terms.own.find(place.address)
    if (own) {
      // Only a pod that was not promised this address is served with another one.
      if (!lease.named && !retains(lease.retain) && !reservation) continue
      throw claimProblem.keptOfNode(slot.pool, lease, own, request.node)
    }
    return { slot, ...place, named: false, source: 'kept', reason: `kept for ${describeHolder(holder)}` }
  }
  return undefined
}

/** A gateway that an annotation names has to be the one the pod gets. */
function checkGateways({ pod }: AddRequest, grants: readonly Grant[]): void {
  for (const claim of pod.gateways) {
    const own = grants.filter(({ range }) => range.family === claim.address.family)
    if (own.some(({ range }) => range.gateway.value === claim.address.value)) continue
    throw requestProblem.gateway(
      claim,
      own.map(({ slot, range }) => ({ pool: slot.pool, range })),
    )
  }
}

/**
 * One address for every slot of an offer: the one asked for, one of the candidates, the holder's own, else a choice.
 * Throws the problem that the runtime is to show when any of them cannot be had: all or nothing.
 */
export function planGrants(context: AddContext, offer: Offer): readonly Grant[] {
  const { book, request, terms } = context
  const wishes = assignRequests(request, offer)
  const lists = assignCandidates(request, offer, wishes)
  const granted = new Set<string>()
  let paired: bigint | undefined
  const grants = offer.map((slot): Grant => {
    const wish = wishes.get(slot)
    if (wish) return grantByName(context, slot, wish, undefined)
    const list = lists.get(slot)
    if (list) {
      const picked = pickCandidate(context, slot, list, paired)
      paired ??= picked.index
      return grantByName(context, slot, picked.asked, picked.reason)
    }
    const kept = grantKept(context, slot, granted)
    if (kept && !isToMove(slot, { address: formatAddress(kept.address) }, context)) {
      granted.add(leaseKey({ segment: slot.pool.segment, address: formatAddress(kept.address) }))
      return kept
    }
    const choice = chooseAddress(slot, context)
    if (!choice && slot.set.every(({ draining }) => draining))
      throw claimProblem.drained(slot.pool, slot.rangeSet)
    if (!choice) throw claimProblem.poolFull(book, slot.pool, slot.rangeSet, terms.now)
    return { slot, ...choice, named: false }
  })
  checkGateways(request, grants)
  return grants
}
