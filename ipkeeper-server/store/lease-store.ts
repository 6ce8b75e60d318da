import { Problem } from '../../shared/problem/problem.ts'
import type { HistoryEntry, HistoryEvent } from '../ipam/history-entry.ts'
import type { Change, RecordKind, RecordTypes } from '../ipam/records.ts'

/** One record as it stands in the store: JSON text, which the reader parses when it needs it. */
export interface StoredRecord {
  readonly kind: RecordKind
  readonly key: string
  readonly text: string
}

/** A change was computed from a generation that is no longer there; nothing of it was written. */
export class StoreConflict extends Error {
  readonly kind: RecordKind
  readonly key: string

  constructor(kind: RecordKind, key: string) {
    super(`${kind} ${key} was changed by somebody else`)
    this.name = 'StoreConflict'
    this.kind = kind
    this.key = key
  }
}

/** Another entry of the history has the ID of one that is to be adopted. */
export function historyOccupied(location: string, id: number): Problem {
  return new Problem('IPK_STORE_OCCUPIED', `store ${location} has another history: its entry ${id} differs`, {
    hint: 'name a store without a history, or leave the history out: --without-history',
  })
}

/** Which entries of the history are wanted; without segment or address those of all. */
export interface HistoryQuery {
  readonly segment?: string
  readonly address?: string
  /** At most so many, the newest ones. */
  readonly limit: number
  /** Only entries with a smaller ID. */
  readonly before?: number
}

/** What the history may forget. Moments are milliseconds since the epoch. */
export interface HistoryRule {
  /** Entries from before this moment. */
  readonly olderThan: number
  /** The oldest ones beyond so many. */
  readonly maxEntries: number
  readonly now: number
}

/** A record that changed without a commit of this daemon; `text` null: it is gone. */
export interface StoreNews {
  readonly kind: RecordKind
  readonly key: string
  readonly text: string | null
}

export interface StoreStatus {
  /** away: the engine cannot be reached, and only what is already bound on this node is served. */
  readonly state: 'ready' | 'away'
  /** Why it is away, or why nothing is heard from it. */
  readonly reason?: string
  /** When that began, in milliseconds since the epoch. */
  readonly since?: number
  /** Records that the engine is still to be told of. */
  readonly owed: number
}

/** What a store has besides when several nodes share it. */
export interface SharedAspect {
  /**
   * To be called once, before `load`: `adopt` is called, after `load` has handed over all there is, for each change that
   * somebody else made; never while a commit of this daemon of the same record is under way.
   */
  follow(adopt: (news: StoreNews) => void): void
  status(): StoreStatus
  /** Milliseconds of a clock that never jumps since the engine last answered. */
  silence(): number
  /** Kinds whose records are forgotten, because the engine has no use for them. */
  readonly ignores: readonly RecordKind[]
}

/**
 * Durable home of leases, holders, attachments, reservations and pools: a set of records, each under (kind, key) with a
 * generation; and of the history of leases. The contract, proved for every store by test/contract/lease-store-contract.ts:
 *
 * 1. `commit` applies all writes of a change or none. A write whose `expect` is not the record's present generation
 *    (null: no such record) makes it reject with StoreConflict.
 * 2. `commit` resolves only when the change would survive power loss. A change without writes resolves at once.
 * 3. Changes handed in earlier are applied earlier, so that a later one may build on an unresolved earlier one; when the
 *    earlier one fails, the later one conflicts.
 * 4. Any other rejection is IPK_STORE_FAILED and means: nothing of this change is in the store.
 * 5. `load` and `read` see only what was committed. Records are plain JSON values and come back equal.
 * 6. `probe` resolves when a change could be made durable now, because it has made one that leaves all records as they
 *    are; it rejects with IPK_STORE_FAILED when not.
 * 7. Safe for concurrent callers. After `close`, every call rejects with IPK_STORE_FAILED.
 * 8. `commit` adds the events of a change to the history together with its writes, or neither. Each gets an ID greater
 *    than those that are there, and `since` by `sinceOf` with the newest entry of its address.
 * 9. `history` resolves to committed entries, the newest ones first.
 * 10. `pruneHistory` removes what the rule lets go, except the newest entry of an address while it still tells who has
 *    it (`endOf` is null or to come); resolves to the number removed. It works in steps of a few milliseconds and gives
 *    the event loop back between them; `close` ends it early.
 * 11. `adoptHistory` puts entries of another store there as they are, IDs included; later ones get greater IDs. Those that
 *    are there already and equal are passed over; it rejects with IPK_STORE_OCCUPIED, and adopts none, when another one has
 *    an ID.
 *
 * Of a store that nodes share (`shared`), besides: changes of attachments, and the history, are of this node and known to
 * it alone. While its engine is away, `commit` rejects with IPK_STORE_AWAY whatever could meet a change of another node.
 */
export interface LeaseStore {
  /** "sqlite", "memory", ...: for status and logs. */
  readonly kind: string
  /** Where it is, for people: a path or address, without secrets. */
  readonly location: string
  /** undefined where one daemon has the store to itself. */
  readonly shared?: SharedAspect | undefined
  /** Hands over every record, in no particular order. */
  load(visit: (stored: StoredRecord) => void): Promise<void>
  /** The record under the key, or undefined. */
  read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined>
  commit(change: Change, events?: readonly HistoryEvent[]): Promise<void>
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
  pruneHistory(rule: HistoryRule): Promise<number>
  adoptHistory(entries: readonly HistoryEntry[]): Promise<void>
  probe(): Promise<void>
  close(): Promise<void>
}
