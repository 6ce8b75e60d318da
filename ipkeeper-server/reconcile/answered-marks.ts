import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isMarkName } from '../../shared/mark-name.ts'
import { stateFolders } from '../../shared/paths.ts'
import { makeFolder } from '../host/make-folder.ts'
import { failedBy } from '../../shared/system-code.ts'

/** plugin: it answers its ADD. daemon: the ADD is undone, or is about to be. */
export type MarkOwner = 'plugin' | 'daemon'

/** The folder in which plugin and daemon decide whether an ADD is answered or undone: shared/mark-name.ts. */
export class AnsweredMarks {
  readonly #folder: string

  constructor(stateDir: string) {
    this.#folder = join(stateDir, stateFolders.answered)
  }

  get hasFolder(): boolean {
    return existsSync(this.#folder)
  }

  makeFolder(): void {
    makeFolder(this.#folder)
  }

  /** Who made which mark; what cannot be one is nobody's business here. Rejects when the folder cannot be read. */
  async list(): Promise<ReadonlyMap<string, MarkOwner>> {
    const entries = await readdir(this.#folder, { withFileTypes: true }).catch((error: unknown) => {
      // The first plugin to leave a mark makes it again.
      if (failedBy(error, 'ENOENT')) return []
      throw error
    })
    return new Map(
      entries
        .filter(({ name }) => isMarkName(name))
        .map(entry => [entry.name, entry.isDirectory() ? 'daemon' : 'plugin']),
    )
  }

  /**
   * Claims a run's mark for the daemon; resolves to whose it is now. Rejects when that cannot be said: then nobody may act
   * as if it were the daemon's.
   *
   * @param name passes isMarkName
   */
  async claim(name: string): Promise<MarkOwner> {
    try {
      await mkdir(join(this.#folder, name), { mode: 0o700 })
      return 'daemon'
    } catch (error) {
      if (!failedBy(error, 'EEXIST')) throw error
      return (await this.ownerOf(name)) ?? 'plugin'
    }
  }

  /** Who made a mark; undefined where there is none. Rejects when that cannot be said, as where the folder is gone. */
  async ownerOf(name: string): Promise<MarkOwner | undefined> {
    try {
      return (await lstat(join(this.#folder, name))).isDirectory() ? 'daemon' : 'plugin'
    } catch (error) {
      if (!failedBy(error, 'ENOENT') || !this.hasFolder) throw error
      return undefined
    }
  }

  /** Takes a mark away. Never rejects: one that stays is come across again. */
  async remove(name: string, owner: MarkOwner): Promise<void> {
    const path = join(this.#folder, name)
    await (owner === 'plugin' ? unlink(path) : rmdir(path)).catch(() => undefined)
  }
}
