import type { HistoryArchive } from '../history-archive.ts'
import type { RecordKind } from '../../ipam/records/records.ts'

/**
 * What nodes share. What an ADD made on its node, the attachment, is of use to that node alone and stays there. ending: see
 * endings.ts; the ledger never hears of it.
 */
export type SharedKind = Exclude<RecordKind, 'attachment'> | 'ending'

/** Of what is counted over many leases, or may be had by one of them alone. */
export const isGuard = (kind: SharedKind): boolean => kind === 'quota' || kind === 'mac'

export interface SharedRecordName {
  readonly kind: SharedKind
  readonly key: string
}

/**
 * A record as it stands in the engine. `revision` names this very version of it: etcd's mod_revision, Kubernetes'
 * resourceVersion. Unlike a generation it never comes again, not even after the record was deleted and made anew.
 */
export interface EngineRecord {
  readonly kind: SharedKind
  readonly key: string
  readonly text: string
  readonly revision: number
}

/**
 * One conditional write: the record has to be of this version (null: not there). `text` null deletes it, undefined leaves it
 * as it is: a condition for the other writes.
 */
export interface EngineWrite {
  readonly kind: SharedKind
  readonly key: string
  readonly base: number | null
  readonly text: string | null | undefined
}

/** One that is no condition. */
export interface RecordWrite extends EngineWrite {
  readonly text: string | null
}

/** Where an engine's data stands, as far as it can tell. */
export interface EnginePosition {
  /** Another one is other data. */
  readonly cluster?: string
  /** No lower than the revision of anything that there was; for an engine that has gone back it may be lower than before. */
  readonly revision: number
}

/** Where an engine puts what it hears. */
export interface EngineFeed {
  /** All there is now; what is not in it has gone. The first news after `start`, and again whenever the thread was lost. */
  replace(records: readonly EngineRecord[], position: EnginePosition): void
  /** The engine has other data than it had, and why one knows. `replace` follows; until then all calls but `fence` reject. */
  broke(reason: string): void
  put(record: EngineRecord): void
  remove(kind: SharedKind, key: string): void
  /** Why nothing is heard at present; undefined once it is again. Told on change only. */
  trouble(reason: string | undefined): void
}

/** The engine did not answer, or cannot be reached. Of a commit it is not known whether any of it was carried out. */
export class EngineAway extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EngineAway'
  }
}

/**
 * A distributed engine that holds records for all nodes. It stores and compares; what may be written is decided
 * elsewhere. The contract, proved together with shared-store.ts by test/contract/lease-store-contract.ts:
 *
 * 1. `commit` resolves with the new revision of each write (null: deleted; of a condition its base) when all of them are durable in the engine. It
 *    rejects with StoreConflict when a record was not at its base: then none of the writes is in the engine, or those that
 *    were have been taken back. An engine without transactions leaves conditions out: shared-store.ts has compared them with
 *    what was heard. It rejects with EngineAway when it cannot tell; and with a Problem (IPK_STORE_FAILED) when
 *    the engine refuses it whatever is tried again, such as for a missing right; then nothing is in the engine.
 * 2. `read` tells what everybody would be told who asked later (linearizable). Rejects as `commit` does.
 * 3. After `start` the feed hears of everything, whoever wrote it, and of each record in the order of its versions. What
 *    `commit` and `read` tell it hears before they resolve, and nothing older afterwards.
 * 4. The engine finds its way back by itself: endpoints, credentials, a watch that ended or lags too far behind.
 * 5. Each call ends within `deadlineMs`, in success or failure.
 */
export interface Engine {
  /** "etcd", "kubernetes". */
  readonly kind: string
  /** Where it is, for people: without secrets. */
  readonly location: string
  /** Kinds that it does not keep at present: writes of those succeed and are forgotten (Kubernetes keeps no quota guards). */
  readonly ignores: readonly SharedKind[]
  /** Which kind it should keep and does not, and why; for people. */
  readonly lacks?: string | undefined
  /** Where nodes keep what they have recorded for each other; absent: nowhere. */
  readonly history?: HistoryArchive | undefined
  /** Whether after `fence` no commit from before it is carried out any more. */
  readonly fences: boolean
  start(feed: EngineFeed): void
  read(kind: SharedKind, key: string): Promise<EngineRecord | undefined>
  commit(writes: readonly EngineWrite[]): Promise<readonly (number | null)[]>
  /** Resolves when the engine takes writes, as far as can be told without one. */
  probe(): Promise<void>
  /**
   * As `probe`. Where the engine `fences`, no commit of this node is carried out from then on that was begun before, also by
   * an earlier run of the daemon: what `read` tells then of a commit whose answer was lost is final.
   */
  fence(): Promise<void>
  /** Ends all connections. */
  stop(): Promise<void>
}
