import { realpathSync, statSync, watch, type FSWatcher } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Problem, toProblem, type ProblemDocument } from '../../shared/problem/problem.ts'
import { missingFile, parseConfig, readConfigText, type DaemonConfig } from './load-config.ts'
import { YamlSource } from './yaml-source.ts'

/** Milliseconds without an event before a change counts as complete: editors and copies come in several steps. */
const quietFor = 200
/** Milliseconds after which a change is looked at although events go on. */
const atMost = 2_000
/** Milliseconds between two looks at a file whose folder cannot be watched. */
const pollEvery = 5_000

/** Keys that are read once, at the start, because too much was made from them. */
const fixedKeys = [
  ['node'],
  ['kubernetes', 'mode'],
  ['kubernetes', 'kubeconfig'],
  ['kubernetes', 'context'],
  ['store', 'singleNode'],
  ['store', 'etcd'],
  ['runtime', 'sockets'],
  ['resultCache'],
  ['conflist'],
  ['metrics', 'listen'],
  ['page', 'listen'],
] as const

/** applied: another configuration is in force. unchanged: the file says what is in force. refused: see the problem. */
export type ReloadOutcome = 'applied' | 'unchanged' | 'refused'

export interface ConfigStatus {
  readonly path: string
  /** When what is in force was read; milliseconds since the epoch. */
  readonly loadedAt: number
  /** Why the file is not what is in force; null when it is. */
  readonly problem: ProblemDocument | null
}

export interface ConfigHooks {
  /** Puts a configuration in force, or throws a problem and leaves everything as it was. */
  readonly apply: (next: DaemonConfig, previous: DaemonConfig) => void | Promise<void>
  /** The file is not put in force; the last good one stays. Told once for each content. */
  readonly onProblem: (problem: Problem) => void
  /** A folder cannot be watched; the file is looked at every few seconds until it can. */
  readonly onUnwatched: (folder: string, error: unknown) => void
}

const fixedValue = (config: DaemonConfig, key: readonly string[]): unknown =>
  key.reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], config)

/** A file is put in force whole or not at all, so that what runs is always what one file said. */
function refuseFixed(path: string, text: string, next: DaemonConfig, current: DaemonConfig): void {
  const changed = fixedKeys.filter(key => !isDeepStrictEqual(fixedValue(next, key), fixedValue(current, key)))
  const [first] = changed
  if (!first) return
  const { line, column } = new YamlSource(text).positionOf({ path: first, part: 'value' })
  const names = changed.map(key => key.join('.')).join(', ')
  throw new Problem(
    'IPK_DAEMON_CONFIG',
    `${path}:${line}:${column}: ${names} cannot change while the daemon runs; nothing of the file is put in force`,
    { hint: 'systemctl restart ipkeeper, or take that change back' },
  )
}

/**
 * The configuration file and what of it is in force. It is read again when it changes and when `reload` is called; a file
 * that cannot be used leaves the last good one in force.
 */
export class WatchedConfig {
  readonly #path: string
  readonly #now: () => number
  /** Of the start: another hostname later is no change of the file. */
  readonly #standardNode: string
  #config: DaemonConfig
  /** What is in force was made from this text; undefined: there was no file. */
  #text: string | undefined
  #loadedAt: number
  #problem: Problem | undefined
  /** The text that was refused last; null when there was none that could be read. */
  #refused: string | null | undefined
  #hooks: ConfigHooks | undefined
  #queue: Promise<unknown> = Promise.resolve()
  readonly #watchers = new Map<string, { readonly id: string; readonly watcher: FSWatcher }>()
  #unwatched = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #eventsSince: number | undefined
  #stopped = false

  private constructor(path: string, mustExist: boolean, now: () => number, standardNode: string) {
    this.#path = path
    this.#now = now
    this.#standardNode = standardNode
    this.#text = readConfigText(path)
    if (this.#text === undefined && mustExist) throw missingFile(path)
    this.#config = parseConfig(this.#text ?? '', path, this.#standardNode)
    this.#loadedAt = now()
  }

  /**
   * Reads the file for the first time. Absent is an error only when it was named on the command line.
   *
   * @param path absolute
   * @param now milliseconds since the epoch
   * @param standardNode the node's name where the file does not say it
   * @throws IPK_DAEMON_CONFIG
   */
  static open(
    path: string,
    mustExist: boolean,
    now: () => number,
    standardNode: string = hostname(),
  ): WatchedConfig {
    return new WatchedConfig(path, mustExist, now, standardNode)
  }

  /** What is in force. */
  get current(): DaemonConfig {
    return this.#config
  }

  status(): ConfigStatus {
    return { path: this.#path, loadedAt: this.#loadedAt, problem: this.#problem?.toDocument() ?? null }
  }

  /** Follows the file from now on, beginning with what happened to it since it was opened. */
  watch(hooks: ConfigHooks): void {
    this.#hooks = hooks
    this.#look()
  }

  /**
   * Reads the file now. A file that was refused is tried again, since what was in its way may have gone. Before `watch`
   * nothing happens, as that begins with a look of its own.
   */
  async reload(): Promise<ReloadOutcome> {
    return await this.#read(true)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    for (const { watcher } of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
    await this.#queue
  }

  /** One after the other: what one puts in force the next starts from. */
  async #read(again: boolean): Promise<ReloadOutcome> {
    const turn = this.#queue.then(async () => {
      const hooks = this.#hooks
      if (!hooks || this.#stopped) return 'unchanged'
      this.#follow(hooks)
      return await this.#load(hooks, again)
    })
    this.#queue = turn.catch(() => undefined)
    return await turn
  }

  async #load(hooks: ConfigHooks, again: boolean): Promise<ReloadOutcome> {
    let seen: string | null = null
    try {
      const text = readConfigText(this.#path)
      if (text === this.#text) {
        this.#problem = undefined
        this.#refused = undefined
        return 'unchanged'
      }
      if (text === undefined) throw this.#unusable('is gone')
      seen = text
      if (!again && seen === this.#refused) return 'refused'
      // A file that is written anew is empty for a moment; as a configuration it would take all pools away.
      if (text.trim() === '') throw this.#unusable('is empty; for defaults write {}')
      const next = parseConfig(text, this.#path, this.#standardNode)
      refuseFixed(this.#path, text, next, this.#config)
      await hooks.apply(next, this.#config)
      this.#config = next
      this.#text = text
      this.#loadedAt = this.#now()
      this.#problem = undefined
      this.#refused = undefined
      return 'applied'
    } catch (error) {
      const problem = toProblem(error)
      const known = !again && this.#problem?.message === problem.message && seen === this.#refused
      this.#problem = problem
      this.#refused = seen
      if (!known) hooks.onProblem(problem)
      return 'refused'
    }
  }

  #unusable(what: string): Problem {
    return new Problem('IPK_DAEMON_CONFIG', `${this.#path}: ${what}; what was read before stays in force`)
  }

  // ---- Watching

  /**
   * Watches the folder of the file, where renames show that replace it (editors, and the swap of "..data" in a ConfigMap),
   * and that of the file which it is a link to.
   */
  #follow(hooks: ConfigHooks): void {
    const folders = new Set([dirname(this.#path)])
    try {
      folders.add(dirname(realpathSync(this.#path)))
    } catch {
      // No file, or a link that leads nowhere: the folder tells when that changes.
    }
    const failed = new Map<string, unknown>()
    for (const folder of folders) {
      try {
        this.#watchFolder(folder)
      } catch (error) {
        failed.set(folder, error)
      }
    }
    for (const [folder, { watcher }] of this.#watchers) {
      if (folders.has(folder) && !failed.has(folder)) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    for (const [folder, error] of failed) if (!this.#unwatched.has(folder)) hooks.onUnwatched(folder, error)
    this.#unwatched = new Set(failed.keys())
    if (failed.size > 0 && this.#eventsSince === undefined) this.#lookIn(pollEvery)
  }

  /** A folder that was replaced by another one of its name is watched anew. */
  #watchFolder(folder: string): void {
    const { dev, ino } = statSync(folder, { bigint: true })
    const id = `${dev} ${ino}`
    const before = this.#watchers.get(folder)
    if (before?.id === id) return
    before?.watcher.close()
    this.#watchers.delete(folder)
    const watcher = watch(folder, () => {
      this.#noteEvent()
    })
    // Nothing more will come from it; the next look watches anew, or says why it cannot.
    watcher.on('error', () => {
      watcher.close()
      if (this.#watchers.get(folder)?.watcher === watcher) this.#watchers.delete(folder)
      this.#noteEvent()
    })
    this.#watchers.set(folder, { id, watcher })
  }

  #noteEvent(): void {
    const now = performance.now()
    this.#eventsSince ??= now
    this.#lookIn(Math.max(0, Math.min(quietFor, this.#eventsSince + atMost - now)))
  }

  #lookIn(milliseconds: number): void {
    if (this.#stopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#look()
    }, milliseconds)
  }

  #look(): void {
    this.#eventsSince = undefined
    // Whatever goes wrong is a problem of the file; only a bug of the hooks gets here.
    this.#read(false).catch((error: unknown) => {
      this.#problem = toProblem(error)
    })
  }
}
