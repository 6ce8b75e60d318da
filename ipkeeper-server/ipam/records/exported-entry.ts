import type { HistoryEntry } from './history-entry.ts'

/**
 * An entry of the history as it leaves its node. With `previous` its link can be checked without the node, and so can whether it
 * follows the entry before it in a copy.
 */
export interface ExportedEntry extends Omit<HistoryEntry, 'follows'> {
  /** The node whose history it is of; `node` is the one of the lease, which another node may have ended. */
  readonly recorder: string
  /** The link of the entry before it; "" where a chain begins, null where that entry was pruned and its link is not known. */
  readonly previous: string | null
  /** So many entries right before it were pruned before this copy was made; absent: none. */
  readonly pruned?: number
}

/** What is known of the entry before the first one of a page. */
export type EntryBefore = Pick<HistoryEntry, 'id'> & { readonly link?: string | null | undefined }

/**
 * Entries as they leave their node.
 *
 * @param entries the oldest first
 * @param before the one before them; `link` null: not known. undefined: they are the first ones of all
 */
export function exportedEntries(
  entries: readonly HistoryEntry[],
  before: EntryBefore | undefined,
  recorder: string,
): ExportedEntry[] {
  let last = before ?? { id: 0 }
  return entries.map(({ follows, ...entry }) => {
    const pruned = entry.id - last.id - 1
    const known = pruned === 0 ? (last.link === null ? null : (last.link ?? '')) : null
    last = entry
    return { recorder, previous: follows ?? known, ...(pruned > 0 && { pruned }), ...entry }
  })
}
