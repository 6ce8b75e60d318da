import { lstatSync, readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { catalogue } from '../../../shared/problem/catalogue.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import type { RecordKind } from '../../ipam/records/records.ts'
import type { HistoryRule, StoreConflict, StoredRecord } from '../lease-store.ts'
import type { Note } from '../shared/journal.ts'
import { damaged, damagedRows, isDamage, isIoFailure, isNoDatabase, noDatabase, errorText } from './damage.ts'
import type { HistoryTable } from './history-table.ts'
import {
  bootOfKernel,
  LastChangeFile,
  lastChangePath,
  readLastChange,
  type LastChange,
} from './last-change.ts'
import { layoutFault, upgradeLayout } from './layout.ts'
import { LedgerRows, type Commit, type RowCounts } from './ledger-rows.ts'
import { checkInThread, integrityFindings } from './integrity.ts'
import { judgeLog } from './log-file.ts'
import { migrations } from './migrations.ts'
import { makeDatabase } from './new-database.ts'
import { OwnFiles } from './own-files.ts'
import { keepsLeases, salvage } from './salvage.ts'
import { sameSeal, type Seal } from './seal.ts'
import { judgeWal } from './wal-frames.ts'

/** Bytes up to which SQLite's own check is part of the start: 1.4 ms for each MiB. Larger ones are checked in the background. */
const checkedAtOnce = 32 * 1024 * 1024

/** Pages that the log may get before it is brought into the database, also while there is no pause. As SQLite's own default. */
const longestLog = 1000

export interface LedgerFileOptions {
  /**
   * For a process that keeps it open: each commit looks whether what is written stands where others will find it.
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
  readonly #rows: LedgerRows
  /** Those that a running store watches over. */
  #files: OwnFiles | undefined
  readonly #lastChange: LastChangeFile
  readonly #boot: string
  #counted: RowCounts
  /** Pages of the log since it was last brought into the database, about. */
  #logPages = 0
  #sticky: Problem | undefined
  /** Whether SQLite's own check has been through. */
  #checked = false
  /** While it runs. */
  #held = false

  private constructor(
    database: DatabaseSync,
    { path, rows, seal }: { readonly path: string; readonly rows: LedgerRows; readonly seal: Seal },
    options: LedgerFileOptions,
  ) {
    this.path = path
    this.#database = database
    this.#boot = options.boot ?? bootOfKernel()
    this.#counted = { seal, attachments: 0 }
    this.#rows = rows
    this.history = rows.history
    this.#files = options.guarded ? new OwnFiles(path) : undefined
    this.#lastChange = new LastChangeFile(path)
  }

  // ---- Opening

  /** Opens or makes the file. */
  static open(path: string, options: LedgerFileOptions = {}): LedgerFile {
    const { onNote = () => undefined } = options
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw isLink(path)
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
      const rows = new LedgerRows(path, database)
      const seal = rows.seal()
      if (!seal) throw damaged(path, 'its seal does not match its checksum')
      const file = new LedgerFile(database, { path, rows, seal }, options)
      if (statSync(path).size <= checkedAtOnce) file.#checkAtOnce()
      file.#compareLastChange(readLastChange(path), onNote)
      // Frames of this generation that do not count any more must not be taken for a part of it later (wal-frames.ts).
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
    if (findings.length > 0) throw this.#rows.damagedRows(findings.join('; '))
    this.#checked = true
  }

  /** What was acknowledged and is not there: made once more where that can be done, else refused. */
  #compareLastChange(last: LastChange | undefined, onNote: (text: string) => void): void {
    const { seal } = this.#counted
    if (!last || last.seal.ledger !== seal.ledger) return
    const missing = last.seal.commits - seal.commits
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
    const batch = JSON.parse(writes) as readonly Commit[]
    const { seal, attachments, conflicts } = this.#rows.apply(batch, this.#counted)
    const same = conflicts.size === 0 && sameSeal(seal, wanted)
    this.#database.exec(same ? 'COMMIT' : 'ROLLBACK')
    if (same) this.#counted = { seal, attachments }
    return same
  }

  /** Whether nothing was ever committed to it. */
  get isUnused(): boolean {
    return this.#counted.seal.commits === 0 && this.history.isEmpty()
  }

  // ---- Reading

  /**
   * Hands over all records; throws, having handed over some, when any is damaged, missing or of an older ledger.
   *
   * @param visit throws for one that cannot be worked with
   */
  load(visit: (stored: StoredRecord) => void): void {
    const { seal } = this.#counted
    this.#counted = { seal, attachments: this.#rows.load(seal, visit) }
  }

  loadNotes(visit: (note: Note & { readonly text: string }) => void): void {
    this.#rows.loadNotes(this.#counted.seal, visit)
  }

  /** Its text; undefined where there is none. */
  read(kind: RecordKind, key: string): string | undefined {
    return this.#rows.read(kind, key)
  }

  /** Entries that can still be read, whatever is wrong with the file; returns what could not be, in one line each. */
  readableHistory(): Generator<HistoryEntry, readonly string[]> {
    return this.#rows.readableHistory()
  }

  // ---- Writing

  /**
   * All of it in one transaction, synced; what conflicts is left out, the others go on. Throws, and nothing is to be acknowledged,
   * also when the files are not those that others will find, before or after.
   */
  write<T extends Commit>(batch: readonly T[]): ReadonlyMap<T, StoreConflict> {
    const applied = this.#transaction(
      () => this.#rows.apply(batch, this.#counted),
      ({ seal, attachments, pages }) => {
        this.#counted = { seal, attachments }
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

  /** @param onCommitted called when SQLite has it, whether or not it may be acknowledged */
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
      throw isDamage(error) ? this.#spoil(errorText(error)) : error
    }
    onCommitted(result)
    // They may have gone while this was written: then it is not acknowledged.
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

  /** Another program may have written to the database: what is cached is forgotten, and all that stands there is looked at. */
  #readAgain(): void {
    try {
      this.#database.exec('PRAGMA shrink_memory')
      const seal = this.#rows.seal()
      const findings =
        seal && sameSeal(seal, this.#counted.seal)
          ? integrityFindings(this.#database)
          : ['it is another ledger']
      if (findings.length === 0) {
        this.load(() => undefined)
        this.loadNotes(() => undefined)
        this.#files?.adopt()
        return
      }
      this.#spoil(`another process wrote to it: ${findings.join('; ')}`)
    } catch (error) {
      this.#spoil(`another process wrote to it: ${errorText(error)}`)
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
      // What was found in a file that was put in its place is no finding about this one.
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
    else {
      // SQLite removes its log, which is no loss.
      this.#files = undefined
      this.#database.close()
    }
  }
}

/** Kept, since SQLite would bring the log into the database when nothing refers to it any more. */
const abandoned: DatabaseSync[] = []

/** Its log would be written beside what the link leads to, where nothing of ours looks for it. */
function isLink(path: string): Problem {
  const word = shellWord(path)
  return new Problem('IPK_STORE_FAILED', `store ${path} is a symbolic link`, {
    hint: `link the folder instead, or name the file itself with --store; to have it here: mv -T "$(readlink -f ${word})" ${word}`,
  })
}

/** SQLite's own words, and what of the rows says which addresses are concerned. */
function nameDamage(path: string, database: DatabaseSync, error: unknown): Problem {
  return damagedRows(
    path,
    salvage({ database, keepsLeases: keepsLeases(path) }, Date.now()),
    errorText(error),
  )
}
