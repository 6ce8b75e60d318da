import { createHash } from 'node:crypto'
import { canonicalJson } from '../ipam/records/canonical-json.ts'
import type { HistoryEntry } from '../ipam/records/history-entry.ts'

/**
 * Each entry of a node's history bears a hash over itself and the hash of the entry before it, so that an entry that was changed or
 * taken out shows. Whoever can write to the file can compute all of it again: what proves more is a copy elsewhere, such as a log
 * receiver's, whose lines bear the same links.
 */

/** The link of an entry. `before` is that of the entry before it; "" where a chain begins. SHA-256, base64url. */
export function linkOf(entry: HistoryEntry, before: string): string {
  const said = canonicalJson({ ...entry, link: undefined, follows: undefined })
  return createHash('sha256').update(`${before}\n${said}`).digest('base64url')
}

/** The entry as it is remembered behind another one; undefined: it is the first. */
export function linked(entry: HistoryEntry, before: Pick<HistoryEntry, 'link'> | undefined): HistoryEntry {
  return { ...entry, link: linkOf(entry, before?.link ?? '') }
}

/** Entries that should be there and are not, or one that is not as it was written. */
export interface ChainFault {
  readonly kind: 'changed' | 'missing'
  /** IDs of the first and the last one concerned. */
  readonly from: number
  readonly to: number
  /** When the one at which it shows was written: milliseconds since the epoch. */
  readonly at: number
}

export interface ChainReport {
  readonly entries: number
  /** Entries without a link, of versions that made none. */
  readonly unlinked: number
  /** Whether older entries were pruned by the limits of the history. */
  readonly pruned: boolean
  /** Entries with which a chain begins: the first one, and the first one after a version without links or another ledger. */
  readonly begins: readonly Pick<HistoryEntry, 'id' | 'at'>[]
  /** The newest entry; undefined where there is none. */
  readonly last: Pick<HistoryEntry, 'id' | 'at' | 'link'> | undefined
  readonly faults: readonly ChainFault[]
}

/** Follows a history from its oldest entry on. */
export class ChainCheck {
  #last: HistoryEntry | undefined
  #entries = 0
  #unlinked = 0
  #pruned = false
  #faults: ChainFault[] = []
  readonly #begins: Pick<HistoryEntry, 'id' | 'at'>[] = []

  add(entry: HistoryEntry): void {
    const before = this.#last
    this.#last = entry
    this.#entries++
    if (entry.link === undefined) {
      this.#unlinked++
      return
    }
    if (entry.follows !== undefined) {
      // Older entries are those alone that still tell who has an address: what is not among them, pruning took.
      this.#pruned = true
      this.#faults = this.#faults.filter(({ kind }) => kind !== 'missing')
    }
    const { id, at } = entry
    const follows = entry.follows ?? (before?.id === id - 1 ? (before.link ?? '') : id === 1 ? '' : undefined)
    if (follows !== undefined && follows !== '' && entry.link === linkOf(entry, follows)) return
    if (entry.link === linkOf(entry, '')) this.#begins.push({ id, at })
    else if (follows !== undefined) this.#faults.push({ kind: 'changed', from: id, to: id, at })
    else this.#faults.push({ kind: 'missing', from: (before?.id ?? 0) + 1, to: id - 1, at })
  }

  report(): ChainReport {
    const last = this.#last
    return {
      ...{ entries: this.#entries, unlinked: this.#unlinked, pruned: this.#pruned },
      ...{ begins: this.#begins, faults: this.#faults },
      last: last && { id: last.id, at: last.at, link: last.link },
    }
  }
}
