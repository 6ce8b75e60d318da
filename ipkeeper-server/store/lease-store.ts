import { Problem } from '../../shared/problem/problem.ts'
import type { HistoryEntry, HistoryEvent } from '../ipam/records/history-entry.ts'
import type { HistoryArchive } from './history-archive.ts'
import type { AttachmentKey, Change, LeaseRecord, RecordKind, RecordTypes } from '../ipam/records/records.ts'

/** One record as it stands in the store: JSON text, which the reader parses when it needs it. */
export interface StoredRecord {
  readonly kind: RecordKind
  readonly key: string
  readonly text: string
}

/** A change was computed from a generation that is no longer there; nothing of it was written. */
export class StoreConflict extends Error {
  readonly kind: string
  readonly key: string

  constructor(kind: string, key: string) {
    super(`${kind} ${key} was changed by another writer`)
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
  /** Only entries with a greater ID, and then the oldest ones, oldest first. */
  readonly after?: number
}

export type HistoryBegin = Pick<HistoryEntry, 'id' | 'at'>

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
  /**
   * Of a lease that was bound on this node: this is known to have become of it since, by the engine's own order. Without, it may
   * be of before, or lost.
   */
  readonly isLater?: boolean
}

export interface StoreStatus {
  /**
   * away: the engine cannot be reached, and only what is already bound on this node is served. incomplete: it has lost records,
   * and nothing new is given before all nodes have told again what they hold.
   */
  readonly state: 'ready' | 'away' | 'incomplete'
  /** Why it is away or taken for incomplete, or why nothing is heard from it. */
  readonly reason?: string
  /** When that began, in milliseconds since the epoch. */
  readonly since?: number
  /** Records that the engine is still to be told of. */
  readonly owed: number
  /** Nodes that have not told yet what they hold, while the engine is incomplete; this one is none of them. */
  readonly waitsFor?: readonly string[]
  /** What the engine should keep and does not, and why. */
  readonly lacks?: string
}

/** How it stands with the disk of a store. */
export interface DiskStatus {
  /** Whose file system it is. */
  readonly folder: string
  /** Bytes that are kept for ending pods when it is full, and how many there are to be. */
  readonly reserved: number
  readonly wanted: number
  /** Why no pod is added, and since when, in milliseconds since the epoch; undefined while all is well. */
  readonly refuses: { readonly reason: string; readonly since: number } | undefined
}

/** What a store has besides when several nodes share it. */
export interface SharedAspect {
  /**
   * To be called once, before `load`: `adopt` is called, after `load` has handed over all there is, for each change that
   * somebody else made; never while a commit of this daemon of the same record is under way.
   */
  follow(adopt: (news: StoreNews) => void): void
  status(): StoreStatus
  /** Whether the engine has told of all it has since the start: before, `load` gave only what the journal had. */
  isHeard(): boolean
  /** Leases as they were bound on this node by its journal, and are no more by what the engine told at the start. */
  takenAtStart(): readonly LeaseRecord[]
  /** Milliseconds of a clock that never jumps since the engine last answered. */
  lastContactAge(): number
  /** To be called when this node's names have changed. Resolves when the journal has what there is under a new one. */
  named(): Promise<void>
  /** To be called when it is known by now that no other machine has this node's names, and none with a copy of its disk. */
  sure(): void
  /** Whether a name is this node's, as far as it has heard: no other machine has claimed it since. */
  isOwnName(name: string): boolean
  /** Whether an attachment has ended on this node, by its key: as long as that is remembered, also by earlier runs of the daemon. */
  hasEnded(key: string): boolean
  /** Those that have, as far as that is remembered. */
  ended(): Iterable<AttachmentKey>
  /**
   * Whether all nodes have told the engine what they hold, as far as it has lost records. Before, what another node has in use by what the
   * engine says proves nothing.
   */
  haveAllTold(): boolean
  /**
   * To be called when sandboxes that live on this node and were not on record are, as far as they can be. Should the engine lose records, or
   * have lost some, this node does not say before that it has told what it holds. With the first one of them that is written, an engine
   * that this node knows is taken for one that has lost records: it had it, or no ADD would have been answered.
   */
  tookUp(): void
  /** What all nodes have recorded; absent where the engine keeps none. */
  readonly history?: HistoryArchive | undefined
  /** Kinds whose records are forgotten at present, because the engine does not keep them. */
  readonly ignores: readonly RecordKind[]
}

/** What became of a ledger that was written to a new file. */
export interface Rescued {
  readonly file: string
  /** How many records of each kind. */
  readonly kinds: Readonly<Partial<Record<RecordKind, number>>>
  /** What a store that nodes share notes in its journal. */
  readonly notes: number
  /** Entries of the history that could still be read. */
  readonly history: number
  /** Why that is not all of it, in one line each; empty: nothing says that any is missing. */
  readonly unreadable: readonly string[]
  /** Where what stood in its place is now. */
  readonly aside: readonly string[]
  /** Whether the daemon goes on with it; else it is for the next one. */
  readonly inUse: boolean
}

/** What a store has besides whose records, or a part of them, are in a file of this node. */
export interface FileAspect {
  readonly path: string
  /** Whether nothing was ever committed to it. */
  isUnused(): boolean
  /**
   * Why nothing can be acknowledged: IPK_STORE_LOST or IPK_STORE_DAMAGED. undefined: what is written now, the next daemon will find.
   * Looks at the file system.
   */
  fault(): Problem | undefined
  /**
   * Looks at all of the file, without holding anybody up for long. What is wrong with a record is a fault from then on; resolves to
   * what concerns none, one line each.
   *
   * @param anew also what was looked at when it was opened
   */
  verify(anew?: boolean): Promise<readonly string[]>
  /** What `verify` found last that concerns no record. */
  findings(): readonly string[]
  /**
   * Writes these records to a new file, with what can still be read of the rest, looks whether they are there, gives it the name of
   * the store's, and goes on with it. Nothing is committed meanwhile. Rejects, and what stands there is as it was.
   *
   * @param records all that the store is to have
   */
  rescue(records: readonly StoredRecord[]): Promise<Rescued>
  /** The same under another name, while the daemon ends: what stands in its place is not touched. */
  saveBeside(records: readonly StoredRecord[]): Promise<Rescued>
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
 * 4. Any other rejection is IPK_STORE_FAILED and means: nothing of this change is in the store. Of a store in a file (`file`) also
 *    IPK_STORE_LOST and IPK_STORE_DAMAGED: nobody is to be told of the change, and what stands in the file is of no use any more.
 * 5. `load` and `read` see only what was committed. Records are plain JSON values and come back equal.
 * 6. `probe` resolves when a change could be made durable now, because it has made one that leaves all records as they
 *    are; it rejects with IPK_STORE_FAILED when not.
 * 7. Safe for concurrent callers. After `close`, every call rejects with IPK_STORE_FAILED.
 * 8. `commit` adds the events of a change to the history together with its writes, or neither. Each gets the ID that follows the
 *    greatest one there, `since` by `sinceOf` with the newest entry of its address, and a link by `linked` with the entry before it.
 * 9. `history` resolves to committed entries, the newest ones first; with `after`, the oldest ones first. `historyBegins` resolves to the
 *    oldest one from which on no ID is missing.
 * 10. `pruneHistory` removes what the rule lets go, except the newest entry of an address while it still tells who has
 *    it (`endOf` is null or to come); resolves to the number removed. An entry that stays and whose predecessor went has the
 *    link of that in `follows`. It works in steps of a few milliseconds and gives the event loop back between them; `close` ends
 *    it early.
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
  /** undefined where nothing of it is in a file of this node. */
  readonly file?: FileAspect | undefined
  /** Hands over every record, in no particular order. */
  load(visit: (stored: StoredRecord) => void): Promise<void>
  /** The record under the key, or undefined. */
  read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined>
  commit(change: Change, events?: readonly HistoryEvent[]): Promise<void>
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
  /** The oldest entry from which on none is missing: before it, some were pruned, or nothing was recorded. undefined: there is none. */
  historyBegins(): Promise<HistoryBegin | undefined>
  pruneHistory(rule: HistoryRule): Promise<number>
  adoptHistory(entries: readonly HistoryEntry[]): Promise<void>
  probe(): Promise<void>
  close(): Promise<void>
}
