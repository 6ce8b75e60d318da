import { formatCidr } from '../../../shared/net/cidr.ts'
import { canonicalRange, formatRange, type Pool } from '../../ipam/pools/pool.ts'
import { byFamily, drainingOf, sumUsage, type RangeSetUsage } from '../../ipam/pools/usage.ts'
import type { LeaseUsage } from '../queries/measure-usage.ts'
import type { PoolFigures, PoolStatus } from '../../store/pool-status-sink.ts'

function figuresOf(sets: readonly RangeSetUsage[]): PoolFigures {
  const { capacity, used, held, free } = sumUsage(sets)
  return { capacity, used, held, free, ratio: `${used}/${capacity}` }
}

/** Ranges that a column has room for: more of them are counted. */
const mostRanges = 3

/** "10.22.0.0/24, fd00:22::/64": a subnet where all of it is the range, which needs no space for both ends. */
export function rangesColumn({ rangeSets }: Pick<Pool, 'rangeSets'>): string {
  const texts = rangeSets.flat().map(range => {
    const whole = canonicalRange({ subnet: range.subnet }, () => undefined)
    return whole && formatRange(whole) === formatRange(range) ? formatCidr(range.subnet) : formatRange(range)
  })
  const more = texts.length - mostRanges
  return [...texts.slice(0, mostRanges), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

/** What is shown of each pool, by its name. */
export function poolStatuses({
  pools,
  rangeSets,
}: Pick<LeaseUsage, 'pools' | 'rangeSets'>): ReadonlyMap<string, PoolStatus> {
  const bySet = Map.groupBy(rangeSets, ({ pool }) => pool)
  return new Map(
    pools.map(({ name, ...pool }) => {
      const all = bySet.get(name) ?? []
      const exhausted = all.filter(set => set.free <= 0n && !set.drains).map(({ rangeSet }) => rangeSet)
      const families = byFamily(all).map(({ family, sets }) => [`ipv${family}`, figuresOf(sets)] as const)
      return [
        name,
        {
          ...figuresOf(all),
          ...{ families: Object.fromEntries(families), ranges: rangesColumn(pool) },
          ...{ exhausted, draining: drainingOf(all) },
        },
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
    a?.ranges === b.ranges &&
    a.exhausted.join() === b.exhausted.join() &&
    a.draining?.left === b.draining?.left &&
    a.draining?.whole === b.draining?.whole
  )
}
