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

/**
 * Durable home of leases, holders, attachments, reservations and pools: a set of records, each under (kind, key) with a
 * generation. The contract, proved for every store by test/contract/lease-store-contract.ts:
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
 */
export interface LeaseStore {
  /** "sqlite", "memory", ...: for status and logs. */
  readonly kind: string
  /** Where it is, for people: a path or address, without secrets. */
  readonly location: string
  /** Hands over every record, in no particular order. */
  load(visit: (stored: StoredRecord) => void): Promise<void>
  /** The record under the key, or undefined. */
  read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined>
  commit(change: Change): Promise<void>
  probe(): Promise<void>
  close(): Promise<void>
}
