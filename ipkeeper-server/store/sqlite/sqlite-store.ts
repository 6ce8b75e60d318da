import { setImmediate as breathe } from 'node:timers/promises'
import { Problem } from '../../../shared/problem/problem.ts'
import type { HistoryEntry, HistoryEvent } from '../../ipam/records/history-entry.ts'
import type { Change, RecordKind, RecordTypes } from '../../ipam/records/records.ts'
import {
  historyOccupied,
  StoreConflict,
  type FileAspect,
  type HistoryBegin,
  type HistoryQuery,
  type HistoryRule,
  type Rescued,
  type StoredRecord,
} from '../lease-store.ts'
import type { Journal, Note } from '../shared/journal.ts'
import { LedgerFile, type LedgerFileOptions } from './ledger-file.ts'
import type { Commit } from './ledger-rows.ts'
import { putInPlace, timeStamp, writeLedger, type Contents } from './rescue-file.ts'
import { recordId } from '../../ipam/records/records.ts'

interface Pending extends Commit {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Milliseconds after the last commit until the log is emptied: then little is lost with it, and little of it can be damaged. */
const restingAfter = 5000

const failed = (path: string, cause: unknown, hint?: string): Problem =>
  new Problem(
    'IPK_STORE_FAILED',
    `store ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause, ...(hint !== undefined && { hint }) },
  )

const isRenewed = (path: string): Problem =>
  new Problem('IPK_STORE_LOST', `store ${path} is being rewritten at this moment`, {
    hint: 'try again in some seconds',
  })

/**
 * The embedded store: one SQLite file, write-ahead log, synchronous=FULL, locked for one process. Changes that are handed
 * in during one turn of the event loop, or the next, share a transaction and its fsync (group commit); each of them still applies
 * wholly or not at all.
 */
export class SqliteStore implements Journal {
  readonly kind = 'sqlite'
  readonly location: string
  #file: LedgerFile
  readonly #options: LedgerFileOptions
  /** As they are in the file: a ledger knows its records, and nobody else all notes. */
  readonly #notes = new Map<string, Note>()
  #pending: Pending[] = []
  #closed = false
  #resting: NodeJS.Timeout | undefined
  /** What is wrong and concerns no record. */
  #findings: readonly string[] = []
  /** While all of it is written to a new file. */
  #renewing = false

  readonly file: FileAspect

  private constructor(file: LedgerFile, options: LedgerFileOptions) {
    this.location = file.path
    this.#file = file
    this.#options = options
    this.file = {
      path: file.path,
      isUnused: () => this.#file.isUnused,
      findings: () => this.#findings,
      fault: () => this.#file.fault(),
      verify: anew => this.#verify(anew),
      rescue: records => this.#rescue(records),
      saveBeside: records => this.#saveBeside(records),
    }
  }

  /** Opens or makes the file. Throws IPK_STORE_FAILED: another daemon has it, it is damaged, or made by a newer version. */
  static open(path: string, options: LedgerFileOptions = {}): SqliteStore {
    try {
      return new SqliteStore(LedgerFile.open(path, options), options)
    } catch (error) {
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

  /** What SQLite throws is a problem of the store. */
  #told<T>(work: () => T): T {
    this.#assertOpen()
    try {
      return work()
    } catch (error) {
      throw error instanceof Problem ? error : failed(this.location, error)
    }
  }

  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    this.#told(() => {
      this.#file.load(visit)
    })
    return Promise.resolve()
  }

  async read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined> {
    const text = this.#told(() => this.#file.read(kind, key))
    return await Promise.resolve(text === undefined ? undefined : (JSON.parse(text) as RecordTypes[K]))
  }

  mayHaveAttachment(key: string): boolean {
    try {
      return this.#file.read('attachment', key) !== undefined
    } catch {
      return true
    }
  }

  loadNotes(visit: (note: Note & { readonly text: string }) => void): void {
    this.#told(() => {
      this.#file.loadNotes(note => {
        this.#notes.set(recordId(note), note)
        visit(note)
      })
    })
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
      // In a burst few changes are ready in the same turn. An empty turn costs whoever is alone some microseconds.
      if (this.#pending.length === 1)
        setImmediate(() => {
          setImmediate(() => {
            this.#flush()
          })
        })
    })
  }

  /** All changes that wait, in one transaction; a conflicting one is left out, the others go on. */
  #flush(): void {
    const batch = this.#pending
    this.#pending = []
    if (batch.length === 0) return
    let conflicts: ReadonlyMap<Pending, StoreConflict>
    try {
      if (this.#renewing) throw isRenewed(this.location)
      conflicts = this.#told(() => this.#file.write(batch))
    } catch (error) {
      clearTimeout(this.#resting)
      this.#resting = undefined
      for (const entry of batch) entry.reject(error)
      return
    }
    this.#restLater()
    for (const entry of batch) {
      const conflict = conflicts.get(entry)
      if (conflict) {
        entry.reject(conflict)
        continue
      }
      for (const note of entry.notes) {
        if (note.text === null) this.#notes.delete(recordId(note))
        else this.#notes.set(recordId(note), note)
      }
      entry.resolve()
    }
  }

  /** From here on it is not one that was never written to: FileAspect.isUnused. */
  begin(): void {
    this.#told(() => this.#file.write([{ change: [], events: [], notes: [] }]))
  }

  async probe(): Promise<void> {
    this.#told(() => {
      this.#file.probe()
    })
    this.#restLater()
    return Promise.resolve()
  }

  /** One timer after the last change, and none while nothing is written. */
  #restLater(): void {
    if (this.#resting) this.#resting.refresh()
    else
      this.#resting = setTimeout(() => {
        this.#rest()
      }, restingAfter).unref()
  }

  #rest(): void {
    if (this.#closed || this.#renewing) return
    try {
      this.#file.checkpoint('TRUNCATE')
    } catch {
      // A disk that is full, say: the log keeps it until the next rest. What is damaged, the next change tells.
    }
  }

  async history(query: HistoryQuery): Promise<readonly HistoryEntry[]> {
    return await Promise.resolve(this.#told(() => this.#file.history.find(query)))
  }

  async historyBegins(): Promise<HistoryBegin | undefined> {
    let begins: HistoryBegin | undefined
    const steps = this.#file.history.begins()
    for (;;) {
      const step = this.#told(() => steps.next())
      if (step.done) return begins
      begins = step.value
      await breathe()
    }
  }

  async adoptHistory(entries: readonly HistoryEntry[]): Promise<void> {
    this.#told(() => {
      this.#file.adoptHistory(history => {
        for (const entry of entries) {
          const other = history.adopt(entry)
          if (other) throw historyOccupied(this.location, other.id)
        }
      })
    })
    this.#restLater()
    return Promise.resolve()
  }

  async pruneHistory(rule: HistoryRule): Promise<number> {
    let removed = 0
    const steps = this.#file.pruneHistory(rule)
    for (;;) {
      const step = this.#told(() => steps.next())
      if (step.done) break
      removed += step.value
      await breathe()
      if (this.#closed) break
    }
    if (removed > 0) this.#restLater()
    return removed
  }

  // ---- The file

  /** Entries of the history are no lease: what is wrong with them is told, and nothing stops for it. */
  async #verify(anew = false): Promise<readonly string[]> {
    await this.#file.verify(anew)
    const findings: string[] = []
    const steps = this.#file.history.damaged()
    while (!this.#closed) {
      const step = this.#told(() => steps.next())
      if (step.done) break
      for (const id of step.value) findings.push(`entry ${id} of the history does not match its checksum`)
      await breathe()
    }
    return (this.#findings = findings)
  }

  async #rescue(records: readonly StoredRecord[]): Promise<Rescued> {
    this.#assertOpen()
    if (this.#renewing) throw isRenewed(this.location)
    this.#renewing = true
    try {
      const made = `${this.location}.rescued`
      const folderWasLost = this.#file.isFolderLost
      const written = await writeLedger(made, this.#contents(records))
      const aside = putInPlace(made, this.location, timeStamp())
      // In a folder that was made anew, another daemon may begin: this one has the lock of the old one.
      if (!folderWasLost) {
        this.#file.abandon()
        this.#file = LedgerFile.open(this.location, this.#options)
        this.#findings = []
      }
      return { file: this.location, ...written, aside, inUse: !folderWasLost }
    } catch (error) {
      throw error instanceof Problem ? error : failed(this.location, error)
    } finally {
      this.#renewing = false
    }
  }

  async #saveBeside(records: readonly StoredRecord[]): Promise<Rescued> {
    const file = `${this.location}.saved-${timeStamp()}`
    const written = await writeLedger(file, this.#contents(records))
    return { file, ...written, aside: [], inUse: false }
  }

  #contents(records: readonly StoredRecord[]): Contents {
    return { records, notes: [...this.#notes.values()], history: this.#file.readableHistory() }
  }

  async close(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    if (this.#pending.length > 0) this.#flush()
    this.#closed = true
    clearTimeout(this.#resting)
    try {
      this.#file.close()
    } catch (error) {
      throw failed(this.location, error)
    }
    return Promise.resolve()
  }
}
