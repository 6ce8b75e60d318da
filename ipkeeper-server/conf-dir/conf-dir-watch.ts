import { watch, type FSWatcher } from 'node:fs'
import { BackgroundTask } from '../host/background-task.ts'
import type { LintFinding, LintReply } from '../../shared/api/lint.schema.ts'
import { lintDirectory, type LintNode } from './lint-files.ts'

/** Milliseconds without events before a look, so that a file is not read half written, and at most so long. */
const quietFor = 500
const atMost = 5000
/** Plugins come and go without an event in the folder. */
const lookEvery = 5 * 60_000
/** Where the folder is not there or cannot be watched. */
const tryEvery = 5000

export interface ConfDirWatchOptions extends LintNode {
  readonly directory: string
  /** Told of findings that were not there at the look before, and of those that have gone; only if there are any. */
  readonly onChange: (news: readonly LintFinding[], gone: readonly LintFinding[]) => void
  /** The folder cannot be read; told when that begins, and with undefined when it ends. */
  readonly onUnreadable: (error: unknown) => void
}

const identityOf = ({ fix, ...finding }: LintFinding): string => JSON.stringify([finding, fix?.title])

/** Lints the folder of a runtime at the start, whenever it changes, and from time to time. */
export class ConfDirWatch {
  readonly #options: ConfDirWatchOptions
  #reply: LintReply = { findings: [], files: [] }
  #watcher: FSWatcher | undefined
  readonly #task: BackgroundTask
  /** Of the events that no look has followed yet: the first and the last. */
  #events: { readonly since: number; readonly last: number } | undefined
  #unreadable = false

  constructor(options: ConfDirWatchOptions) {
    this.#options = options
    this.#task = new BackgroundTask({ round: () => this.#look() })
  }

  /** What the last look gave; empty before it, and while there is no such folder. */
  current(): LintReply {
    return this.#reply
  }

  /** Resolves when the first look is done. */
  async start(): Promise<void> {
    await this.#task.run()
  }

  async stop(): Promise<void> {
    this.#watcher?.close()
    await this.#task.stop()
    // A round that was under way may have begun to watch.
    this.#watcher?.close()
  }

  /** Unless a file may still be on its way. */
  async #look(): Promise<number> {
    const left = this.#untilQuiet()
    if (left > 0) return left
    this.#events = undefined
    // Before the reading, so that no change falls between the two.
    const watched = this.#follow()
    await this.#read()
    return watched ? lookEvery : tryEvery
  }

  async #read(): Promise<void> {
    const { directory, onChange, onUnreadable } = this.#options
    let reply: LintReply = { findings: [], files: [] }
    try {
      const { findings, files } = await lintDirectory(directory, this.#options)
      reply = { findings, files }
      if (this.#unreadable) onUnreadable(undefined)
      this.#unreadable = false
    } catch (error) {
      if (!this.#unreadable) onUnreadable(error)
      this.#unreadable = true
    }
    const before = new Set(this.#reply.findings.map(identityOf))
    const after = new Set(reply.findings.map(identityOf))
    const news = reply.findings.filter(finding => !before.has(identityOf(finding)))
    const gone = this.#reply.findings.filter(finding => !after.has(identityOf(finding)))
    this.#reply = reply
    if (news.length > 0 || gone.length > 0) onChange(news, gone)
  }

  /** Whether changes of the folder will be told. One that was replaced by another of its name is watched anew. */
  #follow(): boolean {
    this.#watcher?.close()
    this.#watcher = undefined
    if (this.#task.isStopped) return false
    try {
      const watcher = watch(this.#options.directory, () => {
        this.#noteEvent()
      })
      watcher.on('error', () => {
        watcher.close()
        this.#noteEvent()
      })
      this.#watcher = watcher
      return true
    } catch {
      return false
    }
  }

  #noteEvent(): void {
    const now = performance.now()
    this.#events = { since: this.#events?.since ?? now, last: now }
    this.#task.wake(this.#untilQuiet())
  }

  /** Milliseconds until the folder has been without events for long enough, or has had them for too long. */
  #untilQuiet(): number {
    if (!this.#events) return 0
    const { since, last } = this.#events
    return Math.max(0, Math.min(last + quietFor, since + atMost) - performance.now())
  }
}
