import { basename } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { parseAddress } from '../../../shared/net/address.ts'
import { isSoundRecord } from '../../ipam/plan/record-fault.ts'
import {
  attachmentKey,
  isTimeOver,
  leaseKey,
  recordKinds,
  type AttachmentRecord,
  type HolderRecord,
  type LeaseKey,
  type RecordKind,
} from '../../ipam/records/records.ts'
import { endOfEvent, type HistoryEntry } from '../../ipam/records/history-entry.ts'
import type { StoredRecord } from '../lease-store.ts'
import type { Note, NoteKind } from '../shared/journal.ts'
import type { DatabaseImage } from './database-image.ts'
import { FileFaultLines } from './file-fault-lines.ts'
import { entryOfRow, historyColumns, readHistoryRow } from './history-table.ts'
import { integrityFindings } from './integrity.ts'
import { pageRows } from './page-rows.ts'
import { noteSum, recordSum } from './row-sum.ts'
import { SealRow, type Seal } from './seal.ts'

/** A lease that there must have been, by what else is there. */
export interface LostLease extends LeaseKey {
  /** Who tells of it, such as "the history: bound to shop/web-0". */
  readonly by: string
}

/** What of a database can still be read, row by row. */
export interface Salvage {
  readonly records: readonly StoredRecord[]
  readonly notes: readonly (Note & { readonly text: string })[]
  /** The newest first. */
  readonly history: readonly HistoryEntry[]
  /** One line each: tables that end too early, rows that do not match their checksums, of which the first are named. */
  readonly faults: readonly string[]
  /** Addresses whose lease or reservation is damaged or gone. */
  readonly lost: readonly LostLease[]
  /** Those, and the addresses that other damaged records speak of. */
  readonly concerned: readonly string[]
  /** As it stands there; undefined where it cannot be read. */
  readonly seal: Seal | undefined
}

type Row = Readonly<Record<string, unknown>>

interface Reading {
  readonly table: 'record' | 'note' | 'history'
  readonly columns: string
  /** Columns by which rows are told apart. */
  readonly order: readonly string[]
}

/** From both ends: what cannot be read in the middle does not hide what is behind it. Returns why that was needed. */
export function* readableRows(
  database: DatabaseSync,
  { table, columns, order }: Reading,
): Generator<Row, string | undefined> {
  const rows = (direction: 'ASC' | 'DESC'): Iterable<Row> => {
    const by = order.map(column => `${column} ${direction}`).join(', ')
    return database.prepare(`SELECT ${columns} FROM ${table} ORDER BY ${by}`).iterate()
  }
  const idOf = (row: Row): string => JSON.stringify(order.map(column => String(row[column])))
  try {
    yield* rows('ASC')
    return undefined
  } catch (error) {
    // Those before the fault once more: then the rows of a table that is whole need not be remembered.
    const seen = new Set<string>()
    untilFault(() => {
      for (const row of rows('ASC')) seen.add(idOf(row))
    })
    const rest = untilFault(() => rows('DESC')[Symbol.iterator]())
    for (;;) {
      const row = untilFault(() => rest?.next())
      if (!row || row.done) break
      if (!seen.has(idOf(row.value))) yield row.value
    }
    return `${table}: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** undefined: the database could not be read any further. */
function untilFault<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function rowsOf(database: DatabaseSync, reading: Reading, visit: (row: Row) => void): string | undefined {
  const rows = readableRows(database, reading)
  for (;;) {
    const next = rows.next()
    if (next.done) return next.value
    visit(next.value)
  }
}

const addressesIn = (text: string): readonly string[] =>
  [...text.matchAll(/[0-9a-fA-F:.]{3,45}/g)].flatMap(([word]) => (parseAddress(word) ? [word] : []))

/** The addresses that a record speaks of, by its key or by its body: of a bad one nobody knows which of them is wrong. */
function leasesIn(key: string, body: string): readonly LeaseKey[] {
  const [, segment = 'default'] = /^\["([^"\\]*)"/.exec(key) ?? []
  const inBody = [...body.matchAll(/"address":"([^"]*)"/g)].flatMap(([, address = '']) =>
    addressesIn(address),
  )
  return [...new Set([...addressesIn(key), ...inBody])].map(address => ({ segment, address }))
}

/** A layout from before there were checksums. */
function hasSums(database: DatabaseSync): boolean {
  try {
    database.prepare('SELECT sum FROM record LIMIT 0')
    return true
  } catch {
    return false
  }
}

/** From which layout on there is a table. */
const tables = { record: 1, history: 2, note: 3 } as const

/** Whether the layout is of a time before the table, and it is not there either. */
function isBefore(database: DatabaseSync, table: keyof typeof tables): boolean {
  try {
    const layout = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
    const present = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table)
    return layout < tables[table] && present === undefined
  } catch {
    return false
  }
}

/** Whether a record can be worked with, and stands under its own key. */
export function isPlausible(kind: string, key: string, body: string): boolean {
  try {
    const record = JSON.parse(body) as unknown
    if (kind !== 'attachment') return isSoundRecord(kind as Exclude<RecordKind, 'attachment'>, key, record)
    return attachmentKey(record as AttachmentRecord) === key
  } catch {
    return false
  }
}

function readSeal(database: DatabaseSync): Seal | undefined {
  try {
    return new SealRow(database).read()
  } catch {
    return undefined
  }
}

/** Where a ledger is read from. */
export interface SalvageSource {
  readonly database: DatabaseSync
  /** Its pages: what no table leads to any more can still be found there. */
  readonly image?: DatabaseImage
  /** Whether leases are in it; those of a journal are in the engine. */
  readonly keepsLeases: boolean
}

/** By the name that a journal has in every state folder. */
export const keepsLeases = (path: string): boolean => basename(path) !== 'journal.db'

/** Rows of all tables, each as long as it matches its checksum and can be worked with. */
class Finds {
  readonly #sums: boolean
  readonly records = new Map<string, StoredRecord & { readonly generation: number }>()
  readonly notes = new Map<string, Note & { readonly text: string }>()
  readonly history = new Map<number, HistoryEntry>()

  /** @param sums false: of a layout from before there were checksums */
  constructor(sums: boolean) {
    this.#sums = sums
  }

  /** Whether it is whole; of two under one key the newer one stays. */
  addRecord(kind: string, key: string, generation: number, text: string, sum: number): boolean {
    if (this.#sums && recordSum(kind, key, generation, text) !== sum) return false
    if (!recordKinds.includes(kind as RecordKind) || !isPlausible(kind, key, text)) return false
    const id = `${kind} ${key}`
    if ((this.records.get(id)?.generation ?? -1) < generation)
      this.records.set(id, { kind: kind as RecordKind, key, text, generation })
    return true
  }

  addNote(kind: string, key: string, text: string, sum: number): boolean {
    if (this.#sums && noteSum(kind, key, text) !== sum) return false
    const id = `${kind} ${key}`
    if (!this.notes.has(id)) this.notes.set(id, { kind: kind as NoteKind, key, text })
    return true
  }

  addEntry(row: Row): boolean {
    const entry = this.#sums ? entryOfRow(row) : readHistoryRow(row)
    if (entry) this.history.set(entry.id, entry)
    return entry !== undefined
  }

  /** What stands in single pages: the form of a row tells its table, and its checksum whether it is one. */
  addPages({ bytes, pageSize }: DatabaseImage): void {
    for (const { rowId, values } of pageRows(bytes, pageSize)) {
      const [kind, key, third, fourth, fifth] = values
      if (rowId !== undefined) {
        const [, segment, address, at, ends, body, sum] = values
        if (values.length === 7 && typeof body === 'string')
          this.addEntry({ id: rowId, segment, address, at, ends, body, sum })
      } else if (typeof kind !== 'string' || typeof key !== 'string') continue
      else if (typeof third === 'number' && typeof fourth === 'string')
        this.addRecord(kind, key, third, fourth, Number(fifth))
      else if (typeof third === 'string' && values.length === 4)
        this.addNote(kind, key, third, Number(fourth))
    }
  }
}

/** Reads all that can be read. Never throws for a fault of the file. */
export function salvage(
  { database, image, keepsLeases: leasesAreHere }: SalvageSource,
  now: number,
): Salvage {
  const faults = new FileFaultLines()
  const bad: LostLease[] = []
  const concerned = new Set<string>()
  const sums = hasSums(database)
  const finds = new Finds(sums)
  const isBad = sums ? 'does not match its checksum' : 'is not as ipkeeper writes it'
  /** Tables that could not be walked to their end. */
  const broken: string[] = []
  const read = ({ table, columns, order }: Reading, visit: (row: Row) => void): void => {
    if (isBefore(database, table)) return
    const present = sums ? columns : columns.replace(/\bsum$/, '0 AS sum')
    const fault = rowsOf(database, { table, columns: present, order }, visit)
    if (fault !== undefined) broken.push(fault)
  }

  read({ table: 'record', columns: 'kind, key, generation, body, sum', order: ['kind', 'key'] }, row => {
    const [kind, key, body] = [String(row['kind']), String(row['key']), String(row['body'])]
    const [generation, sum] = [Number(row['generation']), Number(row['sum'])]
    if (finds.addRecord(kind, key, generation, body, sum)) return
    const isMade = sums && recordSum(kind, key, generation, body) === sum
    faults.add(`${kind} ${key} ${isMade ? 'is not as ipkeeper writes it' : isBad}`)
    for (const lease of leasesIn(key, body)) {
      concerned.add(lease.address)
      if (kind === 'lease' || kind === 'reservation') bad.push({ ...lease, by: `its ${kind} is damaged` })
    }
  })
  read({ table: 'note', columns: 'kind, key, body, sum', order: ['kind', 'key'] }, row => {
    const [kind, key, body] = [String(row['kind']), String(row['key']), String(row['body'])]
    if (!finds.addNote(kind, key, body, Number(row['sum']))) faults.add(`note ${kind} ${key} ${isBad}`)
  })
  read({ table: 'history', columns: historyColumns, order: ['id'] }, row => {
    if (!finds.addEntry(row)) faults.add(`entry ${String(row['id'])} of the history ${isBad}`)
  })
  if (broken.length > 0 && image && sums) finds.addPages(image)
  const seal = readSeal(database)
  if (broken.length === 0 && faults.isEmpty) {
    if (seal && seal.records.rows !== finds.records.size)
      faults.add(`it has ${finds.records.size} records, and ${seal.records.rows} were written`)
    else for (const fault of structureFaults(database)) faults.add(fault)
  }

  const records = [...finds.records.values()].map(({ kind, key, text }) => ({ kind, key, text }))
  const history = [...finds.history.values()].sort((a, b) => b.id - a.id)
  const lost = leasesAreHere ? lostLeases(finds, history, bad, now) : []
  for (const { address } of lost) concerned.add(address)
  const notes = [...finds.notes.values()]
  return {
    ...{ records, notes, history, seal, lost },
    ...{ faults: [...broken, ...faults.lines()], concerned: [...concerned] },
  }
}

/** Leases that are not there, and that a bad row, their holder or the history tells of. */
function lostLeases(
  { records }: Finds,
  history: readonly HistoryEntry[],
  bad: readonly LostLease[],
  now: number,
): readonly LostLease[] {
  const lost = new Map<string, LostLease>()
  const lose = ({ segment, address, by }: LostLease): void => {
    const id = leaseKey({ segment, address })
    if (!records.has(`lease ${id}`) && !lost.has(id)) lost.set(id, { segment, address, by })
  }
  for (const lease of bad) lose(lease)
  for (const { kind, text } of records.values()) {
    if (kind !== 'holder') continue
    for (const key of (JSON.parse(text) as HolderRecord).leases)
      lose({ ...key, by: 'the record of its holder' })
  }
  const newest = new Set<string>()
  for (const entry of history) {
    const id = leaseKey(entry)
    if (newest.has(id)) continue
    newest.add(id)
    if (entry.event !== 'cooling' && !isTimeOver({ until: endOfEvent(entry) }, now))
      lose({ ...entry, by: `the history: ${entry.event}` })
  }
  return [...lost.values()]
}

function structureFaults(database: DatabaseSync): readonly string[] {
  try {
    return integrityFindings(database)
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}
