import type { Forecast } from '../../../shared/api/forecast.schema.ts'
import { forecastFull, type UseSample } from '../../ipam/pools/forecast-full.ts'
import { sumUsage, type RangeSetUsage } from '../../ipam/pools/usage.ts'
import type { LeaseService } from '../verbs/service.ts'

const iso = (time: number): string => new Date(time).toISOString()

/** Past samples of one family of a pool, and one of now. */
export function samplesOf(
  service: LeaseService,
  sets: readonly [RangeSetUsage, ...RangeSetUsage[]],
): UseSample[] {
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
