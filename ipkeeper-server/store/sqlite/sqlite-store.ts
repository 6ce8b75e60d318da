import { setImmediate as breathe } from 'node:timers/promises'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Problem } from '../../../shared/problem/problem.ts'
import type { HistoryEntry, HistoryEvent } from '../../ipam/history-entry.ts'
import type { Change, RecordKind, RecordTypes } from '../../ipam/records.ts'
import {
  historyOccupied,
  StoreConflict,
  type HistoryQuery,
  type HistoryRule,
  type StoredRecord,
} from '../lease-store.ts'
import type { Journal, Note, NoteKind } from '../shared/journal.ts'
import { HistoryTable } from './history-table.ts'
import { migrations } from './migrations.ts'

interface Pending {
  readonly change: Change
  readonly events: readonly HistoryEvent[]
  readonly notes: readonly Note[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Statements {
  readonly generation: StatementSync
  readonly body: StatementSync
  readonly put: StatementSync
  readonly delete: StatementSync
  readonly putNote: StatementSync
  readonly deleteNote: StatementSync
}

const failed = (path: string, cause: unknown, hint?: string): Problem =>
  new Problem(
    'IPK_STORE_FAILED',
    `store ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause, ...(hint !== undefined && { hint }) },
  )

/**
 * The embedded store: one SQLite file, write-ahead log, synchronous=FULL, locked for one process. Changes that are handed
 * in during one turn of the event loop share a transaction and its fsync (group commit); each of them still applies
 * wholly or not at all.
 */
export class SqliteStore implements Journal {
  readonly kind = 'sqlite'
  readonly location: string
  readonly #database: DatabaseSync
  readonly #statements: Statements
  readonly #history: HistoryTable
  #pending: Pending[] = []
  #closed = false

  private constructor(path: string, database: DatabaseSync) {
    this.location = path
    this.#database = database
    this.#statements = {
      generation: database.prepare('SELECT generation FROM record WHERE kind = ? AND key = ?'),
      body: database.prepare('SELECT body FROM record WHERE kind = ? AND key = ?'),
      put: database.prepare(
        'INSERT OR REPLACE INTO record (kind, key, generation, body) VALUES (?, ?, ?, ?)',
      ),
      delete: database.prepare('DELETE FROM record WHERE kind = ? AND key = ?'),
      putNote: database.prepare('INSERT OR REPLACE INTO note (kind, key, body) VALUES (?, ?, ?)'),
      deleteNote: database.prepare('DELETE FROM note WHERE kind = ? AND key = ?'),
    }
    this.#history = new HistoryTable(database)
  }

  /** Opens or makes the file. Throws IPK_STORE_FAILED: another daemon has it, it is damaged, or made by a newer version. */
  static open(path: string): SqliteStore {
    let database: DatabaseSync | undefined
    try {
      database = new DatabaseSync(path)
      database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
      const row = database.prepare('PRAGMA user_version').get()
      const applied = Number(row?.['user_version'] ?? 0)
      if (applied > migrations.length) {
        const known = `newer than this version of ipkeeper-server knows (${migrations.length})`
        // Not "choose another --store": an empty one would give addresses again that pods have.
        throw new Problem('IPK_STORE_FAILED', `store ${path}: layout ${applied} is ${known}`, {
          hint: 'start the newer ipkeeper-server again, or put the copy of the state folder from before the upgrade back; see "Going back" in docs/upgrade.md',
        })
      }
      database.exec('BEGIN EXCLUSIVE')
      for (const step of migrations.slice(applied)) database.exec(step)
      database.exec(`PRAGMA user_version = ${migrations.length}`)
      database.exec('COMMIT')
      return new SqliteStore(path, database)
    } catch (error) {
      database?.close()
      if (error instanceof Problem) throw error
      const locked = error instanceof Error && /locked|busy/.test(error.message)
      if (!locked)
        throw failed(path, error, 'run as root; check the file and the disk, or choose another --store')
      throw new Problem('IPK_STORE_FAILED', `store ${path} is in use by another process`, {
        cause: error,
        hint: 'stop the other ipkeeper-server, or give this one another --state-dir',
      })
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw new Problem('IPK_STORE_FAILED', `store ${this.location} is closed`)
  }

  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    this.#assertOpen()
    try {
      for (const row of this.#database.prepare('SELECT kind, key, body FROM record').iterate()) {
        visit({ kind: row['kind'] as RecordKind, key: String(row['key']), text: String(row['body']) })
      }
    } catch (error) {
      throw failed(this.location, error)
    }
    return Promise.resolve()
  }

  async read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined> {
    this.#assertOpen()
    try {
      const row = this.#statements.body.get(kind, key)
      return await Promise.resolve(row && (JSON.parse(String(row['body'])) as RecordTypes[K]))
    } catch (error) {
      throw failed(this.location, error)
    }
  }

  loadNotes(visit: (note: Note & { readonly text: string }) => void): void {
    this.#assertOpen()
    try {
      for (const row of this.#database.prepare('SELECT kind, key, body FROM note').iterate()) {
        visit({ kind: row['kind'] as NoteKind, key: String(row['key']), text: String(row['body']) })
      }
    } catch (error) {
      throw failed(this.location, error)
    }
  }

  async commit(
    change: Change,
    events: readonly HistoryEvent[] = [],
    notes: readonly Note[] = [],
  ): Promise<void> {
    this.#assertOpen()
    if (change.length === 0 && notes.length === 0) return
    await new Promise<void>((resolve, reject) => {
      this.#pending.push({ change, events, notes, resolve, reject })
      if (this.#pending.length === 1)
        setImmediate(() => {
          this.#flush()
        })
    })
  }

  /** All changes of this turn in one transaction; a conflicting one is left out, the others go on. */
  #flush(): void {
    const batch = this.#pending
    this.#pending = []
    const conflicts = new Map<Pending, StoreConflict>()
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      for (const entry of batch) {
        const conflict = this.#firstConflict(entry.change)
        if (conflict) conflicts.set(entry, conflict)
        else {
          this.#write(entry.change)
          this.#note(entry.notes)
          for (const event of entry.events) this.#history.add(event)
        }
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#rollBack()
      for (const entry of batch) entry.reject(failed(this.location, error))
      return
    }
    for (const entry of batch) {
      const conflict = conflicts.get(entry)
      if (conflict) entry.reject(conflict)
      else entry.resolve()
    }
  }

  /** Writes the page that holds the layout's number, with the same number. */
  async probe(): Promise<void> {
    this.#assertOpen()
    try {
      this.#database.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${migrations.length}; COMMIT`)
    } catch (error) {
      this.#rollBack()
      throw failed(this.location, error)
    }
    return Promise.resolve()
  }

  #rollBack(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself on I/O errors; then there is nothing left to undo.
    }
  }

  #firstConflict(change: Change): StoreConflict | undefined {
    for (const { kind, key, expect } of change) {
      const row = this.#statements.generation.get(kind, key)
      const present = row === undefined ? null : Number(row['generation'])
      if (present !== expect) return new StoreConflict(kind, key)
    }
    return undefined
  }

  #write(change: Change): void {
    for (const { kind, key, record } of change) {
      if (record === null) this.#statements.delete.run(kind, key)
      else this.#statements.put.run(kind, key, record.generation, JSON.stringify(record))
    }
  }

  #note(notes: readonly Note[]): void {
    for (const { kind, key, text } of notes) {
      if (text === null) this.#statements.deleteNote.run(kind, key)
      else this.#statements.putNote.run(kind, key, text)
    }
  }

  async history(query: HistoryQuery): Promise<readonly HistoryEntry[]> {
    this.#assertOpen()
    try {
      return await Promise.resolve(this.#history.find(query))
    } catch (error) {
      throw failed(this.location, error)
    }
  }

  async adoptHistory(entries: readonly HistoryEntry[]): Promise<void> {
    this.#assertOpen()
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      for (const entry of entries) {
        const other = this.#history.adopt(entry)
        if (other) throw historyOccupied(this.location, other.id)
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#rollBack()
      throw error instanceof Problem ? error : failed(this.location, error)
    }
    return Promise.resolve()
  }

  async pruneHistory(rule: HistoryRule): Promise<number> {
    this.#assertOpen()
    let removed = 0
    try {
      for (const step of this.#history.prune(rule)) {
        removed += step
        await breathe()
        if (this.#closed) break
      }
    } catch (error) {
      throw failed(this.location, error)
    }
    return removed
  }

  async close(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    if (this.#pending.length > 0) this.#flush()
    this.#closed = true
    try {
      this.#database.close()
    } catch (error) {
      throw failed(this.location, error)
    }
    return Promise.resolve()
  }
}
