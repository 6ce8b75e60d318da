import { formatAddress, parseAddress, type Address } from '../../../shared/net/address.ts'
import {
  candidateAt,
  candidatesOf,
  countOf,
  firstOutside,
  placeOf,
  usableRuns,
  type Candidate,
  type UsableRun,
} from '../request/candidates.ts'
import { inheritable, isFree, mayInherit, openReservations, whyInherited } from './choose-address.ts'
import { candidateProblem, describeTaken, requestProblem, type TakenAddress } from './claim-problems.ts'
import { receives } from './promised-address.ts'
import { drainedRuns, isDrained } from './draining.ts'
import type { Slot } from './offers.ts'
import { rangeOf, without, type Pool, type RangeSet } from '../pools/pool.ts'
import type { AddContext } from './add-context.ts'
import { isReservedFor, type LeaseKey } from '../records/records.ts'
import type { AddressRequest, CandidateList } from '../request/request.ts'
import { ordinalOf } from '../records/workload.ts'

/** A candidate that was picked, as a request by name; `index` is its place in the list. */
export interface Picked {
  readonly asked: AddressRequest
  readonly index: bigint
  readonly reason: string
}

/** How many of the candidates that were passed over an explanation names. */
const mostPassedOver = 20

function asRequest(
  { source }: CandidateList,
  { address, prefixLength }: Candidate,
  how = '',
): AddressRequest {
  const prefix = prefixLength !== undefined && { prefixLength }
  return { address, ...prefix, source: `${source}${how}`, channel: 'annotation' }
}

/** As much of a slot as a list has to do with, whoever it is for. */
export type ListSlot = Pick<Slot, 'pool' | 'set' | 'rangeSet'>

/**
 * What is wrong with a list, whoever it is for: every candidate has to be in the range set, and one that is listed by itself
 * has to be one that it can give; of a range or block, the others fall away.
 */
function checkList({ set, rangeSet }: ListSlot, list: CandidateList): void {
  for (const { first, last, prefixLength } of list.runs) {
    const address: Address = { family: list.family, value: first }
    const range = first === last ? rangeOf(set, address) : undefined
    const prefix = prefixLength !== undefined && { prefixLength }
    const unusable =
      range &&
      requestProblem.unusable(range, rangeSet, {
        address,
        ...prefix,
        source: list.source,
        channel: 'annotation',
      })
    if (unusable) throw unusable
  }
}

/**
 * The candidates of a list that a range set can give: at least one.
 *
 * @throws Problem IPK_ADDRESS_OUTSIDE, IPK_ADDRESS_UNUSABLE, IPK_PREFIX_MISMATCH: what is wrong with it, whoever it is for
 */
export function usableCandidates(
  slot: ListSlot,
  list: CandidateList,
): { readonly runs: readonly UsableRun[]; readonly count: bigint } {
  const { pool, set } = slot
  checkList(slot, list)
  const outside = firstOutside(set, list)
  if (outside) throw requestProblem.outsideAll([pool], { address: outside, source: list.source })
  const runs = usableRuns(set, list)
  const count = countOf(runs)
  if (count === 0n) throw candidateProblem.none(pool, list)
  return { runs, count }
}

/** A list in a range set, and the pod that gets one of its candidates. */
interface Search {
  readonly context: AddContext
  readonly pool: Pool
  readonly set: RangeSet
  readonly list: CandidateList
  readonly runs: readonly UsableRun[]
  readonly count: bigint
  /** The place that the pod's other family got. */
  readonly paired: bigint | undefined
}

const candidateIn = ({ list, runs }: Search, index: bigint): Candidate | undefined =>
  candidateAt(list.family, runs, index)

/** The candidate that a record speaks of. */
function candidateOf(search: Search, { segment, address: text }: LeaseKey): Candidate | undefined {
  const { pool, list, runs } = search
  const address = segment === pool.segment ? parseAddress(text) : undefined
  const index = address?.family === list.family ? placeOf(runs, address) : undefined
  return index === undefined ? undefined : candidateIn(search, index)
}

const pick = ({ list }: Search, candidate: Candidate, why: string): Picked => ({
  asked: asRequest(list, candidate),
  index: candidate.index,
  reason: `${list.source}: ${why}`,
})

/**
 * What is in the way of a candidate; undefined when it can be had. A reservation comes first, as for a request by name:
 * it stays in the way when the lease has ended, so that waiting for that would not help.
 */
function obstacleTo({ context, pool, set }: Search, address: Address): TakenAddress | undefined {
  const { book, request, terms, workload, takeover } = context
  const own = terms.own.find(address)
  if (own) return { address, own }
  const key = { segment: pool.segment, address: formatAddress(address) }
  const reservation = book.reservation(key)
  if (reservation && !isReservedFor(reservation, request.holder, workload)) return { address, reservation }
  const lease = book.lease(key)
  if (isDrained(context, { pool, set }, address) && (!lease || isFree(lease, terms.now)))
    return { address, drains: true }
  const canBeHad =
    !lease ||
    isFree(lease, terms.now) ||
    takeover.mayTake(lease) ||
    mayInherit(lease, context) ||
    receives(lease, context)
  return canBeHad ? undefined : { address, lease, standing: takeover.standing(lease) }
}

const isOpen = (search: Search, candidate: Candidate | undefined): candidate is Candidate =>
  candidate !== undefined && obstacleTo(search, candidate.address) === undefined

function notePassedOver(search: Search, before: bigint): void {
  const { trace } = search.context
  if (!trace) return
  let noted = 0
  for (const { address, index } of candidatesOf(search.list.family, search.runs)) {
    if (index >= before || noted === mostPassedOver) return
    const obstacle = obstacleTo(search, address)
    if (obstacle === undefined) continue
    noted++
    const text = describeTaken(obstacle)
    trace.push({ about: 'address', subject: formatAddress(address), verdict: 'dropped', text })
  }
}

/** A StatefulSet's pod gets the one at its ordinal, whoever has it: the caller then finds out. */
function atOrdinal(search: Search): Picked | undefined {
  const { list, count } = search
  const { request, trace } = search.context
  const place = ordinalOf(request.holder, request.owner)
  if (!place) return undefined
  const { ordinal, index } = place
  const candidate = candidateIn(search, BigInt(index))
  if (!candidate) throw candidateProblem.beyond(request, list, place, count)
  const start = ordinal - index
  const how = ` (ordinal ${ordinal}${start === 0 ? '' : `, start ${start}`})`
  const text = `candidate ${index} of ${count} for ordinal ${ordinal}${start === 0 ? '' : ` with start ${start}`}`
  trace?.push({ about: 'workload', subject: formatAddress(candidate.address), verdict: 'chosen', text })
  return {
    asked: asRequest(list, candidate, how),
    index: candidate.index,
    reason: `${list.source}: ${text}`,
  }
}

function hadAlready(search: Search): Picked | undefined {
  const candidate = search.context.takeover.movable
    .map(lease => candidateOf(search, lease))
    .find(found => isOpen(search, found))
  return candidate && pick(search, candidate, 'the one this pod had')
}

/** Pods of both families have one place in both lists, as long as nothing is in the way. */
function besideOtherFamily(search: Search): Picked | undefined {
  const pair = search.paired === undefined ? undefined : candidateIn(search, search.paired)
  return isOpen(search, pair) ? pick(search, pair, 'the one beside that of the other family') : undefined
}

function reserved(search: Search): Picked | undefined {
  const { own } = search.context.terms
  for (const reservation of openReservations(search.context)) {
    const candidate = candidateOf(search, reservation)
    if (!candidate || own.find(candidate.address)) continue
    const whose = reservation.kind === undefined ? 'pod' : 'workload'
    return pick(search, candidate, `the one reserved for this ${whose}`)
  }
  return undefined
}

function inherited(search: Search): Picked | undefined {
  const { context } = search
  for (const lease of inheritable(context)) {
    const candidate = candidateOf(search, lease)
    if (isOpen(search, candidate)) return pick(search, candidate, whyInherited(lease, context.takeover))
  }
  return undefined
}

function neverUsed(search: Search): Picked | undefined {
  const { pool, set, list, runs, count } = search
  const { book, terms } = search.context
  for (const run of runs) {
    const address = without(run, drainedRuns(set))
      .flatMap(part => terms.own.leftOf(list.family, part))
      .map(part => book.lowestFree(pool.segment, list.family, part))
      .find(found => found !== undefined)
    const candidate = address && candidateIn(search, run.start + (address.value - run.first))
    if (!candidate) continue
    notePassedOver(search, candidate.index)
    return pick(search, candidate, `first free of ${count} candidates`)
  }
  return undefined
}

/**
 * The first that is cooling down, else one of a sandbox that is only proved gone. Every candidate is in the book by now, so
 * that there are no more of them than records.
 *
 * @throws Problem IPK_CANDIDATES_BUSY, IPK_CANDIDATES_TAKEN
 */
function coolingDown(search: Search): Picked {
  const { context, pool, list, runs, count } = search
  const { book, workload, takeover } = context
  const taken: TakenAddress[] = []
  let left: Picked | undefined
  for (const candidate of candidatesOf(list.family, runs)) {
    const obstacle = obstacleTo(search, candidate.address)
    const lease = book.lease({ segment: pool.segment, address: formatAddress(candidate.address) })
    if (obstacle) taken.push(obstacle)
    else if (lease && mayInherit(lease, context))
      left ??= pick(search, candidate, whyInherited(lease, takeover))
    else {
      notePassedOver(search, candidate.index)
      return pick(search, candidate, `first of ${count} candidates that is only cooling down`)
    }
  }
  notePassedOver(search, count)
  if (left) return left
  throw candidateProblem.taken(list, taken, workload, takeover.byTime)
}

/** The ways to a candidate, in their order: the first that leads to one decides. */
const ways: readonly ((search: Search) => Picked | undefined)[] = [
  atOrdinal,
  hadAlready,
  besideOtherFamily,
  reserved,
  inherited,
  neverUsed,
]

/**
 * Which of its candidates a pod gets in a range set.
 *
 * @param paired the place that its other family got
 * @throws Problem IPK_ADDRESS_OUTSIDE, IPK_ADDRESS_UNUSABLE, IPK_PREFIX_MISMATCH, IPK_ORDINAL_BEYOND_LIST,
 *   IPK_CANDIDATES_BUSY, IPK_CANDIDATES_TAKEN
 */
export function pickCandidate(
  context: AddContext,
  slot: Slot,
  list: CandidateList,
  paired: bigint | undefined,
): Picked {
  const { pool, set } = slot
  const search: Search = { context, pool, set, list, paired, ...usableCandidates(slot, list) }
  for (const way of ways) {
    const picked = way(search)
    if (picked) return picked
  }
  return coolingDown(search)
}
