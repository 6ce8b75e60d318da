import { findingKindNames } from '../../shared/findings.ts'
import { parseDuration } from '../../shared/text/duration.ts'
import type { ReconcileSettings, Limits } from '../reconcile/plan-settings.ts'
import { defaults } from './schema-words.ts'
import { type DaemonConfigFile } from './daemon-config.schema.ts'
import type { SettingFaults, Path } from './setting-faults.ts'
import { readText, showValue } from './schema-faults.ts'
import type { TakeoverTerms } from '../ipam/records/last-contact.ts'

type LimitsEntry = Pick<
  NonNullable<DaemonConfigFile['reconcile']>,
  'mode' | 'minAge' | 'minAgeUnproved' | 'passes'
>

/** What of the terms an entry says; durations become milliseconds. */
function readLimits(faults: SettingFaults, path: Path, entry: LimitsEntry): Partial<Limits> {
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
export function readReconcile(file: DaemonConfigFile, faults: SettingFaults): ReconcileSettings {
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

/** The section `takeover` of a file whose shape was checked, defaults filled in. */
export function readTakeover(file: DaemonConfigFile, faults: SettingFaults): TakeoverTerms {
  const path = ['takeover']
  const entry = faults.isSound(path) ? file.takeover : undefined
  const standard = defaults.takeover
  const grace = entry?.offlineGrace ?? standard.offlineGrace
  const offlineGrace = readText(faults, [...path, 'offlineGrace'], grace, parseDuration) ?? 0
  const word = entry?.byTime ?? standard.byTime
  if (word === 'off') return { byTime: undefined, offlineGrace }
  const byTime = readText(faults, [...path, 'byTime'], word, parseDuration)
  if (byTime !== undefined && byTime < 2 * offlineGrace)
    faults.add(
      [...path, 'byTime'],
      `${showValue(word)} is less than twice "offlineGrace" (${grace}): a node that is cut off has to have stopped by then`,
    )
  return { byTime, offlineGrace }
}
