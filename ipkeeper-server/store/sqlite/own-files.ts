import { lstatSync, statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'

/** What of a file tells that it is still the same one, whole, and written by nobody else. */
type Seen = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs'>

/** A link in the place of a file counts as another file: SQLite looks for the log beside what the link leads to. */
const look = (path: string, stat = lstatSync): Stats | undefined => {
  try {
    return stat(path, { throwIfNoEntry: false })
  } catch {
    // A folder in the way that is none any more, or may not be read: nobody finds the file there.
    return undefined
  }
}

/** sound: what is written stands where others will find it. touched: somebody else may have written to the database. */
export type FilesState =
  | { readonly state: 'sound' | 'touched' }
  /** One line, with the path. */
  | { readonly state: 'lost'; readonly why: string }

/**
 * Whether the files that SQLite writes to are the ones that stand under their names: an open file can be written to when its name
 * is gone, or is another file's, and nobody will ever read it again.
 *
 * By the paths alone, never by a descriptor of our own: POSIX locks of a process are gone as soon as it closes any descriptor of
 * the file (sqlite.org/howtocorrupt.html, 2.2). Four looks for each commit, 0.8 µs each.
 */
export class OwnFiles {
  readonly #database: string
  readonly #log: string
  #folder: Seen | undefined
  #databaseSeen: Seen | undefined
  #logSeen: Seen | undefined

  constructor(database: string) {
    this.#database = database
    this.#log = `${database}-wal`
  }

  /** To be called when SQLite has opened or changed the database itself: then it is as it is to be. */
  adopt(): void {
    this.#folder = look(dirname(this.#database), statSync)
    this.#databaseSeen = look(this.#database)
    this.#logSeen = look(this.#log)
  }

  look(): FilesState {
    const database = look(this.#database)
    const log = look(this.#log)
    const fault =
      difference(this.#database, this.#databaseSeen, database) ?? difference(this.#log, this.#logSeen, log)
    if (fault !== undefined) return { state: 'lost', why: this.#folderFault() ?? fault }
    // It grows with each commit.
    this.#logSeen = log
    const { size, mtimeMs } = this.#databaseSeen ?? {}
    return { state: database?.size === size && database?.mtimeMs === mtimeMs ? 'sound' : 'touched' }
  }

  /** Whether the folder itself is another one than at the opening: then more than the ledger is gone with it. */
  isFolderLost(): boolean {
    return this.#folderFault() !== undefined
  }

  #folderFault(): string | undefined {
    const path = dirname(this.#database)
    const now = look(path, statSync)
    if (!now) return `the folder ${path} is gone`
    return now.dev === this.#folder?.dev && now.ino === this.#folder.ino
      ? undefined
      : `the folder ${path} is another one than at the start`
  }
}

function difference(path: string, before: Seen | undefined, now: Seen | undefined): string | undefined {
  if (!now) return `${path} is gone`
  if (now.dev !== before?.dev || now.ino !== before.ino) return `${path} is another file than at the start`
  if (now.size < before.size) return `${path} was cut from ${before.size} to ${now.size} bytes`
  return undefined
}
