import { exportedEntries, type ExportedEntry } from '../../ipam/records/exported-entry.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import type { LeaseService } from '../verbs/service.ts'

/** A page of a node's history. */
export interface ExportedPage {
  /** The entry with the ID after which the page begins; undefined: that was pruned, or there never was one. */
  readonly before: HistoryEntry | undefined
  /** The oldest first. */
  readonly entries: readonly ExportedEntry[]
}

/** Entries of this node's history with greater IDs than `after`, as they leave the node; at most `limit`, the oldest ones. */
export async function exportHistory(
  { ledger, node }: Pick<LeaseService, 'ledger' | 'node'>,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<ExportedPage> {
  if (after === 0) {
    const entries = await ledger.history({ after, limit })
    return { before: undefined, entries: exportedEntries(entries, undefined, node) }
  }
  const found = await ledger.history({ after: after - 1, limit: limit + 1 })
  const before = found[0]?.id === after ? found[0] : undefined
  const entries = (before ? found.slice(1) : found).slice(0, limit)
  return { before, entries: exportedEntries(entries, before ?? { id: after, link: null }, node) }
}
