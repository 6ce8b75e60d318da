import { watch, type FSWatcher } from 'node:fs'
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
  #timer: NodeJS.Timeout | undefined
  #eventsSince: number | undefined
  #looking: Promise<void> | undefined
  #unreadable = false
  #stopped = false

  constructor(options: ConfDirWatchOptions) {
    this.#options = options
  }

  /** What the last look gave; empty before it, and while there is no such folder. */
  current(): LintReply {
    return this.#reply
  }

  /** Resolves when the first look is done. */
  async start(): Promise<void> {
    await this.#look()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#watcher?.close()
    clearTimeout(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    await this.#looking
    this.#eventsSince = undefined
    // Before the reading, so that no change falls between the two.
    const watched = this.#follow()
    // Events meanwhile bring the next look forward.
    this.#lookIn(watched ? lookEvery : tryEvery)
    this.#looking = this.#read()
    await this.#looking
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
    if (this.#stopped) return false
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
    this.#eventsSince ??= now
    this.#lookIn(Math.max(0, Math.min(quietFor, this.#eventsSince + atMost - now)))
  }

  #lookIn(milliseconds: number): void {
    if (this.#stopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      void this.#look()
    }, milliseconds)
    this.#timer.unref()
  }
}
