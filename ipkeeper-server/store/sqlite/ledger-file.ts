import { readFileSync, statSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { catalogue } from '../../../shared/problem/catalogue.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import type { HistoryEntry, HistoryEvent } from '../../ipam/records/history-entry.ts'
import { recordKinds, type Change, type RecordKind } from '../../ipam/records/records.ts'
import { StoreConflict, type HistoryRule, type StoredRecord } from '../lease-store.ts'
import type { Note, NoteKind } from '../shared/journal.ts'
import { damaged, damagedRows, isDamage, isIoFailure, isNoDatabase, noDatabase } from './damage.ts'
import { FaultList } from './fault-list.ts'
import { entryOfRow, historyColumns, HistoryTable } from './history-table.ts'
import {
  bootOfKernel,
  LastChangeFile,
  lastChangePath,
  readLastChange,
  type LastChange,
} from './last-change.ts'
import { layoutFault, upgradeLayout } from './layout.ts'
import { checkInThread, integrityFindings } from './integrity.ts'
import { judgeLog } from './log-file.ts'
import { migrations } from './migrations.ts'
import { makeDatabase } from './new-database.ts'
import { OwnFiles } from './own-files.ts'
import { noteSum, recordSum } from './row-sum.ts'
import { keepsLeases, readableRows, salvage } from './salvage.ts'
import { noRows, sameSeal, sameTally, SealRow, tallyAfter, type Seal, type Tally } from './seal.ts'
import { judgeWal } from './wal-frames.ts'

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

/** Bytes up to which SQLite's own check is part of the start: 1.4 ms for each MiB. Larger ones are checked in the background. */
const checkedAtOnce = 32 * 1024 * 1024

/** Pages that the log may get before it is brought into the database, also while nobody rests. As SQLite's own default. */
const longestLog = 1000

export interface LedgerFileOptions {
  /**
   * For whoever keeps it open for long: with each commit it is looked whether what is written stands where others will find it.
   * A command that opens and closes a ledger has no need of it.
   */
  readonly guarded?: boolean
  /** Told what a person should know of the opening. */
  readonly onNote?: (text: string) => void
  /** Of the running kernel. */
  readonly boot?: string
}

/**
 * One opened database with its log: rows with their checksums, the seal over all of them, and the look whether what is written
 * stands where others will find it. Synchronous; throws what SQLite throws, and Problems for what it found itself.
 */
export class LedgerFile {
  readonly path: string
  readonly history: HistoryTable
  readonly #database: DatabaseSync
  readonly #statements: Statements
  readonly #sealRow: SealRow
  readonly #files: OwnFiles | undefined
  readonly #lastChange: LastChangeFile
  readonly #boot: string
  #seal: Seal
  #attachments = 0
  /** Pages of the log since it was last brought into the database, about. */
  #logPages = 0
  #sticky: Problem | undefined
  /** Whether SQLite's own check has been through. */
  #checked = false
  /** While it runs. */
  #held = false

  private constructor(path: string, database: DatabaseSync, seal: Seal, options: LedgerFileOptions) {
    this.path = path
    this.#database = database
    this.#boot = options.boot ?? bootOfKernel()
    this.#seal = seal
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
    this.history = new HistoryTable(database, path)
    this.#sealRow = new SealRow(database)
    this.#files = options.guarded ? new OwnFiles(path) : undefined
    this.#lastChange = new LastChangeFile(path)
  }

  // ---- Opening

  /** Opens or makes the file. */
  static open(path: string, options: LedgerFileOptions = {}): LedgerFile {
    const { onNote = () => undefined } = options
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === 0) throw damaged(path, 'it is empty (0 bytes), as no ledger ever is')
    if (size === undefined) {
      if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
        throw damaged(path, `it is gone, and its log ${path}-wal is there`)
      makeDatabase(path)
    } else judgeLog(path, onNote)
    const database = new DatabaseSync(path)
    try {
      // Checkpoints are ours: then the database itself changes only when we know of it.
      database.exec(
        'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0',
      )
      upgradeLayout(path, database)
      const fault = layoutFault(database)
      if (fault !== undefined) throw damaged(path, fault)
      const seal = new SealRow(database).read()
      if (!seal) throw damaged(path, 'its seal does not match its checksum')
      const file = new LedgerFile(path, database, seal, options)
      if (statSync(path).size <= checkedAtOnce) file.#checkAtOnce()
      file.#compareLastChange(readLastChange(path), onNote)
      // Frames of this generation that nobody counts any more must not be taken for a part of it later (wal-frames.ts).
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      file.#files?.adopt()
      return file
    } catch (error) {
      const problem = isNoDatabase(error)
        ? noDatabase(path, error)
        : isDamage(error)
          ? nameDamage(path, database, error)
          : error
      database.close()
      throw problem
    }
  }

  #checkAtOnce(): void {
    const findings = integrityFindings(this.#database)
    if (findings.length > 0) throw this.#damagedRows(findings.join('; '))
    this.#checked = true
  }

  /** What was acknowledged and is not there: made once more where that can be done, else refused. */
  #compareLastChange(last: LastChange | undefined, onNote: (text: string) => void): void {
    if (!last || last.seal.ledger !== this.#seal.ledger) return
    const missing = last.seal.commits - this.#seal.commits
    if (missing <= 0) return
    if (missing === 1 && last.writes !== null && this.#repeat(last.writes, last.seal)) {
      onNote(`the last change of ${this.path} was missing in its log, and was made once more`)
      return
    }
    // Every commit is synced before it is acknowledged, and only then noted there: so a power cut takes none, or at the very most
    // the one that was being synced, of a disk that confirms what it does not keep yet. More is an older file, or damage.
    if (last.boot !== this.#boot && missing === 1) {
      onNote(`${this.path}: an acknowledged change did not survive the end of the machine's last run`)
      return
    }
    const many = missing === 1 ? 'an acknowledged change is' : `${missing} acknowledged changes are`
    const what = `${many} missing: an older file took its place, or its log was removed, cut or damaged at its end`
    const meant = `if this older ledger is meant: rm ${shellWord(lastChangePath(this.path))}`
    throw damaged(
      this.path,
      what,
      [],
      `put the files back, or restore a backup; ${meant}; see docs/operations/rescue.md`,
    )
  }

  /** Whether what was acknowledged last could be made once more, and the ledger is then as it was. */
  #repeat(writes: string, wanted: Seal): boolean {
    this.#database.exec('BEGIN IMMEDIATE')
    const { seal, attachments, conflicts } = this.#apply(JSON.parse(writes) as readonly Commit[])
    const same = conflicts.size === 0 && sameSeal(seal, wanted)
    this.#database.exec(same ? 'COMMIT' : 'ROLLBACK')
    if (same) [this.#seal, this.#attachments] = [seal, attachments]
    return same
  }

  /** Whether nothing was ever committed to it. */
  get isUnused(): boolean {
    return this.#seal.commits === 0 && this.history.isEmpty()
  }

  // ---- Reading

  /**
   * Hands over all records; throws, having handed over some, when any is damaged, missing or of old.
   *
   * @param visit throws for one that cannot be worked with
   */
  load(visit: (stored: StoredRecord) => void): void {
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
    this.#attachments = attachments
    if (bad.length > 0 || !sameTally(tally, this.#seal.records))
      throw this.#damagedRows(bad[0] ?? howMany('records', tally, this.#seal.records))
  }

  loadNotes(visit: (note: Note & { readonly text: string }) => void): void {
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
    if (bad.length > 0 || !sameTally(tally, this.#seal.notes))
      throw this.#damagedRows(howMany('notes', tally, this.#seal.notes))
  }

  /** Its text; undefined where there is none. */
  read(kind: RecordKind, key: string): string | undefined {
    const row = this.#read(() => this.#statements.record.get(kind, key))
    if (!row) return undefined
    const text = String(row['body'])
    if (recordSum(kind, key, Number(row['generation']), text) === Number(row['sum'])) return text
    throw this.#damagedRows(`${kind} ${key} does not match its checksum`)
  }

  /** Entries that can still be read, whatever is wrong with the file; returns what could not be, in one line each. */
  *readableHistory(): Generator<HistoryEntry, readonly string[]> {
    const faults = new FaultList()
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
      throw isDamage(error) ? this.#damagedRows(textOf(error)) : error
    }
  }

  #damagedRows(otherwise: string): Problem {
    return damagedRows(
      this.path,
      salvage({ database: this.#database, keepsLeases: keepsLeases(this.path) }, Date.now()),
      otherwise,
    )
  }

  // ---- Writing

  /**
   * All of it in one transaction, synced; what conflicts is left out, the others go on. Throws, and nothing is to be acknowledged,
   * also when the files are not those that others will find, before or after.
   */
  write<T extends Commit>(batch: readonly T[]): ReadonlyMap<T, StoreConflict> {
    const applied = this.#transaction(
      () => this.#apply(batch),
      ({ seal, attachments, pages }) => {
        this.#seal = seal
        this.#attachments = attachments
        this.#logPages += pages
      },
    )
    if (applied.writes !== undefined)
      this.#lastChange.write(
        { boot: this.#boot, seal: applied.seal, attachments: applied.attachments },
        applied.writes,
      )
    if (this.#logPages >= longestLog) this.checkpoint('PASSIVE')
    return applied.conflicts
  }

  #apply<T extends Commit>(batch: readonly T[]): Applied<T> {
    const conflicts = new Map<T, StoreConflict>()
    let { records, notes } = this.#seal
    let attachments = this.#attachments
    let pages = 1
    const texts: string[] = []
    for (const commit of batch) {
      const before = this.#sumsBefore(commit.change)
      if (before instanceof StoreConflict) {
        conflicts.set(commit, before)
        continue
      }
      const writes = commit.change.map((write, index) => {
        const { kind, key, expect, record } = write
        const text = record === null ? 'null' : JSON.stringify(record)
        const sum = record === null ? undefined : recordSum(kind, key, record.generation, text)
        if (record === null || sum === undefined) this.#statements.delete.run(kind, key)
        else this.#statements.put.run(kind, key, record.generation, text, sum)
        records = tallyAfter(records, before[index], sum)
        if (kind === 'attachment')
          attachments += Number(sum !== undefined) - Number(before[index] !== undefined)
        return `{"kind":"${kind}","key":${JSON.stringify(key)},"expect":${expect},"record":${text}}`
      })
      for (const note of commit.notes) notes = tallyAfter(notes, ...this.#putNote(note))
      for (const event of commit.events) this.history.add(event)
      pages += commit.change.length + commit.notes.length + 2 * commit.events.length
      const [events, kept] = [JSON.stringify(commit.events), JSON.stringify(commit.notes)]
      texts.push(`{"change":[${writes.join(',')}],"events":${events},"notes":${kept}}`)
    }
    if (conflicts.size === batch.length)
      return { seal: this.#seal, attachments, conflicts, pages: 0, writes: undefined }
    const seal = { ...this.#seal, commits: this.#seal.commits + 1, records, notes }
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

  adoptHistory(work: (history: HistoryTable) => void): void {
    this.#transaction(() => {
      work(this.history)
    })
  }

  /** As HistoryTable.prune does. */
  *pruneHistory(rule: HistoryRule): Generator<number, undefined> {
    const steps = this.history.prune(rule)
    for (;;) {
      const step = this.#transaction(() => steps.next())
      if (step.done) return
      // An entry and its place in the index.
      this.#logPages += Math.ceil(step.value / 10)
      yield step.value
    }
  }

  /** Writes the page that holds the layout's number, with the same number. */
  probe(): void {
    this.#transaction(() => {
      this.#database.exec(`PRAGMA user_version = ${migrations.length}`)
    })
  }

  /** @param onCommitted called when SQLite has it, whether or not anybody is to be told */
  #transaction<T>(work: () => T, onCommitted: (result: T) => void = () => undefined): T {
    this.assertSound()
    let result: T
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      result = work()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#rollBack()
      if (isIoFailure(error)) this.#emptyLog()
      throw isDamage(error) ? this.#spoil(textOf(error)) : error
    }
    onCommitted(result)
    // They may have gone while this was written: then nobody is told that it was.
    this.assertSound()
    return result
  }

  #rollBack(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself on I/O errors; then there is nothing left to undo.
    }
  }

  /**
   * Of a transaction that could not be synced all frames may stand in the log, the last one too. None of them counts, and none may
   * be taken for a part of the log later (wal-frames.ts).
   */
  #emptyLog(): void {
    try {
      this.checkpoint('TRUNCATE')
    } catch {
      // Such a disk has more to tell than this.
    }
  }

  // ---- The files

  /**
   * Brings what stands in the log into the database. TRUNCATE leaves an empty log; PASSIVE leaves its length, so that it need not
   * grow again.
   */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void {
    if (this.#held || this.fault()) return
    if (mode === 'TRUNCATE') {
      const verdict = judgeWal(readFileSync(`${this.path}-wal`))
      // Nothing of it gets into the database.
      if (verdict.state === 'damaged') throw this.#spoil(`in its log ${verdict.why}`)
    }
    this.#database.exec(`PRAGMA wal_checkpoint(${mode})`)
    this.#logPages = 0
    this.#files?.adopt()
    this.#lastChange.keep()
  }

  /** Why nothing may be acknowledged: IPK_STORE_LOST or IPK_STORE_DAMAGED; undefined while all is well. */
  fault(): Problem | undefined {
    if (this.#sticky) return this.#sticky
    const seen = this.#files?.look()
    if (seen?.state === 'lost')
      return new Problem('IPK_STORE_LOST', `what is written to store ${this.path} would be lost: ${seen.why}`)
    if (seen?.state === 'touched') this.#readAgain()
    return this.#sticky
  }

  /** Whether the folder is another one than at the opening: what is made there now is no business of this process. */
  get isFolderLost(): boolean {
    return this.#files?.isFolderLost() === true
  }

  assertSound(): void {
    const fault = this.fault()
    if (fault) throw fault
  }

  /** Somebody else may have written to the database: what is cached is forgotten, and all that stands there is looked at. */
  #readAgain(): void {
    try {
      this.#database.exec('PRAGMA shrink_memory')
      const seal = this.#sealRow.read()
      const findings =
        seal && sameSeal(seal, this.#seal)
          ? integrityFindings(this.#database)
          : ['another ledger stands there']
      if (findings.length === 0) {
        this.load(() => undefined)
        this.loadNotes(() => undefined)
        this.#files?.adopt()
        return
      }
      this.#spoil(`somebody else wrote to it: ${findings.join('; ')}`)
    } catch (error) {
      this.#spoil(`somebody else wrote to it: ${textOf(error)}`)
    }
  }

  /** From now on nothing is acknowledged. */
  #spoil(says: string): Problem {
    // All of it is in the memory of the daemon.
    return (this.#sticky ??= damaged(this.path, says, [], catalogue.IPK_STORE_LOST.hint))
  }

  /**
   * SQLite's own look at pages, indexes and the free list; what it finds is a fault from then on. A large database is looked at in a
   * thread; it does not change meanwhile, since all changes stay in the log.
   *
   * @param anew also if that was done at the opening
   */
  async verify(anew: boolean): Promise<void> {
    if ((this.#checked && !anew) || this.#held || this.fault()) return
    this.#held = true
    try {
      const size = statSync(this.path).size
      const findings =
        size > checkedAtOnce ? await checkInThread(this.path) : integrityFindings(this.#database)
      this.#checked = true
      // What was found in a file that somebody put in its place is no finding about this one.
      if (findings.length > 0 && !this.fault()) this.#spoil(findings.join('; '))
    } finally {
      this.#held = false
    }
  }

  /** Leaves the file to itself: another one takes its place. Nothing of the log gets into the database any more. */
  abandon(): void {
    this.#lastChange.close()
    abandoned.push(this.#database)
  }

  /**
   * Closes it, and brings the log into the database. Where something is wrong with the files SQLite must not do that: then they
   * stay as they are, and open until the process ends.
   */
  close(): void {
    this.#lastChange.close()
    try {
      if (this.fault() === undefined) this.checkpoint('TRUNCATE')
    } catch {
      // What cannot be brought there stays in the log.
    }
    if (this.fault()) this.abandon()
    else this.#database.close()
  }
}

/** Kept, since SQLite would bring the log into the database when nobody refers to it any more. */
const abandoned: DatabaseSync[] = []

interface Applied<T> {
  readonly seal: Seal
  readonly attachments: number
  readonly conflicts: ReadonlyMap<T, StoreConflict>
  readonly pages: number
  /** All that was written, as JSON; undefined: nothing was. */
  readonly writes: string | undefined
}

/** A record whose checksum is right may still be one that somebody else made. */
function isTaken(visit: (stored: StoredRecord) => void, stored: StoredRecord): boolean {
  try {
    visit(stored)
    return true
  } catch {
    return false
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function howMany(what: string, found: Tally, wanted: Tally): string {
  return found.rows === wanted.rows
    ? `its ${what} are not those that were written last`
    : `it has ${found.rows} ${what}, and ${wanted.rows} were written`
}

/** SQLite's own words, and what of the rows says which addresses are concerned. */
function nameDamage(path: string, database: DatabaseSync, error: unknown): Problem {
  return damagedRows(path, salvage({ database, keepsLeases: keepsLeases(path) }, Date.now()), textOf(error))
}
