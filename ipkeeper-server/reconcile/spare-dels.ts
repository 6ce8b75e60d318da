import { existsSync, statfsSync, statSync } from 'node:fs'
import { lstat, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { stateFolders } from '../../shared/paths.ts'
import {
  isFreeSpare,
  isSpareFolder,
  isTakenSpare,
  isWaitingSpare,
  numberOfSpare,
  spareDels,
} from '../../shared/spare-dels.ts'
import { freeRoom } from '../host/free-room.ts'
import { makeFolder } from '../host/make-folder.ts'

/** Milliseconds after which a plugin that has taken one and not finished it has ended. */
const abandonedAfter = 60_000
/** Of a small disk they are no more than this part, of its blocks and of its files. */
const shareOfBlocks = 1 / 64
const shareOfFiles = 1 / 8
/** Bytes and files that have to be free when one is made. */
const leastBytes = 1024 * 1024
const leastFiles = 32

/** The files in which DELs wait that came on a full disk while the daemon was away (shared/spare-dels.ts). */
export class SpareDels {
  readonly #root: string
  readonly #around: string
  readonly #now: () => number

  /** @param now milliseconds since the epoch, as of files */
  constructor(stateDir: string, now: () => number) {
    this.#around = stateDir
    this.#root = join(stateDir, stateFolders.spareDels)
    this.#now = now
  }

  /** Whether their folders are there; a single file that is missing is made at the next start. */
  areThere(): boolean {
    // Without a state folder none are made.
    if (!existsSync(this.#around)) return true
    const { folders } = this.#wanted()
    return Array.from({ length: folders }, (_, number) => join(this.#root, String(number))).every(existsSync)
  }

  /** Paths of those that wait, in no particular order; none where there is no such folder. */
  async waiting(): Promise<readonly string[]> {
    const files = await Promise.all((await this.#folders()).map(folder => this.#namesIn(folder)))
    return files.flat().flatMap(({ folder, name }) => (isWaitingSpare(name) ? join(folder, name) : []))
  }

  /** It was carried out: another one may use the file. */
  async release(path: string): Promise<void> {
    const name = path.slice(path.lastIndexOf('/') + 1)
    await rename(path, join(path.slice(0, -name.length), numberOfSpare(name)))
  }

  /**
   * Makes those that are missing, as long as the disk has room; also of those that somebody took and left. Where one cannot
   * be made, the others are.
   *
   * @throws what was in the way of the first that could not
   */
  async keep(): Promise<void> {
    const problems: Error[] = []
    const attempt = async (task: () => Promise<void>): Promise<void> => {
      await task().catch((error: unknown) => problems.push(error as Error))
    }
    const { folders, inEach } = this.#wanted()
    for (let number = 0; number < folders; number++)
      await attempt(async () => {
        const folder = join(this.#root, String(number))
        // A state folder that was moved away may come back, and a new one would be in its way.
        statSync(this.#around)
        makeFolder(folder)
        const names = (await this.#namesIn(folder)).map(({ name }) => name)
        for (const name of names.filter(isTakenSpare)) await attempt(() => this.#reclaim(folder, name))
        const there = new Map(names.map(name => [numberOfSpare(name), name]))
        for (let nth = 0; nth < inEach && this.#hasRoom(); nth++)
          await attempt(() => this.#keepOne(folder, String(nth), there.get(String(nth))))
      })
    const [first] = problems
    if (first) throw first
  }

  /** @param present what it is called now, if it is there */
  async #keepOne(folder: string, number: string, present: string | undefined): Promise<void> {
    if (present !== undefined && !(isFreeSpare(present) && (await this.#isCut(join(folder, present))))) return
    await this.#make(folder, number)
  }

  /** Without the syncs of host/durable-file.ts, which would take seconds for all of them: one that is lost or cut is made again. */
  async #make(folder: string, name: string): Promise<void> {
    const unfinished = join(folder, `${name}.unfinished`)
    try {
      const file = await open(unfinished, 'w', 0o600)
      try {
        await file.writeFile(Buffer.alloc(spareDels.bytes, ' '))
      } finally {
        await file.close()
      }
      await rename(unfinished, join(folder, name))
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined)
      throw error
    }
  }

  /** Not while somebody writes it. */
  async #reclaim(folder: string, name: string): Promise<void> {
    const path = join(folder, name)
    const { ctimeMs } = await stat(path)
    if (Math.abs(this.#now() - ctimeMs) >= abandonedAfter)
      await rename(path, join(folder, numberOfSpare(name)))
  }

  /** By a power cut, which it was not on the disk before; or it is no file at all. */
  async #isCut(path: string): Promise<boolean> {
    const found = await lstat(path)
    return !found.isFile() || found.size !== spareDels.bytes
  }

  async #folders(): Promise<readonly string[]> {
    const names = await readdir(this.#root).catch((): string[] => [])
    return names.filter(isSpareFolder).map(name => join(this.#root, name))
  }

  async #namesIn(folder: string): Promise<readonly { readonly folder: string; readonly name: string }[]> {
    const names = await readdir(folder).catch((): string[] => [])
    return names.map(name => ({ folder, name }))
  }

  #wanted(): { readonly folders: number; readonly inEach: number } {
    const { blocks, bsize, files } = statfsSync(this.#around)
    const { folders, inEach, bytes } = spareDels
    const byBlocks = Math.floor((blocks * bsize * shareOfBlocks) / (bytes * inEach))
    // File systems that have no fixed number of inodes tell none.
    const byFiles = files === 0 ? folders : Math.floor((files * shareOfFiles) / inEach)
    return { folders: Math.min(folders, byBlocks, byFiles), inEach }
  }

  #hasRoom(): boolean {
    const { bytes, files } = freeRoom(this.#around)
    return bytes >= leastBytes && files >= leastFiles
  }
}
