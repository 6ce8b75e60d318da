import { Problem } from '../../../shared/problem/problem.ts'
import { isSoundRecord } from '../../ipam/plan/record-fault.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import { recordKinds, type PoolRecord, type RecordKind } from '../../ipam/records/records.ts'
import type { FileAspect, HistoryQuery, StoredRecord } from '../../store/lease-store.ts'

/** Entries of the history that are read at once. */
const pageSize = 1000

/** What a ledger is made of, out of a store or of a backup. */
export interface LedgerCopy {
  readonly records: readonly StoredRecord[]
  /** Pages of the history, the newest entries first. */
  readonly history: () => AsyncIterable<readonly HistoryEntry[]>
}

/** As much of a store, or of the ledger of a daemon, as a copy is made from. */
export interface CopiedFrom {
  readonly file?: Pick<FileAspect, 'path' | 'fault' | 'verify'> | undefined
  load(visit: (stored: StoredRecord) => void): Promise<void>
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
}

/** An object of the Kubernetes API that people made: it stays there, and no daemon writes one. */
export function isOfPeople({ kind, text }: StoredRecord): boolean {
  return kind === 'pool' && (JSON.parse(text) as PoolRecord).origin === 'api'
}

/** A copy of what is damaged is none: what is in a file is looked at as a whole first. */
async function assertWhole({ file }: CopiedFrom): Promise<void> {
  const findings = (await file?.verify(true)) ?? []
  const fault = file?.fault()
  if (fault) throw fault
  const [first] = findings
  if (first === undefined) return
  throw new Problem('IPK_STORE_DAMAGED', `store ${file?.path ?? ''} is damaged: ${first}`, {
    hint: 'no lease is concerned; to rebuild the history from what can be read: ipkeeperctl rescue',
  })
}

/**
 * All that a store has at this moment; what it gets meanwhile is not in it. Nobody else may commit between the two
 * readings at the beginning, and nobody does: both are handed in at once.
 *
 * @throws IPK_STORE_DAMAGED, IPK_STORE_LOST
 */
export async function copyLedger(store: CopiedFrom): Promise<LedgerCopy> {
  await assertWhole(store)
  const records: StoredRecord[] = []
  const loading = store.load(({ kind, key, text }) => records.push({ kind, key, text }))
  const newest = store.history({ limit: 1 })
  await loading
  const [last] = await newest
  return { records, history: () => pagesOf(store, last) }
}

async function* pagesOf(
  store: Pick<CopiedFrom, 'history'>,
  newest: HistoryEntry | undefined,
): AsyncGenerator<readonly HistoryEntry[]> {
  for (let before = (newest?.id ?? 0) + 1; ;) {
    const page = await store.history({ limit: pageSize, before })
    const last = page.at(-1)
    if (!last) return
    yield page
    before = last.id
  }
}

/** Whether it is a record as ipkeeper writes it, under the key that it has. */
export function isRecord(value: unknown): value is { kind: RecordKind; key: string; record: object } {
  if (typeof value !== 'object' || value === null) return false
  const { kind, key, record } = value as Record<string, unknown>
  if (!recordKinds.includes(kind as RecordKind) || typeof key !== 'string') return false
  if (typeof record !== 'object' || record === null) return false
  return kind === 'attachment' || isSoundRecord(kind as Exclude<RecordKind, 'attachment'>, key, record)
}
