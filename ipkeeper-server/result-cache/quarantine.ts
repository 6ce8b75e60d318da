import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { cacheReasonNames, type CacheReason } from '../../shared/cache-reasons.ts'
import { isJsonObject } from '../../shared/json/fold.ts'
import { stateFolders } from '../../shared/paths.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { syncFolder, writeDurably } from '../host/durable-file.ts'
import { makeFolder } from '../host/make-folder.ts'
import {
  folderOf,
  isText,
  joinBytes,
  nameOf,
  fileCalls,
  type FileCalls,
  identityOf,
  sameContent,
  type FileIdentity,
} from './file-calls.ts'
import { copyUnchanged, expectUnchanged, FileChanged, temporaryName } from './unchanged-file.ts'
import { cacheKindNames, type CacheKind } from './plan/cache-kinds.ts'
import { failedBy, systemCode } from '../../shared/system-code.ts'

/** A file that was moved aside, as the file beside it says. */
export interface QuarantinedFile {
  /** Its name in quarantine, by which it is brought back. */
  readonly name: string
  /** Where it stands now. */
  readonly file: string
  /** Where it stood; bytes that are no UTF-8 are replaced. */
  readonly path: string
  readonly kind: CacheKind
  readonly reason: CacheReason
  readonly detail: string
  /** When it was moved, ISO 8601. */
  readonly at: string
  /** Permission bits, owner and group that it had, and has. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Bytes. */
  readonly size: number
}

/** What is written beside the file; `bytes` is the path in base64 where it is no UTF-8. */
interface Note extends Omit<QuarantinedFile, 'name' | 'file'> {
  readonly version: 1
  readonly bytes?: string
}

export interface QuarantineOptions {
  readonly stateDir: string
  readonly bootId: string
  readonly now: () => number
  readonly calls?: FileCalls
}

/** Of the file beside each one, as in the queue of deferred DELs. */
const noteSuffix = '.reason'
const readOnly = constants.O_RDONLY | constants.O_NONBLOCK
/** Characters of the old name that the new one keeps; the rest only makes it longer than a name may be. */
const keptOfName = 100

const isMissing = (error: unknown): boolean => failedBy(error, 'ENOENT', 'ENOTDIR')

function isNote(value: unknown): value is Note {
  if (!isJsonObject(value)) return false
  const texts = ['path', 'detail', 'at'].every(key => typeof value[key] === 'string')
  const numbers = ['mode', 'uid', 'gid', 'size'].every(key => typeof value[key] === 'number')
  const words =
    cacheKindNames.some(kind => kind === value['kind']) &&
    cacheReasonNames.some(reason => reason === value['reason'])
  const bytes = value['bytes'] === undefined || typeof value['bytes'] === 'string'
  return texts && numbers && words && bytes && value['version'] === 1
}

/**
 * Files of others that were in the way: `quarantine/BOOT-ID/` of the state folder. Nothing is ever removed from here
 * but what was brought back. The same folder holds deferred DELs that could not be understood, one level higher.
 */
export class Quarantine {
  readonly #root: string
  readonly #bootId: string
  readonly #now: () => number
  readonly #calls: FileCalls

  constructor({ stateDir, bootId, now, calls = fileCalls }: QuarantineOptions) {
    this.#root = join(stateDir, stateFolders.quarantine)
    this.#bootId = bootId
    this.#now = now
    this.#calls = calls
  }

  /**
   * Moves a file here, if it still is as it was seen. Resolves to its name here. Whatever fails, and whenever the power
   * does, the file is there or here, whole.
   *
   * @throws FileChanged, or what the system says
   */
  async take(
    file: { readonly path: Buffer; readonly identity: FileIdentity; readonly kind: CacheKind },
    { reason, detail }: { readonly reason: CacheReason; readonly detail: string },
  ): Promise<string> {
    const { path, identity, kind } = file
    const folder = join(this.#root, this.#bootId)
    makeFolder(folder)
    const plain = nameOf(path)
      .toString()
      .replaceAll(/[^A-Za-z0-9_.-]/g, '_')
      .slice(0, keptOfName)
    const name = `${kind}-${randomBytes(4).toString('hex')}-${plain}`
    const target = Buffer.from(join(folder, name))
    const { mode, uid, gid, size } = await this.#calls.lstat(path)
    const note: Note = {
      ...{ version: 1, path: path.toString(), ...(!isText(path) && { bytes: path.toString('base64') }) },
      ...{ kind, reason, detail, at: new Date(this.#now()).toISOString() },
      ...{ mode: mode & 0o7777, uid, gid, size },
    }
    await this.#writeNote(folder, name, note)
    try {
      await this.#move(path, identity, target)
    } catch (error) {
      await this.#calls.unlink(join(folder, `${name}${noteSuffix}`)).catch(() => undefined)
      throw error
    }
    await syncFolder(folder, this.#calls)
    await syncFolder(folderOf(path), this.#calls)
    return name
  }

  /** All that is here, the oldest first. What has no note of ours beside it was put here by others. */
  async list(): Promise<readonly QuarantinedFile[]> {
    const found: QuarantinedFile[] = []
    for (const boot of await this.#namesIn(this.#root)) {
      const folder = join(this.#root, boot)
      for (const name of await this.#namesIn(folder)) {
        if (name.startsWith('.') || name.endsWith(noteSuffix)) continue
        const note = await this.#readNote(folder, name)
        if (!note) continue
        const { path, kind, reason, detail, at, mode, uid, gid, size } = note
        found.push({
          ...{ name, file: join(folder, name), path, kind, reason, detail, at, mode, uid, gid, size },
        })
      }
    }
    return found.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  }

  /**
   * Brings a file back to where it stood. Resolves to that path.
   *
   * @throws IPK_CACHE_OCCUPIED when something stands there now, IPK_CACHE_UNRESTORED for what else is in the way
   */
  async restore({ name, file }: QuarantinedFile): Promise<string> {
    const here = Buffer.from(file)
    const folder = folderOf(here).toString()
    const note = await this.#readNote(folder, name)
    if (!note) throw new Problem('IPK_CACHE_UNRESTORED', `${name} is no longer in quarantine`)
    const original = note.bytes === undefined ? Buffer.from(note.path) : Buffer.from(note.bytes, 'base64')
    if (!isAbsolute(original.toString()) || original.includes(0))
      throw new Problem('IPK_CACHE_UNRESTORED', `${name} does not say where it stood`)
    try {
      await this.#putBack(here, original)
    } catch (error) {
      if (error instanceof Problem) throw error
      const why = systemCode(error) === 'ENOENT' ? 'its folder is gone' : systemCode(error)
      throw new Problem('IPK_CACHE_UNRESTORED', `${note.path} cannot be brought back: ${why}`, {
        cause: error,
      })
    }
    await syncFolder(folderOf(original), this.#calls)
    await this.#calls.unlink(here)
    await this.#calls.unlink(`${file}${noteSuffix}`)
    await syncFolder(folder, this.#calls)
    return note.path
  }

  async #namesIn(folder: string): Promise<string[]> {
    try {
      return (await this.#calls.readdir(folder)).sort()
    } catch (error) {
      if (isMissing(error)) return []
      throw new Problem('IPK_CACHE_UNREADABLE', `${folder} cannot be read (${systemCode(error)})`, {
        cause: error,
      })
    }
  }

  /** Whole under its name, or not there at all. */
  async #writeNote(folder: string, name: string, note: Note): Promise<void> {
    await writeDurably(join(folder, `${name}${noteSuffix}`), `${JSON.stringify(note, null, 2)}\n`, {
      temporary: join(folder, temporaryName()),
      ...{ mode: 0o600, exclusive: true, calls: this.#calls },
    })
  }

  async #readNote(folder: string, name: string): Promise<Note | undefined> {
    try {
      // Others put things into quarantine as well: a pipe would never end.
      const file = await this.#calls.open(join(folder, `${name}${noteSuffix}`), readOnly)
      try {
        if (!(await file.stat()).isFile()) return undefined
        const value: unknown = JSON.parse(await file.readFile('utf8'))
        return isNote(value) ? value : undefined
      } finally {
        await file.close()
      }
    } catch {
      return undefined
    }
  }

  /** No durable-file.ts: another program's file is moved as it is, and may have changed between the comparison and the rename. */
  async #move(path: Buffer, seen: FileIdentity, target: Buffer): Promise<void> {
    await expectUnchanged(this.#calls, path, seen)
    try {
      await this.#calls.rename(path, target)
    } catch (error) {
      if (systemCode(error) !== 'EXDEV') throw error
      await this.#moveAcross(path, seen, target)
      return
    }
    const moved = identityOf(await this.#calls.lstat(target, { bigint: true }))
    if (sameContent(seen, moved)) return
    // Somebody was quicker than the comparison: it goes back. Where yet another one stands there, it stays, with its note.
    try {
      await this.#calls.link(target, path)
    } catch (error) {
      if (systemCode(error) === 'EEXIST') return
      throw error
    }
    await this.#calls.unlink(target)
    throw new FileChanged()
  }

  /** State folder and cache may be of different file systems. */
  async #moveAcross(path: Buffer, seen: FileIdentity, target: Buffer): Promise<void> {
    const temporary = joinBytes(folderOf(target), temporaryName())
    await copyUnchanged(path, seen, temporary, this.#calls)
    await this.#calls.rename(temporary, target)
    await syncFolder(folderOf(target), this.#calls)
    try {
      await expectUnchanged(this.#calls, path, seen)
    } catch (error) {
      await this.#calls.unlink(target)
      throw error
    }
    await this.#calls.unlink(path)
  }

  /** By a link, since a rename would replace what stands there. */
  async #putBack(here: Buffer, original: Buffer): Promise<void> {
    const identity = identityOf(await this.#calls.lstat(here, { bigint: true }))
    try {
      await this.#calls.link(here, original)
    } catch (error) {
      if (systemCode(error) === 'EEXIST') await this.#expectSame(identity, original)
      else if (systemCode(error) === 'EXDEV') await this.#putBackAcross(here, identity, original)
      else throw error
    }
  }

  /** A restore that was broken off between its two last steps has left both names. */
  async #expectSame(identity: FileIdentity, original: Buffer): Promise<void> {
    if (sameContent(identity, identityOf(await this.#calls.lstat(original, { bigint: true })))) return
    throw new Problem(
      'IPK_CACHE_OCCUPIED',
      `${original.toString()} exists again, so it was not brought back from quarantine`,
    )
  }

  async #putBackAcross(here: Buffer, identity: FileIdentity, original: Buffer): Promise<void> {
    const temporary = joinBytes(folderOf(original), temporaryName())
    await copyUnchanged(here, identity, temporary, this.#calls)
    try {
      await this.#calls.link(temporary, original)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
      throw new Problem(
        'IPK_CACHE_OCCUPIED',
        `${original.toString()} exists again, so it was not brought back from quarantine`,
      )
    } finally {
      await this.#calls.unlink(temporary)
    }
  }
}
