import { type Address, formatAddress } from '../../../shared/net/address.ts'
import { rangeOf, type Interval, type RangeSet } from '../pools/pool.ts'
import type { CandidateList, AddressRequest, CandidateRun } from './request.ts'
import type { AddressRun } from './parse-addresses.ts'

/** A candidate that the pool can give: its place in the list counts such ones only. */
export interface Candidate {
  readonly address: Address
  readonly index: bigint
  readonly prefixLength?: number
}

/** A run of candidates that the pool can give, with the place of its first one. */
export interface UsableRun extends Interval {
  readonly start: bigint
  readonly prefixLength?: number
}

/** The first candidate that lies in no range of the set; undefined when all do. */
export function firstOutside(set: RangeSet, list: CandidateList): Address | undefined {
  for (const run of list.runs) {
    // Ranges of a set are disjoint: walk from one range's end to the next.
    for (let value = run.first; value <= run.last;) {
      const range = rangeOf(set, { family: list.family, value })
      if (!range) return { family: list.family, value }
      value = range.last.value + 1n
    }
  }
  return undefined
}

/**
 * The candidates that a range set can give, in the order they were written: what is excluded, a gateway, a network or
 * broadcast address falls away. Runs, not addresses: a list may be a /48.
 */
export function usableRuns(set: RangeSet, list: CandidateList): readonly UsableRun[] {
  const runs: UsableRun[] = []
  let start = 0n
  for (const run of list.runs) {
    const pieces = set
      .filter(range => range.family === list.family)
      .flatMap(range => range.usable)
      .map(usable => ({
        first: usable.first > run.first ? usable.first : run.first,
        last: usable.last < run.last ? usable.last : run.last,
      }))
      .filter(piece => piece.first <= piece.last)
      .sort((a, b) => (a.first < b.first ? -1 : 1))
    for (const piece of pieces) {
      runs.push({
        ...piece,
        start,
        ...(run.prefixLength !== undefined && { prefixLength: run.prefixLength }),
      })
      start += piece.last - piece.first + 1n
    }
  }
  return runs
}

export function countOf(runs: readonly UsableRun[]): bigint {
  const last = runs.at(-1)
  return last ? last.start + (last.last - last.first + 1n) : 0n
}

/** The candidate at a place, from 0; undefined beyond the list. */
export function candidateAt(
  family: CandidateList['family'],
  runs: readonly UsableRun[],
  index: bigint,
): Candidate | undefined {
  const run = runs.find(({ start, first, last }) => start <= index && index <= start + (last - first))
  if (!run || index < 0n) return undefined
  const { prefixLength } = run
  const value = run.first + (index - run.start)
  return { address: { family, value }, index, ...(prefixLength !== undefined && { prefixLength }) }
}

/** All of them, one after the other. */
export function* candidatesOf(
  family: CandidateList['family'],
  runs: readonly UsableRun[],
): Generator<Candidate, undefined> {
  for (const { first, last, start, prefixLength } of runs) {
    for (let value = first; value <= last; value++) {
      yield {
        address: { family, value },
        index: start + (value - first),
        ...(prefixLength !== undefined && { prefixLength }),
      }
    }
  }
}

/** The place of an address in the list; undefined when it is none of them. */
export function placeOf(runs: readonly UsableRun[], { value }: Address): bigint | undefined {
  const run = runs.find(({ first, last }) => first <= value && value <= last)
  return run && run.start + (value - run.first)
}

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
