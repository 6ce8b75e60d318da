import { exportedEntries, type ExportedEntry } from '../../../ipkeeper-server/ipam/records/exported-entry.ts'
import type { HistoryEntry } from '../../../ipkeeper-server/ipam/records/history-entry.ts'
import { linked } from '../../../ipkeeper-server/store/history-chain.ts'

const holder = { kind: 'pod', network: 'net', namespace: 'shop', name: 'web-0', ifname: 'eth0' } as const

/** When the first entry was written: milliseconds since the epoch. */
export const begun = Date.parse('2026-11-21T14:00:00Z')

/** So many entries of the history of node n1, linked, a second after each other. */
export function linkedHistory(count: number, patch: Partial<HistoryEntry> = {}): HistoryEntry[] {
  const entries: HistoryEntry[] = []
  for (let id = 1; id <= count; id++) {
    const isBound = id % 2 === 1
    const entry: HistoryEntry = {
      ...{ id, at: begun + id * 1000, since: begun, event: isBound ? 'bound' : 'held', segment: 'default' },
      ...{ address: '10.22.0.50', pool: 'net', holder, podUid: 'u-1', node: 'n1', source: 'dynamic' },
      ...{ containerId: isBound ? `c${id}` : null, until: null, ...(!isBound && { by: 'del' as const }) },
      ...patch,
    }
    entries.push(linked(entry, entries.at(-1)))
  }
  return entries
}

/** The same as it leaves the node. */
export const exported = (count: number, patch: Partial<HistoryEntry> = {}): ExportedEntry[] =>
  exportedEntries(linkedHistory(count, patch), undefined, 'n1')
