import type { TakeoverTerms } from '../ipam/records/last-contact.ts'
import { parseDuration } from '../ipam/records/retention.ts'
import { defaults, type DaemonConfigFile } from './daemon-config.schema.ts'
import type { FaultList } from './faults.ts'
import { readText } from './read-text.ts'
import { showValue } from './show-value.ts'

/** The section `takeover` of a file whose shape was checked, defaults filled in. */
export function readTakeover(file: DaemonConfigFile, faults: FaultList): TakeoverTerms {
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
