import { formatAddress, type Address } from '../../../shared/net/address.ts'
import type { AddressRun } from './parse-address-list.ts'
import type { AddressRequest, CandidateList, CandidateRun } from './request.ts'

/** One list per family that the runs have, in their order; families in the order of their first run. */
export function candidateLists(runs: readonly AddressRun[], source: string): CandidateList[] {
  return [...new Set(runs.map(run => run.family))].map(family => ({
    family,
    runs: runs
      .filter(run => run.family === family)
      .map(({ first, last, prefixLength }) => ({
        first,
        last,
        ...(prefixLength !== undefined && { prefixLength }),
      })),
    source,
  }))
}

/** The run of a list that has the address. */
function runWith(list: CandidateList, address: Address): CandidateRun | undefined {
  if (list.family !== address.family) return undefined
  return list.runs.find(run => run.first <= address.value && address.value <= run.last)
}

/**
 * A request for one of the candidates, with the prefix length that either names; undefined when the list does not have the
 * address, or names another prefix length.
 */
export function requestWithin(list: CandidateList, request: AddressRequest): AddressRequest | undefined {
  const run = runWith(list, request.address)
  if (!run) return undefined
  const prefixLength = request.prefixLength ?? run.prefixLength
  if (prefixLength === undefined) return request
  return run.prefixLength === undefined || run.prefixLength === prefixLength
    ? { ...request, prefixLength }
    : undefined
}

/** Runs that follow each other without a gap made one: lists that name the same addresses in the same order look alike. */
function joined(list: CandidateList): CandidateRun[] {
  const runs: { first: bigint; last: bigint }[] = []
  for (const { first, last } of list.runs) {
    const previous = runs.at(-1)
    if (previous && previous.last + 1n === first) previous.last = last
    else runs.push({ first, last })
  }
  return runs
}

/** Whether two lists name the same addresses in the same order, however they are written. */
export function sameCandidates(a: CandidateList, b: CandidateList): boolean {
  const [left, right] = [joined(a), joined(b)]
  return (
    a.family === b.family &&
    left.length === right.length &&
    left.every((run, index) => run.first === right[index]?.first && run.last === right[index].last)
  )
}

/** "10.22.0.50-10.22.0.52, 10.22.0.60/16": ranges in one spelling, whatever they were written in. */
export function formatCandidates({ family, runs }: CandidateList): string {
  const show = (value: bigint): string => formatAddress({ family, value })
  return runs
    .map(({ first, last, prefixLength }) => {
      if (first !== last) return `${show(first)}-${show(last)}`
      return prefixLength === undefined ? show(first) : `${show(first)}/${prefixLength}`
    })
    .join(', ')
}
