import { formatAddress, type Address } from '../../shared/net/address.ts'
import type { AddRequest } from './add-request.ts'
import type { AddressBook } from './address-book.ts'
import {
  candidateAt,
  candidatesOf,
  countOf,
  firstOutside,
  placeOf,
  usableRuns,
  type Candidate,
} from './candidates.ts'
import { isFree, mayInherit, type Chooser } from './choose-address.ts'
import { candidateProblem, describeTaken, requestProblem } from './claim-problems.ts'
import type { Slot } from './offers.ts'
import type { Takeover } from './plan-takeover.ts'
import { usableIn } from './pool.ts'
import type { Trace } from './reasons.ts'
import { isReservedFor } from './records.ts'
import type { AddressRequest, CandidateList } from './request.ts'
import { ordinalOf } from './workload.ts'

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

/**
 * Which of its candidates a pod gets in a range set. A StatefulSet's pod gets the one at its ordinal, whoever has it (the
 * caller then finds out); any other pod the one it has already, else the first that nobody has, with preference for
 * `paired`, the place that its other family got.
 *
 * @throws Problem IPK_ADDRESS_OUTSIDE, IPK_ORDINAL_BEYOND_LIST, IPK_CANDIDATES_BUSY, IPK_CANDIDATES_TAKEN
 */
export function pickCandidate(
  book: AddressBook,
  request: AddRequest,
  takeover: Takeover,
  { pool, set }: Slot,
  list: CandidateList,
  chooser: Chooser,
  paired: bigint | undefined,
  trace: Trace,
): Picked {
  const outside = firstOutside(set, list)
  if (outside) throw requestProblem.outsideAll([pool], { address: outside, source: list.source })
  const runs = usableRuns(set, list)
  const count = countOf(runs)
  if (count === 0n) throw candidateProblem.none(pool, list)

  const place = ordinalOf(request.holder, request.owner)
  if (place) {
    const { ordinal, index } = place
    const candidate = candidateAt(list.family, runs, BigInt(index))
    if (!candidate) throw candidateProblem.beyond(request, list, place, count)
    const start = ordinal - index
    const how = ` (ordinal ${ordinal}${start === 0 ? '' : `, start ${start}`})`
    const text = `candidate ${index} of ${count} for ordinal ${ordinal}${start === 0 ? '' : ` with start ${start}`}`
    trace.push({ about: 'workload', subject: formatAddress(candidate.address), verdict: 'chosen', text })
    return {
      asked: asRequest(list, candidate, how),
      index: candidate.index,
      reason: `${list.source}: ${text}`,
    }
  }

  /** Why the candidate cannot be had; undefined when it can. */
  const takenBy = (address: Address): string | undefined => {
    const key = { segment: pool.segment, address: formatAddress(address) }
    const reservation = book.reservation(key)
    if (reservation && !isReservedFor(reservation, request.holder, chooser.workload))
      return describeTaken.reserved(reservation)
    const lease = book.lease(key)
    if (!lease || isFree(lease, chooser.now) || takeover.mayTake(lease) || mayInherit(lease, chooser))
      return undefined
    return describeTaken.lease(lease)
  }
  const pick = (candidate: Candidate, why: string): Picked => ({
    asked: asRequest(list, candidate),
    index: candidate.index,
    reason: `${list.source}: ${why}`,
  })
  const at = (index: bigint): Candidate | undefined => candidateAt(list.family, runs, index)

  for (const lease of takeover.movable) {
    const own = lease.segment === pool.segment ? usableIn(set, lease.address) : undefined
    const candidate = own && at(placeOf(runs, own.address) ?? -1n)
    if (candidate) return pick(candidate, 'the one this pod had')
  }
  const pair = paired === undefined ? undefined : at(paired)
  if (pair && takenBy(pair.address) === undefined)
    return pick(pair, 'the one beside that of the other family')
  for (const run of runs) {
    const address = book.lowestFree(pool.segment, list.family, run)
    const candidate = address && at(placeOf(runs, address) ?? -1n)
    if (!candidate) continue
    notePassedOver(candidate.index)
    return pick(candidate, `first free of ${count} candidates`)
  }
  // All are in the book: so there are no more of them than records.
  for (const candidate of candidatesOf(list.family, runs)) {
    if (takenBy(candidate.address) !== undefined) continue
    notePassedOver(candidate.index)
    return pick(candidate, `first of ${count} candidates that is resting or kept for this workload`)
  }
  notePassedOver(count)
  const taken = [...candidatesOf(list.family, runs)].flatMap(
    ({ address }) => book.lease({ segment: pool.segment, address: formatAddress(address) }) ?? [],
  )
  throw candidateProblem.taken(list, count, taken, chooser.workload)

  function notePassedOver(before: bigint): void {
    let noted = 0
    for (const { address, index } of candidatesOf(list.family, runs)) {
      if (index >= before || noted === mostPassedOver) return
      const text = takenBy(address)
      if (text === undefined) continue
      noted++
      trace.push({ about: 'address', subject: formatAddress(address), verdict: 'dropped', text })
    }
  }
}
