import { Problem } from '../../../shared/problem/problem.ts'
import { canonicalJson } from '../../ipam/records/canonical-json.ts'
import {
  endOfEvent,
  sinceOf,
  type HistoryEntry,
  type HistoryEvent,
} from '../../ipam/records/history-entry.ts'
import { linked } from '../history-chain.ts'
import { leaseKey, type Change, type RecordKind, type RecordTypes } from '../../ipam/records/records.ts'
import {
  historyOccupied,
  StoreConflict,
  type HistoryBegin,
  type HistoryQuery,
  type HistoryRule,
  type LeaseStore,
  type StoredRecord,
} from '../lease-store.ts'

interface Entry extends StoredRecord {
  readonly generation: number
}

/** Reference implementation of the contract; keeps nothing over a restart. */
export class MemoryStore implements LeaseStore {
  readonly kind = 'memory'
  readonly location = 'memory'
  readonly #entries = new Map<string, Entry>()
  /** Oldest first. */
  #history: HistoryEntry[] = []
  readonly #newest = new Map<string, HistoryEntry>()
  #closed = false

  static #key(kind: RecordKind, key: string): string {
    return JSON.stringify([kind, key])
  }

  #assertOpen(): void {
    if (this.#closed) throw new Problem('IPK_STORE_FAILED', 'the store is closed')
  }

  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    this.#assertOpen()
    for (const { kind, key, text } of this.#entries.values()) visit({ kind, key, text })
    return Promise.resolve()
  }

  async read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined> {
    this.#assertOpen()
    const entry = this.#entries.get(MemoryStore.#key(kind, key))
    return Promise.resolve(entry && (JSON.parse(entry.text) as RecordTypes[K]))
  }

  async commit(change: Change, events: readonly HistoryEvent[] = []): Promise<void> {
    this.#assertOpen()
    for (const { kind, key, expect } of change) {
      const present = this.#entries.get(MemoryStore.#key(kind, key))
      if ((present?.generation ?? null) !== expect) throw new StoreConflict(kind, key)
    }
    for (const { kind, key, record } of change) {
      const id = MemoryStore.#key(kind, key)
      if (record === null) this.#entries.delete(id)
      else this.#entries.set(id, { kind, key, generation: record.generation, text: JSON.stringify(record) })
    }
    for (const event of events) {
      const newest = this.#newest.get(leaseKey(event))
      const before = this.#history.at(-1)
      const entry = linked({ ...event, id: (before?.id ?? 0) + 1, since: sinceOf(event, newest) }, before)
      this.#history.push(entry)
      this.#newest.set(leaseKey(event), entry)
    }
    return Promise.resolve()
  }

  async history({
    segment,
    address,
    limit,
    before = Infinity,
    after,
  }: HistoryQuery): Promise<readonly HistoryEntry[]> {
    this.#assertOpen()
    const found = this.#history.filter(
      entry =>
        entry.id < before &&
        entry.id > (after ?? 0) &&
        (segment === undefined || entry.segment === segment) &&
        (address === undefined || entry.address === address),
    )
    return Promise.resolve((after === undefined ? found.reverse() : found).slice(0, limit))
  }

  async historyBegins(): Promise<HistoryBegin | undefined> {
    this.#assertOpen()
    const gap = this.#history.findLastIndex(({ id }, index) => this.#history[index - 1]?.id !== id - 1)
    const first = this.#history[gap]
    return Promise.resolve(first && { id: first.id, at: first.at })
  }

  async adoptHistory(entries: readonly HistoryEntry[]): Promise<void> {
    this.#assertOpen()
    const known = new Map(this.#history.map(entry => [entry.id, entry]))
    for (const entry of entries) {
      const present = known.get(entry.id)
      if (present && canonicalJson(present) !== canonicalJson(entry))
        throw historyOccupied(this.location, entry.id)
    }
    const fresh = entries.filter(({ id }) => !known.has(id))
    this.#history = [...this.#history, ...fresh].sort((a, b) => a.id - b.id)
    this.#newest.clear()
    for (const entry of this.#history) this.#newest.set(leaseKey(entry), entry)
    return Promise.resolve()
  }

  async pruneHistory({ olderThan, maxEntries, now }: HistoryRule): Promise<number> {
    this.#assertOpen()
    const excess = this.#history.length - maxEntries
    const stays = (entry: HistoryEntry, index: number): boolean => {
      if (index >= excess && entry.at >= olderThan) return true
      const end = endOfEvent(entry)
      return this.#newest.get(leaseKey(entry)) === entry && (end === null || end > now)
    }
    const before = this.#history
    this.#history = before.flatMap((entry, index) => {
      if (!stays(entry, index)) return []
      const pruned = before[index - 1]
      return pruned?.link === undefined || stays(pruned, index - 1)
        ? [entry]
        : [{ ...entry, follows: pruned.link }]
    })
    this.#newest.clear()
    for (const entry of this.#history) this.#newest.set(leaseKey(entry), entry)
    return Promise.resolve(before.length - this.#history.length)
  }

  async probe(): Promise<void> {
    this.#assertOpen()
    return Promise.resolve()
  }

  async close(): Promise<void> {
    this.#closed = true
    return Promise.resolve()
  }
}
