import { setImmediate as breathe } from 'node:timers/promises'
import { Problem } from '../../../shared/problem/problem.ts'
import { isJsonObject } from '../../../shared/json/fold.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import type { StoredRecord } from '../../store/lease-store.ts'
import { isRecord, type LedgerCopy } from './ledger-copy.ts'
import { HistoryDigest, RecordDigest, type LedgerDigest } from './ledger-digest.ts'

/** Of the form of a backup; one that a later ipkeeper wrote otherwise has a greater one. */
const format = 1

export interface BackupHead {
  readonly ipkeeper: 'backup'
  readonly format: number
  /** Of the program that made it. */
  readonly version: string
  /** RFC 3339. */
  readonly createdAt: string
  /** Whose attachments and history are in it. */
  readonly node: string
  /** "sqlite", "etcd", ...: where it is from. */
  readonly store: string
}

/** Lines that are written at once: other work goes on between two such parts. */
const partSize = 256

/**
 * A ledger as lines of JSON, in parts of many: a head, a line for each record and for each entry of the history, and a last line
 * with counts and digests, without which it is not whole.
 */
export async function* backupParts(
  { records, history }: LedgerCopy,
  head: Omit<BackupHead, 'ipkeeper' | 'format'>,
): AsyncGenerator<string> {
  yield line({ ipkeeper: 'backup', format, ...head })
  const ofRecords = new RecordDigest()
  for (let done = 0; done < records.length; done += partSize) {
    const part = records.slice(done, done + partSize)
    for (const record of part) ofRecords.add(record)
    yield part.map(recordLine).join('')
    await breathe()
  }
  const ofHistory = new HistoryDigest()
  for await (const page of history()) {
    for (const entry of page) ofHistory.add(entry)
    yield page.map(entry => line({ history: entry })).join('')
  }
  yield line({ end: { records: ofRecords.end(), history: ofHistory.end() } satisfies LedgerDigest })
}

/** The text of a record as the store has it. */
const recordLine = ({ kind, key, text }: StoredRecord): string =>
  `{"kind":${JSON.stringify(kind)},"key":${JSON.stringify(key)},"record":${text}}\n`

const line = (value: object): string => `${JSON.stringify(value)}\n`

export interface Backup {
  readonly head: BackupHead
  readonly copy: LedgerCopy
  readonly digest: LedgerDigest
}

const invalid = (name: string, why: string): Problem => new Problem('IPK_BACKUP_INVALID', `${name}: ${why}`)

/** Entries of a page, as a store would give them. */
const pageSize = 1000

/**
 * Reads a backup to its end and compares it with its digests.
 *
 * @param name for messages
 * @throws IPK_BACKUP_INVALID
 */
export async function readBackup(lines: AsyncIterable<string>, name: string): Promise<Backup> {
  let head: BackupHead | undefined
  let end: LedgerDigest | undefined
  let number = 0
  const records: StoredRecord[] = []
  const entries: HistoryEntry[] = []
  const [ofRecords, ofHistory] = [new RecordDigest(), new HistoryDigest()]
  for await (const text of lines) {
    number++
    const value = parse(text, name, number)
    if (end) throw invalid(name, `line ${number} is behind its end`)
    if (!head) head = readHead(value, name)
    else if (isJsonObject(value['end'])) end = value['end'] as unknown as LedgerDigest
    else if (isJsonObject(value['history'])) {
      const entry = value['history'] as unknown as HistoryEntry
      entries.push(entry)
      ofHistory.add(entry)
    } else if (isRecord(value)) {
      const record = { kind: value.kind, key: value.key, text: JSON.stringify(value.record) }
      records.push(record)
      ofRecords.add(record)
    } else throw invalid(name, `line ${number} is no record of a ledger`)
  }
  if (!head) throw invalid(name, 'it is empty')
  if (!end) throw invalid(name, `it ends after line ${number}, before its last one`)
  const found: LedgerDigest = { records: ofRecords.end(), history: ofHistory.end() }
  for (const part of ['records', 'history'] as const) {
    const wanted = isJsonObject(end[part]) ? end[part] : { count: 0, digest: 'none' }
    if (found[part].count !== wanted.count) {
      throw invalid(
        name,
        `it has ${found[part].count} lines of ${part}, and says that there are ${wanted.count}`,
      )
    }
    if (found[part].digest !== wanted.digest) throw invalid(name, `its ${part} are not those that were saved`)
  }
  return { head, digest: found, copy: { records, history: () => pages(entries) } }
}

function parse(text: string, name: string, number: number): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid(name, number === 1 ? 'it is no backup of ipkeeper' : `line ${number} is cut or broken`)
  }
  if (!isJsonObject(value)) throw invalid(name, `line ${number} is no object`)
  return { ...value }
}

function readHead(value: Record<string, unknown>, name: string): BackupHead {
  const head = value as unknown as BackupHead
  if (value['ipkeeper'] !== 'backup') throw invalid(name, 'it is no backup of ipkeeper')
  if (head.format !== format) {
    throw new Problem(
      'IPK_BACKUP_INVALID',
      `${name}: it has format ${head.format}, and this ipkeeper knows ${format}`,
      {
        hint: `use the ipkeeper that wrote it (${head.version}), or a newer one`,
      },
    )
  }
  return head
}

async function* pages(entries: readonly HistoryEntry[]): AsyncGenerator<readonly HistoryEntry[]> {
  for (let done = 0; done < entries.length; done += pageSize)
    yield await Promise.resolve(entries.slice(done, done + pageSize))
}
