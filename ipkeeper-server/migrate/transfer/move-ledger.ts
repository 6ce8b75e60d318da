import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import type { RecordKind } from '../../ipam/records/records.ts'
import type { LeaseStore, StoredRecord } from '../../store/lease-store.ts'
import {
  boundElsewhere,
  compareHistory,
  compareRecords,
  digestOf,
  keptBy,
  readAll,
  writeHistory,
  writeMissing,
  type RecordComparison,
  type RecordConflict,
} from './bring-in.ts'
import { copyLedger, type LedgerCopy } from './ledger-copy.ts'
import { digestRecords, HistoryDigest, type LedgerDigest } from './ledger-digest.ts'

/** How a ledger came into a store, or why it did not. */
export interface MoveReport {
  readonly written: number
  /** There already, and the same. */
  readonly same: number
  /** Not taken: kinds that the store has no use for, pools that people made in the API. */
  readonly left: number
  readonly history: number
  /** Something else is there, or it is bound on another node; then nothing was written. */
  readonly conflicts: readonly RecordConflict[]
  /** In the target alone. */
  readonly others: number
  readonly dryRun: boolean
  readonly interrupted: boolean
  /** Of what was to be there; null where nothing was written. */
  readonly source: LedgerDigest | null
  /** Of what is there, read from the store opened anew. */
  readonly target: LedgerDigest | null
  /** Whether the two are the same. */
  readonly verified: boolean
}

export interface MoveOptions {
  readonly dryRun: boolean
  /** Records that are in the target alone: fine, or a reason to write nothing. */
  readonly othersAreFine: boolean
  readonly withHistory: boolean
  /** Whether a name is that of this node, whose pods run on, and no others': a store that is not shared gets nothing that is bound on another node. */
  readonly isOwn?: (node: string) => boolean
  /** Told how much of what is done; without `total` nobody knows yet. */
  readonly onProgress: (what: string, done: number, total?: number) => void
  readonly signal: AbortSignal | undefined
}

/** The target, which is opened twice: what was written is read by somebody who has not written it. */
export interface Target {
  open(): Promise<LeaseStore>
  close(store: LeaseStore): Promise<void>
}

const nothingWritten = { written: 0, history: 0, source: null, target: null, verified: false } as const

/** Brings a copy of a ledger into a store. Nothing that is there is changed. Rejects with IPK_STORE_OCCUPIED, and wrote nothing. */
export async function moveLedger(
  copy: LedgerCopy,
  target: Target,
  { dryRun, othersAreFine, withHistory, isOwn, onProgress, signal }: MoveOptions,
): Promise<MoveReport> {
  const store = await target.open()
  const compared = compareRecords(store, await readAll(store), copy.records)
  const { missing, same, left, conflicts, others } = compared
  const base = { same, left, conflicts, others: others.length, dryRun, interrupted: false }
  const strange = !isOwn || store.shared ? [] : boundElsewhere(keptBy(store, copy.records), isOwn)
  const inTheWay = strange.length > 0 || conflicts.length > 0 || (others.length > 0 && !othersAreFine)
  const pages = (): ReturnType<LedgerCopy['history']> => (withHistory ? copy.history() : noPages())
  const looked = inTheWay || (await compareHistory(store, pages(), signal))
  if (inTheWay || dryRun || !looked) {
    await target.close(store)
    return {
      ...nothingWritten,
      ...base,
      ...(inTheWay && { conflicts: [...strange, ...blocking(compared, othersAreFine)] }),
      interrupted: !looked,
    }
  }
  const ofHistory = new HistoryDigest()
  let entries = 0
  const onEntry = (entry: HistoryEntry): void => {
    ofHistory.add(entry)
    if (++entries % 1000 === 0) onProgress('entries of the history', entries)
  }
  const ids = await writeHistory(store, pages(), onEntry, signal)
  if (!ids) {
    await target.close(store)
    return { ...nothingWritten, ...base, history: entries, interrupted: true }
  }
  let written = 0
  const whole = await writeMissing(store, missing, {
    signal,
    onProgress: (done, all) => {
      written = done
      onProgress('records', done, all)
    },
  })
  const kept = keptBy(store, copy.records)
  await target.close(store)
  if (!whole) return { ...nothingWritten, ...base, written, history: entries, interrupted: true }
  const source = { records: digestRecords(kept), history: ofHistory.end() }
  onProgress('records compared', 0, kept.length)
  const again = await target.open()
  const found = await digestOf(await copyLedger(again), { records: kept, entries: ids })
  await target.close(again)
  const verified = (['records', 'history'] as const).every(part => source[part].digest === found[part].digest)
  return { ...base, written, history: entries, source, target: found, verified }
}

/** What keeps everything from being written. */
function blocking(
  { conflicts, others }: RecordComparison,
  othersAreFine: boolean,
): readonly RecordConflict[] {
  return othersAreFine ? conflicts : [...conflicts, ...others]
}

/** A history of nothing. */
async function* noPages(): AsyncGenerator<never> {
  await Promise.resolve()
  yield* []
}

/** The copy without what is this node's own: attachments and history. */
export function withoutOwn({ records }: LedgerCopy): LedgerCopy {
  return { records: records.filter(({ kind }) => kind !== 'attachment'), history: noPages }
}

/** How many records of each kind. */
export function countKinds(records: readonly StoredRecord[]): Partial<Record<RecordKind, number>> {
  return Object.fromEntries(
    [...Map.groupBy(records, ({ kind }) => kind)].map(([kind, of]) => [kind, of.length]),
  )
}
