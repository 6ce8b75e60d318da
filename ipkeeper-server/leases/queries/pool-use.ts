import type { PoolUse } from '../../../shared/api/pool-use.schema.ts'
import type { PoolUseNow } from '../../ipam/pools/forecast-full.ts'
import { allDrain, byFamily, sumUsage, type RangeSetUsage } from '../../ipam/pools/usage.ts'
import { isoTime } from '../../ipam/records/times.ts'
import type { LeaseService } from '../verbs/service.ts'
import { forecastOf, samplesOf } from './forecast-of.ts'
import { count } from './listing.ts'
import { measureUsage } from './measure-usage.ts'

/** The range sets of each family of each pool. */
const byPool = (rangeSets: readonly RangeSetUsage[]) =>
  [...Map.groupBy(rangeSets, ({ pool }) => pool).values()].flatMap(of => byFamily(of).map(({ sets }) => sets))

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
    const samples = samplesOf(service, sets)
    return {
      ...{ name, segment, family: `IPv${family}` as const, capacity: count(capacity), free: count(free) },
      ...(allDrain(sets) && { drains: true as const }),
      samples: samples.map(({ at, ...figures }) => ({ at: isoTime(at), ...figures })),
      forecast: forecastOf(service, sets, samples),
    }
  })
}
