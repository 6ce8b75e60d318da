import { BackgroundTask, type Timers } from '../host/background-task.ts'
import type { ExportedEntry } from '../ipam/records/exported-entry.ts'
import type { HistoryEntry } from '../ipam/records/history-entry.ts'
import type { Delivery } from './delivery.ts'
import { entryLine, prunedLine } from './plan/syslog-line.ts'
import { isSent, withMark, type SentMark } from './plan/sent-marks.ts'
import type { Sent } from './sent-file.ts'

/** Entries that are read and written at a time: what is in memory of them. */
const atOnce = 200

/** Entries of a connection: those that are sent once more, at most, where it breaks. */
const perConnection = 2_000

/** Milliseconds from a change to its sending, so that a burst has one connection; and between two connections. */
const [gathering, pause] = [1_000, 5_000]

/** Milliseconds between two writes of what was sent: what is sent once more after a crash of the daemon. */
const betweenWrites = 5_000

/** A page of the history; see leases/queries/export-history.ts. */
interface Page {
  readonly before: HistoryEntry | undefined
  readonly entries: readonly ExportedEntry[]
}

export interface HistoryExporterOptions {
  readonly read: (page: { readonly after: number; readonly limit: number }) => Promise<Page>
  /** The newest entry of all. */
  readonly newest: () => Promise<Pick<HistoryEntry, 'id'> | undefined>
  /** The ID of the entry from which on none is missing. */
  readonly begin: () => Promise<number>
  /** Rejects also when the signal says that nobody waits any more. */
  readonly open: (signal: AbortSignal) => Promise<Delivery>
  readonly sent: Sent
  readonly save: (sent: Sent) => Promise<void>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Has `sendAll` called, unless it is known that it fails; never rejects. */
  readonly send: () => Promise<void>
  readonly onPruned: (entries: number) => void
  /** The ledger is another one than that of which entries were sent: `from` is the first one to be sent now. */
  readonly onReplaced: (from: number) => void
  readonly onSaved: (error: unknown) => void
  readonly timers?: Timers
}

export interface ExportFigures {
  /** Entries that the receiver does not have. */
  readonly unsent: number
  /** When the oldest one of them was written: milliseconds since the epoch. */
  readonly oldestUnsent: number | undefined
  /** Since the start. */
  readonly sent: number
  /** Since the start: entries that were pruned before they could be sent. */
  readonly pruned: number
}

/**
 * Sends the history of this node to a syslog receiver, each entry at least once and in order. The history is the spool: what was not sent is
 * read from there, also after a restart.
 */
export class HistoryExporter {
  readonly #options: HistoryExporterOptions
  readonly #task: BackgroundTask
  readonly #saver: BackgroundTask
  #sent: Sent
  #isSaved = true
  #counts = { sent: 0, pruned: 0 }
  /** Up to this ID what was pruned is counted: a line that was not taken is made again. */
  #countedTo = 0
  readonly #stopping = new AbortController()
  #delivery: Delivery | undefined
  #running: Promise<void> | undefined

  constructor(options: HistoryExporterOptions) {
    this.#options = options
    this.#sent = options.sent
    const timers = options.timers && { timers: options.timers }
    this.#task = new BackgroundTask({
      ...timers,
      round: async () => {
        await options.send()
        this.#task.rest(pause)
        return undefined
      },
    })
    this.#saver = new BackgroundTask({ ...timers, round: () => this.#save() })
  }

  /** Entries are durable. */
  recorded(): void {
    this.#task.wake(gathering)
  }

  /** Sends all that there is; rejects with what prevented it, unless that is `stop`. */
  async sendAll(): Promise<void> {
    this.#running ??= this.#sendAll()
      .catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) throw error
      })
      .finally(() => (this.#running = undefined))
    await this.#running
  }

  /** Nothing is sent any more. Resolves when what was sent is on disk, as far as it can be. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#delivery?.abort()
    await Promise.all([this.#task.stop(), this.#running?.catch(() => undefined)])
    await this.#saver.stop()
    await this.#save()
  }

  async figures(): Promise<ExportFigures> {
    const after = this.#sent.marks[0]?.id ?? 0
    const [newest, { entries }] = await Promise.all([
      this.#options.newest(),
      this.#options.read({ after, limit: 1 }),
    ])
    const [oldest] = entries
    return {
      ...{ unsent: oldest ? Math.max((newest?.id ?? 0) - after, 0) : 0, oldestUnsent: oldest?.at },
      ...this.#counts,
    }
  }

  async #sendAll(): Promise<void> {
    let mark = await this.#place()
    try {
      for (let onThis = 0; !this.#stopping.signal.aborted;) {
        const { entries } = await this.#options.read({ after: mark?.id ?? 0, limit: atOnce })
        const last = entries.at(-1)
        if (last) {
          this.#delivery ??= await this.#options.open(this.#stopping.signal)
          await this.#delivery.send(this.#linesOf(entries))
          mark = { id: last.id, link: last.link ?? null }
          onThis += entries.length
        }
        const isEnd = entries.length < atOnce
        if (mark && (isEnd || onThis >= perConnection)) {
          await this.#finish(mark, onThis)
          onThis = 0
        }
        if (isEnd) return
      }
    } finally {
      this.#delivery?.abort()
      this.#delivery = undefined
    }
  }

  /** Only now the entries count as sent. */
  async #finish(mark: SentMark, entries: number): Promise<void> {
    if (!this.#delivery) return
    await this.#delivery.finish()
    this.#delivery = undefined
    this.#counts.sent += entries
    this.#set({ ...this.#sent, marks: withMark(this.#sent.marks, mark) })
  }

  /** The newest entry that the receiver has and this ledger as well; undefined: none. */
  async #place(): Promise<SentMark | undefined> {
    const { marks } = this.#sent
    const [newest] = marks
    if (!newest) {
      // As it was when it was tried first: what is pruned from then on was to be sent.
      if (this.#sent.begin === 0) await this.#beginAnew()
      return undefined
    }
    for (const [index, mark] of marks.entries()) {
      const { before, entries } = await this.#options.read({ after: mark.id, limit: 1 })
      if (!(before ? isSent(mark, before) : await this.#mayFollow(mark, entries[0]))) continue
      if (index > 0) {
        this.#countedTo = Math.min(this.#countedTo, mark.id)
        this.#set({ ...this.#sent, marks: marks.slice(index) })
        this.#options.onReplaced(mark.id + 1)
      }
      return mark
    }
    await this.#beginAnew()
    this.#options.onReplaced(1)
    return undefined
  }

  async #beginAnew(): Promise<void> {
    const begin = Math.max(await this.#options.begin(), 1)
    this.#countedTo = begin - 1
    this.#set({ marks: [], begin })
  }

  /** Whether an entry that is not there any more was one of this ledger, and was pruned: it says so itself, or it is as old as others. */
  async #mayFollow(mark: SentMark, next: ExportedEntry | undefined): Promise<boolean> {
    if (!next) return false
    if (next.id === mark.id + 1 && next.previous !== null) return next.previous === (mark.link ?? '')
    return (await this.#options.begin()) > mark.id
  }

  #linesOf(entries: readonly ExportedEntry[]): string[] {
    return entries.flatMap(entry => {
      const { id, recorder, pruned = 0 } = entry
      // What was pruned before the export began was never to be sent.
      const lost = Math.min(pruned, Math.max(id - this.#sent.begin, 0))
      if (lost === 0) return entryLine(entry)
      this.#countPruned(id - lost, id - 1)
      return [prunedLine(recorder, this.#options.now(), id - lost, id - 1), entryLine(entry)]
    })
  }

  #countPruned(from: number, to: number): void {
    const entries = to + 1 - Math.max(from, this.#countedTo + 1)
    if (entries <= 0) return
    this.#countedTo = to
    this.#counts.pruned += entries
    this.#options.onPruned(entries)
  }

  #set(sent: Sent): void {
    this.#sent = sent
    this.#isSaved = false
    this.#saver.wake()
  }

  async #save(): Promise<undefined> {
    if (this.#isSaved) return
    this.#isSaved = true
    this.#saver.rest(betweenWrites)
    try {
      await this.#options.save(this.#sent)
      this.#options.onSaved(undefined)
    } catch (error) {
      this.#isSaved = false
      this.#options.onSaved(error)
    }
  }
}
