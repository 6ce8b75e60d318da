import { BackgroundTask } from '../host/background-task.ts'
import { mkdirSync } from 'node:fs'
import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CniRequest } from '../../shared/api/cni.schema.ts'
import { DeferredDel } from '../../shared/api/deferred-del.schema.ts'
import { stateFolders } from '../../shared/paths.ts'
import { catalogue } from '../../shared/problem/catalogue.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { KeptFolder } from '../host/kept-folder.ts'
import { FailureReasons } from '../host/failure-reasons.ts'
import { makeFolder } from '../host/make-folder.ts'
import { readRegularFile, UnreadableFile } from '../host/regular-file.ts'
import { schemaCheck } from '../host/schema-check.ts'
import type { SpareDels } from './spare-dels.ts'
import { failedBy, systemCode } from '../../shared/system-code.ts'

/** What the plugin reads from stdin at most (16 MiB), and the rest of the request: no DEL that it takes is too long here. */
const sizeLimit = 17 * 1024 * 1024
const retryAfter = 5_000
/** Of files in quarantine, which others put things into as well. */
const asidePrefix = `${stateFolders.deferredDels}-`

const deferredDel = schemaCheck<DeferredDel>(DeferredDel)

export interface DeferredDelsOptions {
  readonly stateDir: string
  /** Carries one DEL out; durable when it resolves. */
  readonly del: (request: CniRequest) => Promise<void>
  readonly onDone: (request: CniRequest, queuedAt: string) => void
  readonly onQuarantine: (file: string, reason: string) => void
  /** Where DELs wait beside the queue. */
  readonly spares: SpareDels
  /** The DEL stays in the queue and is tried again; told once of all that stay for the same reason, as long as it lasts. */
  readonly onRetry: (file: string, error: unknown) => void
  /** None stays any more, after some did. */
  readonly onRetriesOver: () => void
}

/** A file that waits. */
interface Entry {
  readonly file: string
  /** What it is called in quarantine, after where it was. */
  readonly name: string
  /** It was carried out. */
  readonly release: () => Promise<void>
}

/** What is in the way of carrying a file out, other than the daemon itself. */
class Unusable extends Error {}

/**
 * The queue of DELs that came while the daemon was away. Each is carried out and only then removed, so that a crash in
 * between repeats it, which is harmless: a DEL ends only what began before it. What cannot be understood is moved to
 * quarantine; nothing is ever dropped.
 */
export class DeferredDels {
  readonly #options: DeferredDelsOptions
  readonly #folder: string
  readonly #quarantine: string
  #kept: KeptFolder | undefined
  readonly #retry: BackgroundTask
  #running: Promise<void> | undefined
  #again = false
  /** Why files stay. */
  readonly #reasons = new FailureReasons()
  #stopped = false

  constructor(options: DeferredDelsOptions) {
    this.#options = options
    this.#folder = join(options.stateDir, stateFolders.deferredDels)
    this.#quarantine = join(options.stateDir, stateFolders.quarantine)
    makeFolder(this.#folder)
    this.#retry = new BackgroundTask({
      round: async () => {
        await this.drain()
        return undefined
      },
      onError: error => {
        this.#tellRetry(this.#folder, error)
        this.#reasons.endRound()
      },
      retryAfter,
    })
  }

  /** Carries out all that is queued. Called before the daemon serves its first ADD, and whenever a file appears. */
  async drain(): Promise<void> {
    this.#again = true
    this.#running ??= this.#drainUntilQuiet().finally(() => (this.#running = undefined))
    await this.#running
  }

  /**
   * Drains now, since what was queued between an earlier drain and this moment nobody would speak of again, and from now
   * on whenever a file appears; costs nothing while none does. A queue that somebody takes away is made anew, but not the
   * state folder around it: that is more than a queue.
   */
  watch(onError: (error: unknown) => void): void {
    this.#kept = new KeptFolder({
      path: this.#folder,
      make: () => {
        mkdirSync(this.#folder, { mode: 0o700 })
      },
      onChange: () => {
        this.drain().catch(onError)
      },
      onError,
    })
    this.#kept.open()
  }

  /** How many DELs wait, and how many files of the queue are in quarantine. */
  async count(): Promise<{ readonly waiting: number; readonly quarantined: number }> {
    const aside = await readdir(this.#quarantine).catch((): string[] => [])
    return {
      waiting: (await this.#entries()).length,
      quarantined: aside.filter(name => name.startsWith(asidePrefix) && !name.endsWith('.reason')).length,
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#kept?.close()
    await this.#retry.stop()
    await this.#running
  }

  async #drainUntilQuiet(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false
      let kept = false
      for (const entry of await this.#entries()) kept = !(await this.#carryOut(entry)) || kept
      if (kept) this.#retry.wake(retryAfter)
      if (this.#reasons.endRound()) this.#options.onRetriesOver()
    }
  }

  #tellRetry(file: string, error: unknown): void {
    if (this.#reasons.failed(error)) this.#options.onRetry(file, error)
  }

  async #entries(): Promise<readonly Entry[]> {
    const queued = (await this.#names()).map((name): Entry => {
      const file = join(this.#folder, name)
      // Gone already where the plugin reached the daemon after all and took it back.
      return { file, name, release: () => rm(file, { force: true }) }
    })
    const spare = (await this.#options.spares.waiting()).map((file): Entry => {
      const name = file.split('/').slice(-3).join('-')
      return { file, name, release: () => this.#options.spares.release(file) }
    })
    return [...queued, ...spare]
  }

  /** Of a queue that is not there: none. */
  async #names(): Promise<readonly string[]> {
    try {
      return (await readdir(this.#folder)).filter(isEntry).sort()
    } catch (error) {
      if (!isMissing(error)) throw error
      this.#kept?.look()
      return []
    }
  }

  /** Whether the file is out of the queue. */
  async #carryOut({ file, name, release }: Entry): Promise<boolean> {
    try {
      const entry = await readEntry(file)
      if (!entry) return true
      await this.#options.del(entry.request)
      await release()
      this.#options.onDone(entry.request, entry.queuedAt)
      return true
    } catch (error) {
      const hopeless =
        error instanceof Unusable || (error instanceof Problem && !catalogue[error.code].retryable)
      const setAside = hopeless && (await this.#setAside(file, name, error.message))
      if (!hopeless) this.#tellRetry(file, error)
      return setAside
    }
  }

  /** Whether the file is in quarantine; one that cannot be moved now stays in the queue and is in nobody's way. */
  async #setAside(file: string, name: string, reason: string): Promise<boolean> {
    const target = join(this.#quarantine, `${asidePrefix}${name}`)
    try {
      makeFolder(this.#quarantine)
      await writeFile(`${target}.reason`, `${reason}\n`, { mode: 0o600 })
      await rename(file, target)
    } catch (error) {
      this.#tellRetry(file, error)
      return false
    }
    this.#options.onQuarantine(target, reason)
    return true
  }
}

/** Nothing can have been put into what is no folder. */
const isMissing = (error: unknown): boolean => failedBy(error, 'ENOENT', 'ENOTDIR')

/** Of a link, a socket, and a device that nothing is behind: they cannot be opened at all. */
const noFile = ['ELOOP', 'ENXIO', 'ENODEV']

/** Names that begin with a dot are being written. */
const isEntry = (name: string): boolean => !name.startsWith('.')

/** undefined when the file has gone meanwhile: the plugin reached the daemon after all and took it back. */
async function readEntry(file: string): Promise<DeferredDel | undefined> {
  let text: string
  try {
    text = (await readRegularFile(file, { most: sizeLimit, noLink: true })).toString()
  } catch (error) {
    if (isMissing(error)) return undefined
    if (error instanceof UnreadableFile) throw new Unusable(error.message)
    if (noFile.includes(systemCode(error))) throw new Unusable(`no regular file (${systemCode(error)})`)
    throw error
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The message quotes the file, with its line breaks; a reason is one line.
    const why = error instanceof Error ? error.message : String(error)
    throw new Unusable(`no JSON: ${why.replaceAll(/\s+/g, ' ')}`)
  }
  if (deferredDel.holds(value)) return value
  const [first] = deferredDel.errors()
  throw new Unusable(`not a deferred DEL: ${first?.instancePath ?? ''} ${first?.message ?? ''}`.trim())
}
