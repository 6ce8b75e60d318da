import { statSync, watch, type FSWatcher } from 'node:fs'

export interface KeptFolderOptions {
  readonly path: string
  /** Makes it where it is not there; may throw. */
  readonly make: () => void
  /** It is there, and something in it may have changed; also of one that has just been made. */
  readonly onChange: () => void
  /** It cannot be made or watched now, which is tried again; told once until it can. */
  readonly onError: (error: unknown) => void
}

/** Milliseconds that somebody has to take more away: what came back at once would be in his way. */
const restoreAfter = 100
/** Milliseconds until one is tried again that cannot be made or watched. While it can, there is no timer. */
const retryAfter = 5_000

/** A folder that the daemon lives by: watched, and made anew when somebody takes it away. */
export class KeptFolder {
  readonly #options: KeptFolderOptions
  #watched: { readonly id: string; readonly watcher: FSWatcher } | undefined
  #timer: NodeJS.Timeout | undefined
  #failing = false
  #closed = false

  constructor(options: KeptFolderOptions) {
    this.#options = options
  }

  /** Watches from now on; `onChange` is called once for what came before. */
  open(): void {
    this.#restore()
  }

  /** To be called when something about it looks wrong. */
  look(): void {
    if (this.#closed) return
    if (this.#watched !== undefined && identityOf(this.#options.path) === this.#watched.id)
      this.#options.onChange()
    else this.#restoreIn(this.#failing ? retryAfter : restoreAfter)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#unwatch()
  }

  #restoreIn(milliseconds: number): void {
    if (this.#closed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#restore()
    }, milliseconds)
  }

  #restore(): void {
    const { path, onChange, onError } = this.#options
    try {
      this.#follow()
      this.#failing = false
    } catch (error) {
      if (!this.#failing) onError(error)
      this.#failing = true
      this.#restoreIn(retryAfter)
    }
    // One that cannot be watched is looked at every time it is tried again.
    if (identityOf(path) !== undefined) onChange()
  }

  #follow(): void {
    const { path, make } = this.#options
    this.#unwatch()
    if (identityOf(path) === undefined) make()
    const id = identityOf(path)
    if (id === undefined) throw new Error(`${path} has gone again`)
    const watcher = watch(path, () => {
      this.look()
    })
    watcher.on('error', () => {
      this.#unwatch()
      this.look()
    })
    this.#watched = { id, watcher }
  }

  #unwatch(): void {
    this.#watched?.watcher.close()
    this.#watched = undefined
  }
}

/** Another folder of the same name has another one; undefined where there is none. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats?.isDirectory() === true ? `${stats.dev}:${stats.ino}` : undefined
}
