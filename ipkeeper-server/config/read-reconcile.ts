import { findingKindNames } from '../../shared/findings.ts'
import { parseDuration } from '../ipam/records/retention.ts'
import type { ReconcileSettings, Limits } from '../reconcile/plan-settings.ts'
import { defaults, type DaemonConfigFile } from './daemon-config.schema.ts'
import type { FaultList, Path } from './faults.ts'
import { readText } from './read-text.ts'

type LimitsEntry = Pick<
  NonNullable<DaemonConfigFile['reconcile']>,
  'mode' | 'minAge' | 'minAgeUnproved' | 'passes'
>

/** What of the terms an entry says; durations become milliseconds. */
function readLimits(faults: FaultList, path: Path, entry: LimitsEntry): Partial<Limits> {
  const minAge = readText(faults, [...path, 'minAge'], entry.minAge, parseDuration)
  const minAgeUnproved = readText(faults, [...path, 'minAgeUnproved'], entry.minAgeUnproved, parseDuration)
  return {
    ...(entry.mode !== undefined && { mode: entry.mode }),
    ...(minAge !== undefined && { minAge }),
    ...(minAgeUnproved !== undefined && { minAgeUnproved }),
    ...(entry.passes !== undefined && { passes: entry.passes }),
  }
}

/** The section `reconcile` of a file whose shape was checked, defaults filled in. */
export function readReconcile(file: DaemonConfigFile, faults: FaultList): ReconcileSettings {
  const path = ['reconcile']
  const entry = faults.isSound(path) ? file.reconcile : undefined
  const standard = defaults.reconcile
  const kinds = faults.isSound([...path, 'kinds']) ? (entry?.kinds ?? {}) : {}
  return {
    mode: standard.mode,
    minAge: parseDuration(standard.minAge) ?? 0,
    minAgeUnproved: parseDuration(standard.minAgeUnproved) ?? 0,
    passes: standard.passes,
    ...(entry && readLimits(faults, path, entry)),
    interval:
      readText(faults, [...path, 'interval'], entry?.interval ?? standard.interval, parseDuration) ?? 0,
    links: entry?.links ?? [],
    kinds: Object.fromEntries(
      findingKindNames.flatMap(kind => {
        const own = kinds[kind] as LimitsEntry | undefined
        const place = [...path, 'kinds', kind]
        return own && faults.isSound(place) ? [[kind, readLimits(faults, place, own)]] : []
      }),
    ),
  }
}
