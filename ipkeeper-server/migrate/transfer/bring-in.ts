import { setImmediate as breathe } from 'node:timers/promises'
import { canonicalJson } from '../../ipam/records/canonical-json.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import type { Change, RecordKind, RecordTypes, Write } from '../../ipam/records/records.ts'
import { historyOccupied, type LeaseStore, type StoredRecord } from '../../store/lease-store.ts'
import { canonicalRecord, digestRecords, HistoryDigest, type LedgerDigest } from './ledger-digest.ts'
import { isOfPeople, type LedgerCopy } from './ledger-copy.ts'

/** Records of one commit: etcd takes 128 operations at once. */
const batchSize = 64
/** Commits under way with an engine. */
const atOnce = 4

/** A record that the target has otherwise, or that nobody brought; or one that could never end there. */
export interface RecordConflict {
  readonly kind: RecordKind
  readonly key: string
  /** Of the last: the node on which it is bound. */
  readonly boundOn?: string
}

export interface RecordComparison {
  /** To be written: the target has nothing under their keys. */
  readonly missing: readonly StoredRecord[]
  /** There already, and the same. */
  readonly same: number
  /** Something else is there. */
  readonly conflicts: readonly RecordConflict[]
  /** In the target alone. */
  readonly others: readonly RecordConflict[]
  /** Left out: of kinds that the target has no use for, and pools that people made in the API. */
  readonly left: number
}

const idOf = ({ kind, key }: { readonly kind: RecordKind; readonly key: string }): string => `${kind} ${key}`

/** What of a copy a store keeps. */
export function keptBy(
  store: Pick<LeaseStore, 'shared'>,
  records: readonly StoredRecord[],
): readonly StoredRecord[] {
  const ignored = store.shared?.ignores ?? []
  return records.filter(record => !ignored.includes(record.kind) && !isOfPeople(record))
}

export async function readAll(store: Pick<LeaseStore, 'load'>): Promise<readonly StoredRecord[]> {
  const records: StoredRecord[] = []
  await store.load(({ kind, key, text }) => records.push({ kind, key, text }))
  return records
}

/** Compares record by record; nothing is written. */
export function compareRecords(
  target: Pick<LeaseStore, 'shared'>,
  present: readonly StoredRecord[],
  records: readonly StoredRecord[],
): RecordComparison {
  const kept = keptBy(target, records)
  const there = new Map(present.filter(record => !isOfPeople(record)).map(record => [idOf(record), record]))
  const missing: StoredRecord[] = []
  const conflicts: RecordConflict[] = []
  let same = 0
  for (const record of kept) {
    const other = there.get(idOf(record))
    there.delete(idOf(record))
    if (!other) missing.push(record)
    else if (canonicalRecord(other) === canonicalRecord(record)) same++
    else conflicts.push({ kind: record.kind, key: record.key })
  }
  const others = [...there.values()].map(({ kind, key }) => ({ kind, key }))
  return { missing, same, conflicts, others, left: records.length - kept.length }
}

/** The node on which a record says that something is bound. */
function nodeOf({ kind, text }: StoredRecord): string | undefined {
  if (kind === 'lease') {
    const { state, node } = JSON.parse(text) as RecordTypes['lease']
    return state === 'bound' ? node : undefined
  }
  if (kind === 'holder') {
    const { attachment, sandbox } = JSON.parse(text) as RecordTypes['holder']
    return attachment ? sandbox?.node : undefined
  }
  return kind === 'attachment' ? (JSON.parse(text) as RecordTypes['attachment']).node : undefined
}

/** What is bound on other nodes: only those see it end, and they know nothing of a store that one node has to itself. */
export function boundElsewhere(
  records: readonly StoredRecord[],
  isOwn: (node: string) => boolean,
): readonly RecordConflict[] {
  return records.flatMap(record => {
    const boundOn = nodeOf(record)
    return boundOn === undefined || isOwn(boundOn) ? [] : [{ kind: record.kind, key: record.key, boundOn }]
  })
}

const write = ({ kind, key, text }: StoredRecord): Write =>
  ({ kind, key, expect: null, record: JSON.parse(text) as RecordTypes[RecordKind] }) as Write

/** Kinds apart, since a change with an attachment would be taken for an ADD; what ADDs look at comes first. */
const order: readonly RecordKind[] = [
  ...(['node', 'pool', 'quota', 'mac'] as const),
  ...(['reservation', 'holder', 'lease', 'attachment'] as const),
]

function batchesOf(records: readonly StoredRecord[]): Change[] {
  return order.flatMap(kind => {
    const writes = records.filter(record => record.kind === kind).map(write)
    const batches: Change[] = []
    for (let done = 0; done < writes.length; done += batchSize)
      batches.push(writes.slice(done, done + batchSize))
    return batches
  })
}

export interface BringInOptions {
  /** Told how much of the records is written. */
  readonly onProgress: (done: number, all: number) => void
  /** Ends the work between two commits. */
  readonly signal: AbortSignal | undefined
}

/**
 * Writes what is missing. In the embedded store all of it or nothing; in an engine one part after the other, so that whoever is
 * interrupted goes on by doing it again. Resolves to whether everything was written.
 */
export async function writeMissing(
  store: LeaseStore,
  missing: readonly StoredRecord[],
  { onProgress, signal }: BringInOptions,
): Promise<boolean> {
  const batches = batchesOf(missing)
  if (!store.shared) {
    // Changes that are handed in during one turn share a transaction.
    await Promise.all(batches.map(async batch => store.commit(batch)))
    onProgress(missing.length, missing.length)
    return true
  }
  let done = 0
  for (let next = 0; next < batches.length; next += atOnce) {
    if (signal?.aborted) return false
    const round = batches.slice(next, next + atOnce)
    await Promise.all(round.map(async batch => store.commit(batch)))
    done += round.reduce((sum, batch) => sum + batch.length, 0)
    onProgress(done, missing.length)
    await breathe()
  }
  return true
}

/**
 * Looks whether a store could adopt all of a history, before any page is written: each of them is a transaction of its own.
 * Resolves to whether it looked at everything; rejects with IPK_STORE_OCCUPIED.
 */
export async function compareHistory(
  store: Pick<LeaseStore, 'history' | 'location'>,
  pages: AsyncIterable<readonly HistoryEntry[]>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for await (const page of pages) {
    if (signal?.aborted) return false
    const wanted = new Map(page.map(entry => [entry.id, entry]))
    const [first, last] = [page[0]?.id ?? 0, page.at(-1)?.id ?? 0]
    for (let before = first + 1; before > last;) {
      const there = await store.history({ limit: page.length, before })
      for (const entry of there) {
        const own = wanted.get(entry.id)
        if (own && canonicalJson(own) !== canonicalJson(entry))
          throw historyOccupied(store.location, entry.id)
      }
      before = there.at(-1)?.id ?? 0
    }
    await breathe()
  }
  return true
}

/** Puts the pages of a history there, the newest first; resolves to the IDs of their entries, or undefined when it was ended. */
export async function writeHistory(
  store: Pick<LeaseStore, 'adoptHistory'>,
  pages: AsyncIterable<readonly HistoryEntry[]>,
  onEntry: (entry: HistoryEntry) => void,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<number> | undefined> {
  const ids = new Set<number>()
  for await (const page of pages) {
    if (signal?.aborted) return undefined
    await store.adoptHistory(page)
    // A signal is told in a turn of the event loop, and the embedded store takes none.
    await breathe()
    for (const entry of page) {
      ids.add(entry.id)
      onEntry(entry)
    }
  }
  return ids
}

/** What a store has of the records and entries that were brought in: to be read from the store itself, opened anew. */
export async function digestOf(
  { records, history }: LedgerCopy,
  wanted: { readonly records: readonly StoredRecord[]; readonly entries: ReadonlySet<number> },
): Promise<LedgerDigest> {
  const ids = new Set(wanted.records.map(idOf))
  const digest = new HistoryDigest()
  for await (const page of history())
    for (const entry of page) if (wanted.entries.has(entry.id)) digest.add(entry)
  return { records: digestRecords(records.filter(record => ids.has(idOf(record)))), history: digest.end() }
}
