import type { RangeSetUsage } from '../../ipam/pools/usage.ts'
import type { PoolStatus } from '../../store/pool-status-sink.ts'

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

/** The figures of each pool, by its name, from those of its range sets. */
export function poolStatuses(rangeSets: readonly RangeSetUsage[]): ReadonlyMap<string, PoolStatus> {
  return new Map(
    [...Map.groupBy(rangeSets, ({ pool }) => pool)].map(([pool, sets]) => {
      const [capacity, used, held, free] = (['capacity', 'used', 'held', 'free'] as const).map(key =>
        sum(sets.map(set => set[key])),
      ) as [bigint, bigint, bigint, bigint]
      const exhausted = sets.filter(set => set.free <= 0n).map(({ rangeSet }) => rangeSet)
      return [pool, { capacity, used, held, free, ratio: `${used}/${capacity}`, exhausted }]
    }),
  )
}

export function samePoolStatus(a: PoolStatus | undefined, b: PoolStatus): boolean {
  return (
    a?.capacity === b.capacity &&
    a.used === b.used &&
    a.held === b.held &&
    a.exhausted.join() === b.exhausted.join()
  )
}
