import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Problem } from '../../../shared/problem/problem.ts'
import type { HistoryEntry, HistoryEvent } from '../../ipam/records/history-entry.ts'
import { recordKinds, type Change, type RecordKind } from '../../ipam/records/records.ts'
import { StoreConflict, type StoredRecord } from '../lease-store.ts'
import type { Note, NoteKind } from '../shared/journal.ts'
import { damagedRows, isDamage, errorText } from './damage.ts'
import { FileFaultLines } from './file-fault-lines.ts'
import { entryOfRow, historyColumns, HistoryTable } from './history-table.ts'
import { noteSum, recordSum } from './row-sum.ts'
import { keepsLeases, readableRows, salvage } from './salvage.ts'
import { noRows, sameTally, SealRow, tallyAfter, type Seal, type Tally } from './seal.ts'

/** Writes that belong together. */
export interface Commit {
  readonly change: Change
  readonly events: readonly HistoryEvent[]
  readonly notes: readonly Note[]
}

interface Statements {
  readonly generation: StatementSync
  readonly record: StatementSync
  readonly put: StatementSync
  readonly delete: StatementSync
  readonly note: StatementSync
  readonly putNote: StatementSync
  readonly deleteNote: StatementSync
}

/** What stands in the rows, as far as it is counted. */
export interface RowCounts {
  readonly seal: Seal
  readonly attachments: number
}

export interface Applied<T> extends RowCounts {
  readonly conflicts: ReadonlyMap<T, StoreConflict>
  readonly pages: number
  /** All that was written, as JSON; undefined: nothing was. */
  readonly writes: string | undefined
}

/** The rows of a ledger: each with its checksum, and all of them under one seal. Transactions are the caller's. */
export class LedgerRows {
  readonly history: HistoryTable
  readonly #path: string
  readonly #database: DatabaseSync
  readonly #statements: Statements
  readonly #sealRow: SealRow

  constructor(path: string, database: DatabaseSync) {
    this.#path = path
    this.#database = database
    this.history = new HistoryTable(database, path)
    this.#sealRow = new SealRow(database)
    this.#statements = {
      generation: database.prepare('SELECT generation, sum FROM record WHERE kind = ? AND key = ?'),
      record: database.prepare('SELECT generation, body, sum FROM record WHERE kind = ? AND key = ?'),
      put: database.prepare(
        'INSERT OR REPLACE INTO record (kind, key, generation, body, sum) VALUES (?, ?, ?, ?, ?)',
      ),
      delete: database.prepare('DELETE FROM record WHERE kind = ? AND key = ?'),
      note: database.prepare('SELECT sum FROM note WHERE kind = ? AND key = ?'),
      putNote: database.prepare('INSERT OR REPLACE INTO note (kind, key, body, sum) VALUES (?, ?, ?, ?)'),
      deleteNote: database.prepare('DELETE FROM note WHERE kind = ? AND key = ?'),
    }
  }

  /** undefined: it does not match its checksum. */
  seal(): Seal | undefined {
    return this.#sealRow.read()
  }

  // ---- Reading

  /**
   * Hands over all records; throws, having handed over some, when any is damaged, missing or of an older ledger.
   *
   * @param visit throws for one that cannot be worked with
   * @returns how many attachments there are
   */
  load({ records }: Seal, visit: (stored: StoredRecord) => void): number {
    let tally = noRows
    const bad: string[] = []
    let attachments = 0
    this.#read(() => {
      for (const kind of recordKinds) {
        const rows = this.#database
          .prepare('SELECT key, generation, body, sum FROM record WHERE kind = ?', { returnArrays: true })
          .iterate(kind) as unknown as Iterable<readonly [string, number, string, number]>
        for (const [key, generation, text, sum] of rows) {
          tally = tallyAfter(tally, undefined, sum)
          if (kind === 'attachment') attachments++
          if (recordSum(kind, key, generation, text) !== sum)
            bad.push(`${kind} ${key} does not match its checksum`)
          else if (!isTaken(visit, { kind, key, text }))
            bad.push(`${kind} ${key} is not as ipkeeper writes it`)
        }
      }
    })
    if (bad.length > 0 || !sameTally(tally, records))
      throw this.damagedRows(bad[0] ?? howMany('records', tally, records))
    return attachments
  }

  loadNotes({ notes }: Seal, visit: (note: Note & { readonly text: string }) => void): void {
    let tally = noRows
    const bad: string[] = []
    this.#read(() => {
      for (const row of this.#database.prepare('SELECT kind, key, body, sum FROM note').iterate()) {
        const [kind, key, text] = [row['kind'] as NoteKind, String(row['key']), String(row['body'])]
        const sum = Number(row['sum'])
        tally = tallyAfter(tally, undefined, sum)
        if (noteSum(kind, key, text) === sum) visit({ kind, key, text })
        else bad.push(key)
      }
    })
    if (bad.length > 0 || !sameTally(tally, notes)) throw this.damagedRows(howMany('notes', tally, notes))
  }

  /** Its text; undefined where there is none. */
  read(kind: RecordKind, key: string): string | undefined {
    const row = this.#read(() => this.#statements.record.get(kind, key))
    if (!row) return undefined
    const text = String(row['body'])
    if (recordSum(kind, key, Number(row['generation']), text) === Number(row['sum'])) return text
    throw this.damagedRows(`${kind} ${key} does not match its checksum`)
  }

  /** Entries that can still be read, whatever is wrong with the file; returns what could not be, in one line each. */
  *readableHistory(): Generator<HistoryEntry, readonly string[]> {
    const faults = new FileFaultLines()
    const rows = readableRows(this.#database, { table: 'history', columns: historyColumns, order: ['id'] })
    for (;;) {
      const { done, value } = rows.next()
      if (done) return value === undefined ? faults.lines() : [...faults.lines(), value]
      const entry = entryOfRow(value)
      if (entry) yield entry
      else faults.add(`entry ${String(value['id'])} of the history does not match its checksum`)
    }
  }

  #read<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw isDamage(error) ? this.damagedRows(errorText(error)) : error
    }
  }

  /** What is wrong with which rows; `otherwise` where that does not show in any. */
  damagedRows(otherwise: string): Problem {
    return damagedRows(
      this.#path,
      salvage({ database: this.#database, keepsLeases: keepsLeases(this.#path) }, Date.now()),
      otherwise,
    )
  }

  // ---- Writing

  /** Writes what does not conflict, and the seal over it. */
  apply<T extends Commit>(batch: readonly T[], before: RowCounts): Applied<T> {
    const conflicts = new Map<T, StoreConflict>()
    let { records, notes } = before.seal
    let { attachments } = before
    let pages = 1
    const texts: string[] = []
    for (const commit of batch) {
      const sums = this.#sumsBefore(commit.change)
      if (sums instanceof StoreConflict) {
        conflicts.set(commit, sums)
        continue
      }
      const writes = commit.change.map((write, index) => {
        const { kind, key, expect, record } = write
        const text = record === null ? 'null' : JSON.stringify(record)
        const sum = record === null ? undefined : recordSum(kind, key, record.generation, text)
        if (record === null || sum === undefined) this.#statements.delete.run(kind, key)
        else this.#statements.put.run(kind, key, record.generation, text, sum)
        records = tallyAfter(records, sums[index], sum)
        if (kind === 'attachment')
          attachments += Number(sum !== undefined) - Number(sums[index] !== undefined)
        return `{"kind":"${kind}","key":${JSON.stringify(key)},"expect":${expect},"record":${text}}`
      })
      for (const note of commit.notes) notes = tallyAfter(notes, ...this.#putNote(note))
      for (const event of commit.events) this.history.add(event)
      pages += commit.change.length + commit.notes.length + 2 * commit.events.length
      const [events, kept] = [JSON.stringify(commit.events), JSON.stringify(commit.notes)]
      texts.push(`{"change":[${writes.join(',')}],"events":${events},"notes":${kept}}`)
    }
    if (conflicts.size === batch.length) return { ...before, conflicts, pages: 0, writes: undefined }
    const seal = { ...before.seal, commits: before.seal.commits + 1, records, notes }
    this.#sealRow.write(seal)
    return { seal, attachments, conflicts, pages, writes: `[${texts.join(',')}]` }
  }

  /** The sums of the rows that a change replaces; or the first conflict. */
  #sumsBefore(change: Change): readonly (number | undefined)[] | StoreConflict {
    const sums: (number | undefined)[] = []
    for (const { kind, key, expect } of change) {
      const row = this.#statements.generation.get(kind, key)
      if ((row === undefined ? null : Number(row['generation'])) !== expect)
        return new StoreConflict(kind, key)
      sums.push(row && Number(row['sum']))
    }
    return sums
  }

  #putNote({ kind, key, text }: Note): readonly [before: number | undefined, after: number | undefined] {
    const row = this.#statements.note.get(kind, key)
    const after = text === null ? undefined : noteSum(kind, key, text)
    if (text === null || after === undefined) this.#statements.deleteNote.run(kind, key)
    else this.#statements.putNote.run(kind, key, text, after)
    return [row && Number(row['sum']), after]
  }
}

/** A record whose checksum is right may still be one that another program made. */
function isTaken(visit: (stored: StoredRecord) => void, stored: StoredRecord): boolean {
  try {
    visit(stored)
    return true
  } catch {
    return false
  }
}

function howMany(what: string, found: Tally, wanted: Tally): string {
  return found.rows === wanted.rows
    ? `its ${what} are not those that were written last`
    : `it has ${found.rows} ${what}, and ${wanted.rows} were written`
}
