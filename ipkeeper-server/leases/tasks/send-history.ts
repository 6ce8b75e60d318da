import { BackgroundTask, type Timers } from '../../host/background-task.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import {
  entriesOfPart,
  packEntries,
  unpackEntries,
  type HistoryArchive,
  type HistoryPart,
  type PartName,
} from '../../store/history-archive.ts'
import type { Ledger } from '../ledger/ledger.ts'

/** Milliseconds from an entry to its sending: what is recorded together goes together. */
const gathered = 5_000

/** Milliseconds until the next try. */
const retryAfter = 30_000

/** Milliseconds after which it is said once more that nothing else was recorded: what is not said any more, nobody knows. */
const saidAgainAfter = 3_600_000

/** Milliseconds between two looks for what is too old. */
const tidyEvery = 24 * 3_600_000

export interface SentHistoryLimits {
  /** Milliseconds. */
  readonly maxAge: number
  /** Entries of this node in the engine; 0: none is sent. */
  readonly sharedEntries: number
}

export interface HistorySenderOptions {
  readonly ledger: Pick<Ledger, 'history' | 'subscribe'>
  readonly archive: HistoryArchive
  /** As this node is called now. */
  readonly node: () => string
  readonly limits: () => SentHistoryLimits
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** For how many milliseconds it is known that the clock has not been set. */
  readonly steadyFor: () => number
  /** A name for a stretch that no other one has: hexadecimal digits, at most 16. */
  readonly newStretch: () => string
  /** Why nothing is sent at present; undefined: all is. Called on change only. */
  readonly onTrouble: (error: unknown) => void
  readonly timers?: Timers
}

/** What was sent under the present name. */
interface Stretch {
  readonly node: string
  readonly name: string
  /** ID of the last entry that the engine has. */
  sent: number
  /** When it was told last, in milliseconds since the epoch. */
  toldAt: number
  /** Entries of the last part. */
  open: readonly HistoryEntry[]
  /** Parts of this node in the engine, the oldest first. */
  readonly parts: (PartName & Pick<HistoryPart, 'entries'>)[]
}

/**
 * Sends what this node records to the engine, where it outlives the node, and removes what is beyond the limits. It needs no notes: what
 * the engine has tells where to go on, and entries that were sent twice are told by their links.
 */
export class HistorySender {
  readonly #options: HistorySenderOptions
  readonly #task: BackgroundTask
  readonly #unsubscribe: () => void
  #stretch: Stretch | undefined
  #tidiedAt = -Infinity
  #troubled = false
  #unsent = false

  constructor(options: HistorySenderOptions) {
    this.#options = options
    const { timers } = options
    this.#task = new BackgroundTask({
      ...(timers && { timers }),
      round: async () => {
        this.#unsent = false
        await this.#send()
        this.#report(undefined)
        await this.#tidy()
        return saidAgainAfter
      },
      onError: error => {
        // Another journal, or other data in the engine: it is asked again.
        this.#stretch = undefined
        this.#report(error)
      },
      retryAfter,
    })
    this.#unsubscribe = options.ledger.subscribe({
      recorded: () => {
        this.#unsent = true
        this.#task.wake(gathered)
      },
    })
  }

  /** Sends what an earlier run has left. */
  start(): void {
    this.#task.wake(gathered)
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    await this.#task.idle()
  }

  /** A node that is about to go leaves nothing unsent, if the engine can be reached. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    if (this.#unsent && !this.#troubled) await this.#task.run()
    await this.#task.stop()
  }

  async #send(): Promise<void> {
    const { ledger, node, limits } = this.#options
    const { sharedEntries } = limits()
    if (sharedEntries === 0) return
    if (this.#stretch?.node !== node()) this.#stretch = await this.#goOn(node(), sharedEntries)
    const stretch = this.#stretch
    while (!this.#task.isStopped) {
      const begun = stretch.open.length < entriesOfPart ? stretch.open : []
      const entries = await ledger.history({ after: stretch.sent, limit: entriesOfPart - begun.length })
      if (entries.length > 0) stretch.open = [...begun, ...entries]
      else if (Math.abs(this.#options.now() - stretch.toldAt) < saidAgainAfter) return
      if (!(await this.#put(stretch))) return
      await this.#removeBeyond(stretch, sharedEntries)
    }
  }

  /** The last part, as it is now; whether there is one. */
  async #put(stretch: Stretch): Promise<boolean> {
    const { archive, now } = this.#options
    const { node, name, open, parts } = stretch
    const [[first], last] = [open, open.at(-1)]
    if (!first || !last) return false
    const part: PartName = { node, stretch: name, first: first.id, from: first.at }
    const data = await packEntries(open)
    const told = now()
    await archive.put({ ...part, last: last.id, to: told, entries: open.length, data })
    if (parts.at(-1)?.first === first.id) parts.pop()
    parts.push({ ...part, entries: open.length })
    stretch.sent = last.id
    stretch.toldAt = told
    return true
  }

  /** Where the engine's last part ends, if this journal has that entry; else from the oldest entry on that may be sent. */
  async #goOn(node: string, sharedEntries: number): Promise<Stretch> {
    const { ledger, archive, newStretch } = this.#options
    const found: HistoryPart[] = []
    for await (const page of archive.list(node)) found.push(...page)
    found.sort((a, b) => a.to - b.to || a.last - b.last)
    const parts = found.map(({ entries, stretch, first, from }) => ({ node, stretch, first, from, entries }))
    const newest = found.at(-1)
    if (newest) {
      const open = await unpackEntries(newest.data)
      const last = open.at(-1)
      const [here] = last ? await ledger.history({ after: last.id - 1, limit: 1 }) : []
      if (last && here?.id === last.id && here.link === last.link && here.at === last.at)
        return { ...{ node, name: newest.stretch, sent: last.id, parts, open }, toldAt: newest.to }
    }
    const [last] = await ledger.history({ limit: 1 })
    const sent = Math.max((last?.id ?? 0) - sharedEntries, 0)
    return { ...{ node, name: newStretch(), sent, parts }, toldAt: -Infinity, open: [] }
  }

  async #removeBeyond({ parts }: Stretch, sharedEntries: number): Promise<void> {
    let beyond = parts.reduce((sum, { entries }) => sum + entries, 0) - sharedEntries
    for (;;) {
      const [oldest] = parts
      if (!oldest || parts.length < 2 || oldest.entries > beyond) return
      await this.#options.archive.remove(oldest)
      parts.shift()
      beyond -= oldest.entries
    }
  }

  /** By age go whole parts, at the latest when their first entry is twice as old as any may get. */
  async #tidy(): Promise<void> {
    const { archive, limits, now, steadyFor } = this.#options
    if (now() - this.#tidiedAt < tidyEvery || steadyFor() < tidyEvery) return
    this.#tidiedAt = now()
    await archive.removeBegunBefore(now() - 2 * limits().maxAge)
  }

  #report(error: unknown): void {
    if (this.#troubled === (error !== undefined)) return
    this.#troubled = error !== undefined
    this.#options.onTrouble(error)
  }
}
