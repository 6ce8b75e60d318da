import { Problem } from '../../../shared/problem/problem.ts'
import type { Change, RecordKind, RecordTypes } from '../../ipam/records.ts'
import { StoreConflict, type LeaseStore, type StoredRecord } from '../lease-store.ts'

interface Entry extends StoredRecord {
  readonly generation: number
}

/** Reference implementation of the contract; keeps nothing over a restart. */
export class MemoryStore implements LeaseStore {
  readonly kind = 'memory'
  readonly location = 'memory'
  readonly #entries = new Map<string, Entry>()
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

  async commit(change: Change): Promise<void> {
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
    return Promise.resolve()
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
