import { statSync, watch, type FSWatcher } from 'node:fs'

/** Watched at most: each costs memory of the kernel. What is beyond is seen by the timer. */
const limit = 256

/** Watches folders that come and go. */
export class FolderWatches {
  readonly #watchers = new Map<string, { readonly inode: string; readonly watcher: FSWatcher }>()
  readonly #onChange: () => void

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** Watches these folders from now on, and no others. One that cannot be watched is left to the timer. */
  follow(folders: readonly string[]): void {
    const wanted = new Set(folders.slice(0, limit))
    for (const [path, { inode }] of [...this.#watchers])
      if (!wanted.has(path) || inodeOf(path) !== inode) this.#drop(path)
    for (const path of wanted) {
      if (this.#watchers.has(path)) continue
      const inode = inodeOf(path)
      if (inode === undefined) continue
      try {
        const watcher = watch(path, this.#onChange)
        watcher.on('error', () => {
          this.#drop(path)
        })
        this.#watchers.set(path, { inode, watcher })
      } catch {
        // No inotify instance or watch is left: the timer looks.
      }
    }
  }

  close(): void {
    for (const path of [...this.#watchers.keys()]) this.#drop(path)
  }

  #drop(path: string): void {
    this.#watchers.get(path)?.watcher.close()
    this.#watchers.delete(path)
  }
}

/** undefined when there is no such folder. Another folder of the same name has another one. */
function inodeOf(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true })
    return found.isDirectory() ? `${found.dev}:${found.ino}` : undefined
  } catch {
    return undefined
  }
}
