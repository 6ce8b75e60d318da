import { watch, type FSWatcher } from 'node:fs'
import { lstat, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import type { CniRequest } from '../../shared/api/cni.schema.ts'
import { DeferredDel } from '../../shared/api/deferred-del.schema.ts'
import { stateFolders } from '../../shared/paths.ts'
import { catalogue } from '../../shared/problem/catalogue.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { makeFolder } from '../make-folder.ts'

/** What the plugin reads from stdin at most (16 MiB), and the rest of the request: no DEL that it takes is too long here. */
const sizeLimit = 17 * 1024 * 1024
const retryAfter = 5_000
/** Of files in quarantine, which others put things into as well. */
const asidePrefix = `${stateFolders.deferredDels}-`

const isDeferredDel = new Ajv({ strict: true }).compile<DeferredDel>(DeferredDel)

export interface DeferredDelsOptions {
  readonly stateDir: string
  /** Carries one DEL out; durable when it resolves. */
  readonly del: (request: CniRequest) => Promise<void>
  readonly onDone: (request: CniRequest, queuedAt: string) => void
  readonly onQuarantine: (file: string, reason: string) => void
  /** The DEL stays in the queue and is tried again. */
  readonly onRetry: (file: string, error: unknown) => void
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
  #watcher: FSWatcher | undefined
  #retry: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #again = false
  #stopped = false

  constructor(options: DeferredDelsOptions) {
    this.#options = options
    this.#folder = join(options.stateDir, stateFolders.deferredDels)
    this.#quarantine = join(options.stateDir, stateFolders.quarantine)
    makeFolder(this.#folder)
  }

  /** Carries out all that is queued. Called before the daemon serves its first ADD, and whenever a file appears. */
  async drain(): Promise<void> {
    this.#again = true
    this.#running ??= this.#drainUntilQuiet().finally(() => (this.#running = undefined))
    await this.#running
  }

  /** Drains now and from now on whenever a file appears; costs nothing while none does. */
  watch(onError: (error: unknown) => void): void {
    const drain = (): void => {
      this.drain().catch(onError)
    }
    this.#watcher = watch(this.#folder, drain)
    this.#watcher.on('error', onError)
    // What was queued between an earlier drain and this moment, nobody would speak of again.
    drain()
  }

  /** How many DELs wait, and how many files of the queue are in quarantine. */
  async count(): Promise<{ readonly waiting: number; readonly quarantined: number }> {
    const aside = await readdir(this.#quarantine).catch((): string[] => [])
    return {
      waiting: (await readdir(this.#folder)).filter(isEntry).length,
      quarantined: aside.filter(name => name.startsWith(asidePrefix) && !name.endsWith('.reason')).length,
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#watcher?.close()
    clearTimeout(this.#retry)
    await this.#running
  }

  async #drainUntilQuiet(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false
      const names = (await readdir(this.#folder)).filter(isEntry).sort()
      let kept = false
      for (const name of names) kept = !(await this.#carryOut(name)) || kept
      if (kept) this.#tryLater()
    }
  }

  #tryLater(): void {
    if (this.#stopped) return
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => {
      this.drain().catch((error: unknown) => {
        this.#options.onRetry(this.#folder, error)
      })
    }, retryAfter)
  }

  /** Whether the file is out of the queue. */
  async #carryOut(name: string): Promise<boolean> {
    const file = join(this.#folder, name)
    try {
      const entry = await readEntry(file)
      if (!entry) return true
      await this.#options.del(entry.request)
      // Gone already where the plugin reached the daemon after all and took it back.
      await rm(file, { force: true })
      this.#options.onDone(entry.request, entry.queuedAt)
      return true
    } catch (error) {
      const hopeless =
        error instanceof Unusable || (error instanceof Problem && !catalogue[error.code].retryable)
      const setAside = hopeless && (await this.#setAside(name, error.message))
      if (!hopeless) this.#options.onRetry(file, error)
      return setAside
    }
  }

  /** Whether the file is in quarantine; one that cannot be moved now stays in the queue and is in nobody's way. */
  async #setAside(name: string, reason: string): Promise<boolean> {
    const file = join(this.#folder, name)
    const target = join(this.#quarantine, `${asidePrefix}${name}`)
    try {
      makeFolder(this.#quarantine)
      await writeFile(`${target}.reason`, `${reason}\n`, { mode: 0o600 })
      await rename(file, target)
    } catch (error) {
      this.#options.onRetry(file, error)
      return false
    }
    this.#options.onQuarantine(target, reason)
    return true
  }
}

/** Names that begin with a dot are being written. */
const isEntry = (name: string): boolean => !name.startsWith('.')

/** undefined when the file has gone meanwhile: the plugin reached the daemon after all and took it back. */
async function readEntry(file: string): Promise<DeferredDel | undefined> {
  let text: string
  try {
    const present = await lstat(file)
    if (!present.isFile()) throw new Unusable('no regular file')
    if (present.size > sizeLimit) throw new Unusable(`larger than ${sizeLimit} bytes`)
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
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
  if (isDeferredDel(value)) return value
  const [first] = isDeferredDel.errors ?? []
  throw new Unusable(`not a deferred DEL: ${first?.instancePath ?? ''} ${first?.message ?? ''}`.trim())
}
