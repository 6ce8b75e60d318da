import { realpathSync, statSync, watch, type FSWatcher } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { Problem, toProblem, type ProblemDocument } from '../../shared/problem/problem.ts'
import { shellWord } from '../../shared/text/shell-word.ts'
import { withStricterRules } from '../ipam/pools/stricter-rules.ts'
import { firstConfig, isEmptyText, type ConfigSite, type FirstConfig } from './first-config.ts'
import type { KeptConfig } from './kept-config.ts'
import { parseConfig, readConfigText, type DaemonConfig } from './load-config.ts'
import { changedAtStart } from './read-at-start.ts'
import { YamlSource } from './yaml-source.ts'

/** Milliseconds without an event before a change counts as complete: editors and copies come in several steps. */
const quietFor = 200
/** Milliseconds after which a change is looked at although events go on. */
const atMost = 2_000
/** Milliseconds between two looks at a file whose folder cannot be watched. */
const pollEvery = 5_000

/** applied: another configuration is in force. unchanged: the file says what is in force. refused: see the problem. */
export type ReloadOutcome = 'applied' | 'unchanged' | 'refused'

export interface ConfigStatus {
  readonly path: string
  /** When what is in force was read; milliseconds since the epoch. */
  readonly loadedAt: number
  /** Why the file is not what is in force; null when it is. */
  readonly problem: ProblemDocument | null
  /** Pools for which the rules of that file apply all the same, besides those in force. */
  readonly stricter: readonly string[]
}

/** What would become of a file. */
export interface ConfigJudgement {
  readonly config: DaemonConfig
  /** Keys whose change is taken at the next start alone. */
  readonly atStart: readonly string[]
}

export interface ConfigHooks {
  /** Throws a problem for what nobody could obey here, whoever has which address. Absent: everything can be. */
  readonly check?: (next: DaemonConfig) => void
  /** Puts a configuration in force, or throws a problem and leaves everything as it was. */
  readonly apply: (next: DaemonConfig, previous: DaemonConfig) => void | Promise<void>
  /** The same pools with other rules, which are of a file that is refused, or no longer are. */
  readonly onRules?: (config: DaemonConfig, pools: readonly string[]) => void
  /** Has a copy of what is in force kept; resolves in any case. */
  readonly keep?: (kept: KeptConfig) => Promise<void>
  /** The file is not put in force; the last good one stays. Told once for each content. */
  readonly onProblem: (problem: Problem) => void
  /** After a problem, the file is what is in force again without a change of it. */
  readonly onUsed?: () => void
  /** A folder cannot be watched; the file is looked at every few seconds until it can. */
  readonly onUnwatched: (folder: string, error: unknown) => void
}

/** A file is put in force whole or not at all, so that what runs is always what one file said. */
function refuseAtStart(path: string, text: string, next: DaemonConfig, current: DaemonConfig): void {
  const changed = changedAtStart(next, current)
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

const unusableFile = (path: string, what: string, hint?: string): Problem =>
  new Problem(
    'IPK_DAEMON_CONFIG',
    `${path}: ${what}; what was read before stays in force`,
    hint === undefined ? {} : { hint },
  )

const emptyFile = (path: string): Problem => unusableFile(path, 'is empty; for defaults write {}')

/**
 * The configuration file and what of it is in force. It is read again when it changes and when `reload` is called; a file
 * that cannot be used leaves the last good one in force.
 */
export class WatchedConfig {
  readonly #path: string
  readonly #now: () => number
  /** Of the start: another hostname later is no change of the file. */
  readonly #standardNode: string
  /** Of one file, without the rules of any other. */
  #config: DaemonConfig
  /** What is in force was made from this text; undefined: there was no file. */
  #text: string | undefined
  #loadedAt: number
  /** A file that is refused and whose rules apply besides. */
  #strict: FirstConfig['strict']
  /** With those rules. */
  #inForce: DaemonConfig
  #problem: Problem | undefined
  /** The text that was refused last; null when there was none that could be read. */
  #refused: string | null | undefined
  #hooks: ConfigHooks | undefined
  #follows = false
  #queue: Promise<unknown> = Promise.resolve()
  readonly #watchers = new Map<string, { readonly id: string; readonly watcher: FSWatcher }>()
  #unwatched = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #eventsSince: number | undefined
  #stopped = false

  private constructor(site: ConfigSite) {
    this.#path = site.path
    this.#now = site.now
    this.#standardNode = site.standardNode
    const { config, text, loadedAt, strict } = firstConfig(site)
    this.#config = config
    this.#text = text
    this.#loadedAt = loadedAt
    this.#strict = strict
    this.#inForce = this.#withRules()
  }

  /**
   * Reads the file for the first time. Absent is an error only when it was named on the command line.
   *
   * @param path absolute
   * @param now milliseconds since the epoch
   * @param standardNode the node's name where the file does not say it
   * @param kept what was in force when the daemon last ran: it is until `begin` has put the file in force
   * @throws IPK_DAEMON_CONFIG
   */
  static open(
    path: string,
    mustExist: boolean,
    now: () => number,
    standardNode: string = hostname(),
    kept?: KeptConfig,
  ): WatchedConfig {
    return new WatchedConfig({ path, mustExist, now, standardNode, kept })
  }

  /** What is in force. */
  get current(): DaemonConfig {
    return this.#inForce
  }

  /** Why the file is not what is in force; undefined when it is. */
  get problem(): Problem | undefined {
    return this.#problem
  }

  status(): ConfigStatus {
    return {
      ...{ path: this.#path, loadedAt: this.#loadedAt, problem: this.#problem?.toDocument() ?? null },
      stricter: this.#stricterPools(),
    }
  }

  /** What would become of such a file. Throws IPK_DAEMON_CONFIG. */
  judge(text: string, path: string): ConfigJudgement {
    if (isEmptyText(text) && !isEmptyText(this.#text ?? '')) throw emptyFile(path)
    const config = parseConfig(text, path, this.#standardNode)
    return { config, atStart: changedAtStart(config, this.#config).map(key => key.join('.')) }
  }

  /** Puts the file in force as it is now; it is not followed yet. What it does not put in force stays as it was. */
  async begin(hooks: ConfigHooks): Promise<ReloadOutcome> {
    this.#hooks = hooks
    return await this.#read(false)
  }

  /** Follows the file from now on, beginning with what happened to it since it was opened. */
  watch(hooks: ConfigHooks): void {
    this.#hooks = hooks
    this.#follows = true
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
      if (this.#follows) this.#follow(hooks)
      return await this.#load(hooks, again)
    })
    this.#queue = turn.catch(() => undefined)
    return await turn
  }

  async #load(hooks: ConfigHooks, again: boolean): Promise<ReloadOutcome> {
    let seen: string | null = null
    let obeyable: DaemonConfig | undefined
    try {
      const text = readConfigText(this.#path)
      if (text === this.#text) {
        if (this.#problem) hooks.onUsed?.()
        await this.#take(hooks, {})
        return 'unchanged'
      }
      if (text === undefined)
        throw unusableFile(
          this.#path,
          'is gone',
          `put it back; for defaults: echo '{}' >${shellWord(this.#path)}`,
        )
      seen = text
      if (!again && seen === this.#refused) return 'refused'
      if (isEmptyText(text)) throw emptyFile(this.#path)
      const next = parseConfig(text, this.#path, this.#standardNode)
      hooks.check?.(next)
      obeyable = next
      refuseAtStart(this.#path, text, next, this.#config)
      await hooks.apply(next, this.#inForce)
      await this.#take(hooks, { config: next, text })
      return 'applied'
    } catch (error) {
      const problem = toProblem(error)
      const known = !again && this.#problem?.message === problem.message && seen === this.#refused
      this.#problem = problem
      this.#refused = seen
      if (!known) hooks.onProblem(problem)
      if (obeyable && seen !== null) await this.#takeRules(hooks, { text: seen, config: obeyable })
      return 'refused'
    }
  }

  /** The file is what is in force. */
  async #take(
    hooks: ConfigHooks,
    read: { readonly config?: DaemonConfig; readonly text?: string },
  ): Promise<void> {
    this.#problem = undefined
    this.#refused = undefined
    if (read.config) {
      this.#config = this.#inForce = read.config
      this.#text = read.text
      this.#loadedAt = this.#now()
      this.#strict = undefined
      await this.#keep(hooks)
    } else await this.#takeRules(hooks, undefined)
  }

  /** Who is to be kept out is kept out, also where the rest of the file is refused. */
  async #takeRules(hooks: ConfigHooks, strict: FirstConfig['strict']): Promise<void> {
    if (this.#strict?.text === strict?.text) return
    const before = this.#stricterPools()
    this.#strict = strict
    this.#inForce = this.#withRules()
    const pools = this.#stricterPools()
    if (before.length + pools.length > 0) hooks.onRules?.(this.#inForce, pools)
    await this.#keep(hooks)
  }

  #withRules(): DaemonConfig {
    const { pools } = this.#config
    const strict = withStricterRules(pools, this.#strict?.config.pools ?? [])
    return strict === pools ? this.#config : { ...this.#config, pools: strict }
  }

  #stricterPools(): readonly string[] {
    return this.#inForce.pools.flatMap(({ pool, rules }) => (rules.besides ? [pool.name] : []))
  }

  /** What is in force, for the next start. */
  kept(): KeptConfig {
    return { text: this.#text, loadedAt: this.#loadedAt, strict: this.#strict?.text }
  }

  async #keep(hooks: ConfigHooks): Promise<void> {
    await hooks.keep?.(this.kept())
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
