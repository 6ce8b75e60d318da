import type { AddRequest } from '../request/add-request.ts'
import { countOf, usableRuns } from '../request/candidates.ts'
import type { PoolSettings } from '../pools/pool-settings.ts'
import { rangeOf, type RangeSet } from '../pools/pool.ts'
import type { CandidateList } from '../request/request.ts'
import { ordinalOf } from '../records/workload.ts'

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

/** A request that names fewer addresses than there are pods at once. */
export interface TooFew {
  /** Which request it is, such as "annotation ipkeeper.io/ips". */
  readonly source: string
  readonly short: bigint
  /** One line, and what to do about it. */
  readonly text: string
}

/**
 * Which requests of a workload's pods name fewer addresses than there are pods at once; empty when none does. The
 * ordinals of a StatefulSet are no matter of numbers: one beyond the list is an error of that pod.
 */
export function tooFewAddresses(
  { holder, owner, pod, inline }: Pick<AddRequest, 'holder' | 'owner' | 'pod' | 'inline'>,
  { pools }: { readonly pools: readonly Pick<PoolSettings, 'pool'>[] },
  { replicas, surge }: PodsAtOnce,
): readonly TooFew[] {
  const sets = [...(inline ? [inline] : []), ...pools.map(({ pool }) => pool)].flatMap(
    ({ rangeSets }) => rangeSets,
  )
  const named = [
    ...pod.addresses.map(({ source }) => ({ source, count: 1n })),
    ...(ordinalOf(holder, owner)
      ? []
      : pod.candidates.map(list => ({ source: list.source, count: usableCount(list, sets) }))),
  ]
  const most = BigInt(replicas + surge)
  const pods = surge === 0 ? `${most} pods` : `${most} pods (replicas ${replicas}, maxSurge ${surge})`
  return named
    .filter(({ count }) => count > 0n && count < most)
    .map(({ source, count }) => {
      const addresses = `${count} usable ${count === 1n ? 'address' : 'addresses'}`
      const so =
        count < BigInt(replicas)
          ? `the others get none: list ${most} with ipkeeper.io/ips`
          : 'a rollout can stall: list more, or set maxSurge 0 or strategy Recreate'
      return {
        source,
        short: most - count,
        text: `${source} names ${addresses} for up to ${pods} at once; ${so}`,
      }
    })
}
