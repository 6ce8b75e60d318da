import type { Forecast } from '../../../shared/api/forecast.schema.ts'
import { forecastFull, type MeasuredUse } from '../../ipam/pools/forecast-full.ts'
import { allDrain, sumUsage, type RangeSetUsage } from '../../ipam/pools/usage.ts'
import { isoTime } from '../../ipam/records/times.ts'
import type { LeaseService } from '../verbs/service.ts'

/** The range sets of one family of a pool. */
type FamilySets = readonly [RangeSetUsage, ...RangeSetUsage[]]

/** Past samples of one family of a pool, and one of now. */
export function samplesOf(service: LeaseService, sets: FamilySets): MeasuredUse[] {
  const [{ pool: name, family }] = sets
  const { used, held } = sumUsage(sets)
  const present = { at: service.now(), used: Number(used), held: Number(held) }
  const past = service.useSamples?.({ name, family }) ?? []
  return [...past.filter(({ at }) => at < present.at), present]
}

/** When one family of a pool is full: that of its range sets that is full first, since a pod needs an address of each. */
export function forecastOf(
  service: LeaseService,
  sets: FamilySets,
  samples: readonly MeasuredUse[] = samplesOf(service, sets),
): Forecast {
  if (allDrain(sets)) return { fullAt: null, says: 'it is being drained: no new pod gets an address' }
  const least = sets.reduce((free, set) => (set.free < free ? set.free : free), sets[0].free)
  const free = least * BigInt(sets.length)
  const { fullAt, says } = forecastFull(samples, free, service.now())
  return { fullAt: fullAt === null ? null : isoTime(fullAt), says }
}
