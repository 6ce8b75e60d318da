import type { AddRequest } from './add-request.ts'
import { countOf, usableRuns } from './candidates.ts'
import type { PoolBook } from './pool-book.ts'
import { rangeOf, type RangeSet } from './pool.ts'
import type { CandidateList } from './request.ts'
import { ordinalOf } from './workload.ts'

/** How many pods of one workload there are at once: `surge` more of them during a rollout. */
export interface PodsAtOnce {
  readonly replicas: number
  readonly surge: number
}

/** How many of the candidates can be given to somebody. */
function usableCount(list: CandidateList, sets: readonly RangeSet[]): bigint {
  const [head] = list.runs
  const set = head && sets.find(ranges => rangeOf(ranges, { family: list.family, value: head.first }))
  return set ? countOf(usableRuns(set, list)) : 0n
}

/**
 * Says which request of a workload's pods names fewer addresses than there are pods at once, one line for each; empty when
 * none does. The ordinals of a StatefulSet are no matter of numbers: one beyond the list is an error of that pod.
 */
export function tooFewAddresses(
  { holder, owner, pod, inline }: AddRequest,
  { pools }: PoolBook,
  { replicas, surge }: PodsAtOnce,
): readonly string[] {
  const sets = [...(inline ? [inline] : []), ...pools.map(({ pool }) => pool)].flatMap(
    ({ rangeSets }) => rangeSets,
  )
  const named = [
    ...pod.addresses.map(({ source }) => ({ source, count: 1n })),
    ...(ordinalOf(holder, owner)
      ? []
      : pod.candidates.map(list => ({ source: list.source, count: usableCount(list, sets) }))),
  ]
  const most = replicas + surge
  const pods = surge === 0 ? `${most} pods` : `${most} pods (replicas ${replicas}, maxSurge ${surge})`
  return named
    .filter(({ count }) => count > 0n && count < BigInt(most))
    .map(({ source, count }) => {
      const addresses = `${count} usable ${count === 1n ? 'address' : 'addresses'}`
      const so =
        count < BigInt(replicas)
          ? `the others get none: list ${most} with ipkeeper.io/ips`
          : 'a rollout can stall: list more, or set maxSurge 0 or strategy Recreate'
      return `${source} names ${addresses} for up to ${pods} at once; ${so}`
    })
}
