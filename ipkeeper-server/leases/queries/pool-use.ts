import type { Forecast, PoolUse } from '../../../shared/api/pool-use.schema.ts'
import { forecastFull, type UseSample } from '../../ipam/pools/forecast-full.ts'
import { byFamily, sumUsage, type RangeSetUsage } from '../../ipam/pools/usage.ts'
import type { PoolUseNow } from '../tasks/pool-use-samples.ts'
import type { LeaseService } from '../verbs/service.ts'
import { count } from './listing.ts'
import { measureUsage } from './measure-usage.ts'

const iso = (time: number): string => new Date(time).toISOString()

/** Past samples of one family of a pool, and one of now. */
function samplesOf(service: LeaseService, sets: readonly [RangeSetUsage, ...RangeSetUsage[]]): UseSample[] {
  const [{ pool: name, family }] = sets
  const { used, held } = sumUsage(sets)
  const present = { at: service.now(), used: Number(used), held: Number(held) }
  const past = service.useSamples?.({ name, family }) ?? []
  return [...past.filter(({ at }) => at < present.at), present]
}

/** When one family of a pool is full: that of its range sets that is full first, since a pod needs an address of each. */
export function forecastOf(service: LeaseService, sets: readonly RangeSetUsage[]): Forecast {
  const [first, ...rest] = sets
  if (!first) return { fullAt: null, says: 'not known: it was not measured' }
  const least = sets.reduce((free, set) => (set.free < free ? set.free : free), first.free)
  const free = least * BigInt(sets.length)
  const { fullAt, says } = forecastFull(samplesOf(service, [first, ...rest]), free, service.now())
  return { fullAt: fullAt === null ? null : iso(fullAt), says }
}

type PoolSets = readonly [RangeSetUsage, ...RangeSetUsage[]]

/** The range sets of each family of each pool. */
const byPool = (rangeSets: readonly RangeSetUsage[]): PoolSets[] =>
  [...Map.groupBy(rangeSets, ({ pool }) => pool).values()].flatMap(of =>
    byFamily(of).flatMap(({ sets: [first, ...rest] }): PoolSets[] => (first ? [[first, ...rest]] : [])),
  )

/** How full each family of each pool is, for a sample. */
export const poolsInUse = (rangeSets: readonly RangeSetUsage[]): PoolUseNow[] =>
  byPool(rangeSets).map(sets => {
    const { used, held } = sumUsage(sets)
    return { name: sets[0].pool, family: sets[0].family, used, held }
  })

/** How full each pool was over time, by name, a row for each family. */
export async function listPoolUse(service: LeaseService, turn: () => Promise<unknown>): Promise<PoolUse[]> {
  const { rangeSets } = await measureUsage(service, turn)
  return byPool(rangeSets).map(sets => {
    const [{ pool: name, segment, family }] = sets
    const { capacity, free } = sumUsage(sets)
    return {
      ...{ name, segment, family: `IPv${family}` as const, capacity: count(capacity), free: count(free) },
      samples: samplesOf(service, sets).map(({ at, ...figures }) => ({ at: iso(at), ...figures })),
      forecast: forecastOf(service, sets),
    }
  })
}
