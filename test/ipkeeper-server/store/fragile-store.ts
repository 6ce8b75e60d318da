import type { Change, RecordKind, RecordTypes } from '../../../ipkeeper-server/ipam/records/records.ts'
import type { HistoryEntry, HistoryEvent } from '../../../ipkeeper-server/ipam/records/history-entry.ts'
import type {
  HistoryQuery,
  HistoryRule,
  LeaseStore,
  StoredRecord,
} from '../../../ipkeeper-server/store/lease-store.ts'
import { MemoryStore } from '../../../ipkeeper-server/store/memory/memory-store.ts'
import { Problem } from '../../../shared/problem/problem.ts'

/** A memory store whose commits a test can delay and make fail, in order, as a real one would. */
export class FragileStore implements LeaseStore {
  readonly kind = 'fragile'
  readonly location = 'memory'
  readonly #inner = new MemoryStore()
  /** How often it was asked whether it can write. */
  probes = 0
  #tail: Promise<unknown> = Promise.resolve()
  /** Asked once per commit, probe and pruning. */
  fails: () => boolean = () => false
  /** Awaited before each commit. */
  delay: () => Promise<void> = async () => Promise.resolve()

  load(visit: (stored: StoredRecord) => void): Promise<void> {
    return this.#inner.load(visit)
  }

  read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined> {
    return this.#inner.read(kind, key)
  }

  commit(change: Change, events?: readonly HistoryEvent[]): Promise<void> {
    const turn = this.#tail.then(async () => {
      await this.delay()
      if (this.fails()) throw new Problem('IPK_STORE_FAILED', 'disk full')
      await this.#inner.commit(change, events)
    })
    this.#tail = turn.catch(() => undefined)
    return turn
  }

  history(query: HistoryQuery): Promise<readonly HistoryEntry[]> {
    return this.#inner.history(query)
  }

  async adoptHistory(entries: readonly HistoryEntry[]): Promise<void> {
    await this.#inner.adoptHistory(entries)
  }

  async historyBegins(): ReturnType<LeaseStore['historyBegins']> {
    return await this.#inner.historyBegins()
  }

  async pruneHistory(rule: HistoryRule): Promise<number> {
    if (this.fails()) throw new Problem('IPK_STORE_FAILED', 'disk full')
    return await this.#inner.pruneHistory(rule)
  }

  async probe(): Promise<void> {
    this.probes++
    if (this.fails()) throw new Problem('IPK_STORE_FAILED', 'disk full')
    await this.#inner.probe()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}
