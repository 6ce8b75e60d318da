import { holderKey } from './records.ts'
import type { HistoryEntry } from './history-entry.ts'

/** An entry of whichever node. */
export interface RecordedEntry extends HistoryEntry {
  /** The node whose daemon recorded it: of what is done for a node that is gone, another one. */
  readonly recordedBy: string
}

const begins = ({ event }: HistoryEntry): boolean => event === 'bound' || event === 'moved'

/** Whether an entry ends what another one began. */
const ends = (end: HistoryEntry, begin: HistoryEntry): boolean =>
  !begins(end) && begins(begin) && holderKey(end.holder) === holderKey(begin.holder)

/**
 * The entries of one address out of the histories of several nodes, newest first. Moments are by the clocks of their nodes, which
 * differ: no pod gets an address before the one that had it has ended, so that an end that is dated after the next pod's begin is put
 * before it. What was sent twice is there once; IDs are places in the result, from the oldest one on.
 */
export function mergeHistories(entries: readonly RecordedEntry[]): RecordedEntry[] {
  const known = new Set<string>()
  const once = entries.filter(entry => {
    const name = entry.link ?? JSON.stringify([entry.recordedBy, entry.id, entry.at, entry.event])
    return !known.has(name) && known.add(name)
  })
  const ordered: RecordedEntry[] = []
  for (const entry of once.toSorted((a, b) => a.at - b.at || a.id - b.id)) {
    const place = begins(entry) ? ordered.length : placeOfEnd(entry, ordered)
    ordered.splice(place, 0, entry)
  }
  return ordered.map((entry, index) => ({ ...entry, id: index + 1 })).reverse()
}

/** Behind all; or before the begin of another holder, where that is what stands between it and what it ends. */
function placeOfEnd(end: RecordedEntry, ordered: readonly RecordedEntry[]): number {
  const begin = ordered.findLastIndex(entry => ends(end, entry))
  if (begin < 0) return ordered.length
  const between = ordered.slice(begin + 1)
  if (between.some(entry => !begins(entry) && holderKey(entry.holder) === holderKey(end.holder)))
    return ordered.length
  const next = between.findIndex(
    entry => entry.recordedBy !== end.recordedBy && holderKey(entry.holder) !== holderKey(end.holder),
  )
  return next < 0 ? ordered.length : begin + 1 + next
}
