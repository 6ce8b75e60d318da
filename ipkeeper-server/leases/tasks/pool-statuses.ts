import { byFamily, drainingOf, sumUsage, type RangeSetUsage } from '../../ipam/pools/usage.ts'
import type { PoolFigures, PoolStatus } from '../../store/pool-status-sink.ts'

function figuresOf(sets: readonly RangeSetUsage[]): PoolFigures {
  const { capacity, used, held, free } = sumUsage(sets)
  return { capacity, used, held, free, ratio: `${used}/${capacity}` }
}

/** The figures of each pool, by its name, from those of its range sets. */
export function poolStatuses(rangeSets: readonly RangeSetUsage[]): ReadonlyMap<string, PoolStatus> {
  return new Map(
    [...Map.groupBy(rangeSets, ({ pool }) => pool)].map(([pool, all]) => {
      const exhausted = all.filter(set => set.free <= 0n && !set.drains).map(({ rangeSet }) => rangeSet)
      const families = byFamily(all).map(({ family, sets }) => [`ipv${family}`, figuresOf(sets)] as const)
      return [
        pool,
        { ...figuresOf(all), families: Object.fromEntries(families), exhausted, draining: drainingOf(all) },
      ]
    }),
  )
}

const sameFigures = (a: PoolFigures | undefined, b: PoolFigures | undefined): boolean =>
  a?.capacity === b?.capacity && a?.used === b?.used && a?.held === b?.held

export function samePoolStatus(a: PoolStatus | undefined, b: PoolStatus): boolean {
  return (
    sameFigures(a?.families.ipv4, b.families.ipv4) &&
    sameFigures(a?.families.ipv6, b.families.ipv6) &&
    a?.exhausted.join() === b.exhausted.join() &&
    a.draining?.left === b.draining?.left &&
    a.draining?.whole === b.draining?.whole
  )
}
