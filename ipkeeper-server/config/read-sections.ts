import { findingKindNames } from '../../shared/findings.ts'
import { parseDuration } from '../../shared/text/duration.ts'
import type { ReconcileSettings, Limits } from '../reconcile/plan-settings.ts'
import { defaults } from './schema-words.ts'
import { type DaemonConfigFile } from './daemon-config.schema.ts'
import type { SettingFaults, Path } from './setting-faults.ts'
import { readText, showValue } from './schema-faults.ts'
import { parseReceiver, receiverFault, type SyslogTerms } from '../export/plan/receiver.ts'
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

/** How much history stays, and where it is sent; durations in milliseconds. */
export interface HistorySettings {
  readonly maxAge: number
  readonly maxEntries: number
  /** Of this node in a store that nodes share; 0: none. */
  readonly sharedEntries: number
  /** Absent: nowhere. */
  readonly export?: SyslogTerms
}

/** The section `history` of a file whose shape was checked, defaults filled in. */
export function readHistory(file: DaemonConfigFile, faults: SettingFaults): HistorySettings {
  const path = ['history']
  const entry = faults.isSound(path) ? file.history : undefined
  const maxAge = entry?.maxAge ?? defaults.historyMaxAge
  const syslog = readSyslog(entry?.export, faults)
  return {
    maxAge: readText(faults, [...path, 'maxAge'], maxAge, parseDuration) ?? 0,
    maxEntries: entry?.maxEntries ?? defaults.historyMaxEntries,
    sharedEntries: entry?.sharedEntries ?? defaults.historySharedEntries,
    ...(syslog && { export: syslog }),
  }
}

function readSyslog(
  entry: NonNullable<DaemonConfigFile['history']>['export'],
  faults: SettingFaults,
): SyslogTerms | undefined {
  if (entry === undefined) return undefined
  const path = ['history', 'export']
  const { syslog, ...files } = entry
  if (syslog === undefined) {
    faults.add(path, 'lacks "syslog", the receiver, such as tcp://192.0.2.10:514')
    return undefined
  }
  const receiver = parseReceiver(syslog)
  if (!receiver) {
    faults.add([...path, 'syslog'], receiverFault(syslog))
    return undefined
  }
  for (const key of ['caFile', 'certFile', 'keyFile'] as const)
    if (files[key] !== undefined && receiver.protocol !== 'tls')
      faults.add([...path, key], `"${key}" has no use with ${receiver.protocol}, only with tls`, 'key')
  for (const [one, other] of [
    ['certFile', 'keyFile'],
    ['keyFile', 'certFile'],
  ] as const)
    if (files[one] !== undefined && files[other] === undefined)
      faults.add([...path, one], `"${one}" needs "${other}", which is not given`, 'key')
  return { receiver, ...files }
}
