import { BackgroundTask, type Timers } from '../../host/background-task.ts'
import type { Ledger } from '../ledger/ledger.ts'

/** Milliseconds between two prunings; the history may be too long or too old by what one hour brings. */
const interval = 3_600_000

/**
 * Milliseconds for which a clock has to be seen to stay as it is before anything is too old by it: one that leapt ahead by
 * mistake makes all of the history old, and what went does not come back. A daemon that starts does not know of the time before.
 */
const believedAfter = 24 * 3_600_000

/** How much of the history stays. */
export interface HistoryLimits {
  /** Milliseconds. */
  readonly maxAge: number
  readonly maxEntries: number
}

export interface HistoryPrunerOptions {
  readonly ledger: Pick<Ledger, 'pruneHistory'>
  /** Asked at every pruning, since the configuration may change. */
  readonly limits: () => HistoryLimits
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** For how many milliseconds it is known that the clock has not been set. */
  readonly steadyFor: () => number
  /** How many entries went, when any did. */
  readonly onPruned: (entries: number) => void
  readonly onError: (error: unknown) => void
  readonly timers?: Timers
}

/** Keeps the history within its limits: once at the start, of which nothing is too old yet, then every hour. The store works in small steps. */
export class HistoryPruner {
  readonly #task: BackgroundTask

  constructor({ ledger, limits, now, steadyFor, onPruned, onError, timers }: HistoryPrunerOptions) {
    this.#task = new BackgroundTask({
      ...(timers && { timers }),
      round: async () => {
        const { maxAge, maxEntries } = limits()
        const moment = now()
        const olderThan = steadyFor() >= believedAfter ? moment - maxAge : -Infinity
        const removed = await ledger.pruneHistory({ olderThan, maxEntries, now: moment })
        if (removed > 0) onPruned(removed)
        return interval
      },
      onError: error => {
        if (!this.#task.isStopped) onError(error)
      },
      retryAfter: interval,
    })
  }

  /** Prunes, and again after an hour; resolves when the first pruning has ended. Never rejects. */
  async start(): Promise<void> {
    await this.#task.run()
  }

  /** A pruning under way goes on until the store is closed. */
  stop(): void {
    void this.#task.stop()
  }
}
