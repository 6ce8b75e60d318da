import { formatAddress, parseAddress, type Address } from '../../../shared/net/address.ts'
import type { AddRequest } from '../request/add-request.ts'
import type { AddressBook } from '../pools/address-book.ts'
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
import {
  inheritable,
  isFree,
  mayInherit,
  openReservations,
  whyInherited,
  type Chooser,
} from './choose-address.ts'
import { candidateProblem, describeTaken, requestProblem, type TakenAddress } from './claim-problems.ts'
import type { Slot } from './offers.ts'
import type { Takeover } from './plan-takeover.ts'
import { rangeOf } from '../pools/pool.ts'
import type { Trace } from './reasons.ts'
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

/**
 * Which of its candidates a pod gets in a range set. A StatefulSet's pod gets the one at its ordinal, whoever has it (the
 * caller then finds out). Any other pod gets the first of these: the one it has already; the one at `paired`, the place
 * that its other family got; one reserved for it or its workload; one kept for its workload; the first that nobody has;
 * the first that rests.
 *
 * @throws Problem IPK_ADDRESS_OUTSIDE, IPK_ADDRESS_UNUSABLE, IPK_PREFIX_MISMATCH, IPK_ORDINAL_BEYOND_LIST,
 *   IPK_CANDIDATES_BUSY, IPK_CANDIDATES_TAKEN
 */
export function pickCandidate(
  book: AddressBook,
  request: AddRequest,
  takeover: Takeover,
  slot: Slot,
  list: CandidateList,
  chooser: Chooser,
  paired: bigint | undefined,
  trace: Trace | undefined,
): Picked {
  const { pool } = slot
  const { runs, count } = usableCandidates(slot, list)
  const place = ordinalOf(request.holder, request.owner)
  if (place) {
    const { ordinal, index } = place
    const candidate = candidateAt(list.family, runs, BigInt(index))
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

  /**
   * What is in the way of the candidate; undefined when it can be had. A reservation comes first, as for a request by name:
   * it stays in the way when the lease has ended, so that waiting for that would not help.
   */
  const takenBy = (address: Address): TakenAddress | undefined => {
    const own = chooser.own.find(address)
    if (own) return { address, own }
    const key = { segment: pool.segment, address: formatAddress(address) }
    const reservation = book.reservation(key)
    if (reservation && !isReservedFor(reservation, request.holder, chooser.workload))
      return { address, reservation }
    const lease = book.lease(key)
    const canBeHad =
      !lease || isFree(lease, chooser.now) || takeover.mayTake(lease) || mayInherit(lease, chooser)
    return canBeHad ? undefined : { address, lease, standing: takeover.standing(lease) }
  }
  const pick = (candidate: Candidate, why: string): Picked => ({
    asked: asRequest(list, candidate),
    index: candidate.index,
    reason: `${list.source}: ${why}`,
  })
  const at = (index: bigint): Candidate | undefined => candidateAt(list.family, runs, index)
  /** The candidate that a record speaks of. */
  const candidateOf = ({ segment, address: text }: LeaseKey): Candidate | undefined => {
    const address = segment === pool.segment ? parseAddress(text) : undefined
    const index = address?.family === list.family ? placeOf(runs, address) : undefined
    return index === undefined ? undefined : at(index)
  }

  for (const lease of takeover.movable) {
    const candidate = candidateOf(lease)
    if (candidate && takenBy(candidate.address) === undefined) return pick(candidate, 'the one this pod had')
  }
  const pair = paired === undefined ? undefined : at(paired)
  if (pair && takenBy(pair.address) === undefined)
    return pick(pair, 'the one beside that of the other family')
  for (const reservation of openReservations(book, chooser)) {
    const candidate = candidateOf(reservation)
    if (!candidate || chooser.own.find(candidate.address)) continue
    const whose = reservation.kind === undefined ? 'pod' : 'workload'
    return pick(candidate, `the one reserved for this ${whose}`)
  }
  for (const lease of inheritable(book, chooser)) {
    const candidate = candidateOf(lease)
    if (candidate && takenBy(candidate.address) === undefined)
      return pick(candidate, whyInherited(lease, chooser))
  }
  for (const run of runs) {
    const address = chooser.own
      .leftOf(list.family, run)
      .map(part => book.lowestFree(pool.segment, list.family, part))
      .find(found => found !== undefined)
    const candidate = address && at(run.start + (address.value - run.first))
    if (!candidate) continue
    notePassedOver(candidate.index)
    return pick(candidate, `first free of ${count} candidates`)
  }
  // All are in the book: so there are no more of them than records.
  const taken: TakenAddress[] = []
  const left: Picked[] = []
  for (const candidate of candidatesOf(list.family, runs)) {
    const obstacle = takenBy(candidate.address)
    const lease = book.lease({ segment: pool.segment, address: formatAddress(candidate.address) })
    if (obstacle) taken.push(obstacle)
    else if (lease && mayInherit(lease, chooser)) left.push(pick(candidate, whyInherited(lease, chooser)))
    else {
      notePassedOver(candidate.index)
      return pick(candidate, `first of ${count} candidates that only rests`)
    }
  }
  notePassedOver(count)
  // Of a sandbox that is only proved gone, once nothing else is to be had.
  if (left[0]) return left[0]
  throw candidateProblem.taken(list, taken, chooser.workload, takeover.byTime)

  function notePassedOver(before: bigint): void {
    if (!trace) return
    let noted = 0
    for (const { address, index } of candidatesOf(list.family, runs)) {
      if (index >= before || noted === mostPassedOver) return
      const obstacle = takenBy(address)
      if (obstacle === undefined) continue
      noted++
      const text = describeTaken(obstacle)
      trace.push({ about: 'address', subject: formatAddress(address), verdict: 'dropped', text })
    }
  }
}
