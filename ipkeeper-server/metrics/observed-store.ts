import type { HistoryEntry, HistoryEvent } from '../ipam/records/history-entry.ts'
import type { Change, RecordKind, RecordTypes } from '../ipam/records/records.ts'
import {
  StoreConflict,
  type HistoryBegin,
  type HistoryQuery,
  type HistoryRule,
  type LeaseStore,
  type StoredRecord,
} from '../store/lease-store.ts'
import type { storeOperations } from './metric-table.ts'
import type { VerbObserver } from '../leases/verbs/verb-observer.ts'
import type { MetricRegistry } from './metric-registry.ts'

type StoreOperation = (typeof storeOperations)[number]

interface StoreObserver {
  /** A change is durable after so many seconds. */
  readonly committed: (seconds: number) => void
  readonly failed: (operation: StoreOperation) => void
}

/** A store like the one inside, that tells how long changes took and what failed. */
export class ObservedStore implements LeaseStore {
  readonly #store: LeaseStore
  readonly #observer: StoreObserver

  constructor(store: LeaseStore, observer: StoreObserver) {
    this.#store = store
    this.#observer = observer
  }

  get kind(): string {
    return this.#store.kind
  }

  get location(): string {
    return this.#store.location
  }

  get shared(): LeaseStore['shared'] {
    return this.#store.shared
  }

  get file(): LeaseStore['file'] {
    return this.#store.file
  }

  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    await this.#told('load', this.#store.load(visit))
  }

  async read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined> {
    return await this.#told('read', this.#store.read(kind, key))
  }

  async commit(change: Change, events?: readonly HistoryEvent[]): Promise<void> {
    const begun = performance.now()
    await this.#told('commit', this.#store.commit(change, events))
    this.#observer.committed((performance.now() - begun) / 1e3)
  }

  async history(query: HistoryQuery): Promise<readonly HistoryEntry[]> {
    return await this.#told('history', this.#store.history(query))
  }

  async historyBegins(): Promise<HistoryBegin | undefined> {
    return await this.#told('history', this.#store.historyBegins())
  }

  async pruneHistory(rule: HistoryRule): Promise<number> {
    return await this.#told('prune', this.#store.pruneHistory(rule))
  }

  async adoptHistory(entries: readonly HistoryEntry[]): Promise<void> {
    await this.#store.adoptHistory(entries)
  }

  async probe(): Promise<void> {
    await this.#told('probe', this.#store.probe())
  }

  async close(): Promise<void> {
    await this.#store.close()
  }

  async #told<T>(operation: StoreOperation, result: Promise<T>): Promise<T> {
    try {
      return await result
    } catch (error) {
      if (!(error instanceof StoreConflict)) this.#observer.failed(operation)
      throw error
    }
  }
}

/** Counts what becomes of verbs. */
export function verbObserver(registry: MetricRegistry): VerbObserver {
  return {
    ended: (verb, code, seconds) => {
      registry.observe('ipkeeper_cni_verb_duration_seconds', seconds, { verb, code })
    },
    tookOver: from => {
      registry.count('ipkeeper_takeovers_total', { from })
    },
    lateDel: how => {
      registry.count('ipkeeper_late_dels_total', { how })
    },
    undone: reason => {
      registry.count('ipkeeper_adds_undone_total', { reason })
    },
  }
}

/** Counts and times what the store does. */
export function storeObserver(registry: MetricRegistry): StoreObserver {
  return {
    committed: seconds => {
      registry.observe('ipkeeper_store_commit_seconds', seconds)
    },
    failed: operation => {
      registry.count('ipkeeper_store_failures_total', { operation })
    },
  }
}
