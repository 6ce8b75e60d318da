import type { HistoryCheck } from '../../../shared/api/address.schema.ts'
import { counted } from '../../../shared/text/counted.ts'
import { toTheSecond } from './addresses.ts'

/** What is said of the links of a history, whether it is the node's own or a copy of it. Moments are RFC 3339. */

export function faultText({ kind, from, to, at }: HistoryCheck['faults'][number]): string {
  const what = from === to ? `entry ${from}` : `entries ${from} to ${to}`
  if (kind === 'changed') return `${what} of ${toTheSecond(at)}: not as it was written`
  return `${what}: missing, before the entry of ${toTheSecond(at)}`
}

/** "3 entries, as they were written" */
export const wholeText = (entries: number, faults: number): string =>
  `${counted(entries, 'entry', 'entries')}, ${faults === 0 ? 'as they were written' : counted(faults, 'fault')}`

/** A line where there are any. */
export const unlinkedLines = (unlinked: number): readonly string[] =>
  unlinked > 0
    ? [`${counted(unlinked, 'entry has', 'entries have')} no link: written by an older version`]
    : []

export const newestText = ({ id, at, link }: NonNullable<HistoryCheck['last']>): string =>
  `newest: entry ${id} of ${toTheSecond(at)}, link ${link ?? '-'}`
