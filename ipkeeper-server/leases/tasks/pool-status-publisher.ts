import { BackgroundTask } from '../../host/background-task.ts'
import type { Election } from '../../kubernetes/election.ts'
import type { PoolStatus, PoolStatusSink } from '../../store/pool-status-sink.ts'
import type { LeaseUsage } from '../queries/measure-usage.ts'
import { poolStatuses, samePoolStatus } from './pool-statuses.ts'

export interface TellPoolsOptions {
  readonly election: Election
  /** Whether all leases were heard of: what one node's journal has are no figures of pools. */
  readonly isHeard: () => boolean
  readonly sink: PoolStatusSink
  /** Of all pools; gives the event loop back on its way. */
  readonly usage: () => Promise<Pick<LeaseUsage, 'pools' | 'rangeSets'>>
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
  /** Milliseconds from a change until it is told; further ones meanwhile are told with it. Default: 3 s. */
  readonly quiet?: number
  readonly onError: (error: unknown) => void
}

/** However long a measurement takes, so many times as long is waited until the next: it is never more than a few percent. */
const share = 20
/** Milliseconds until what could not be written is tried again. */
const retryAfter = 15_000

/**
 * Writes the figures of pools where everybody sees them: by the elected daemon, some seconds after a change, and only what
 * has changed. It sleeps for good while nothing changes; `wake` says that something has.
 */
export class TellPools {
  readonly #options: TellPoolsOptions
  readonly #quiet: number
  #told = new Map<string, PoolStatus>()
  readonly #task: BackgroundTask

  constructor(options: TellPoolsOptions) {
    this.#options = options
    this.#quiet = options.quiet ?? 3_000
    this.#task = new BackgroundTask({ round: () => this.#tell() })
  }

  /** Something of a pool, a lease or a reservation changed, or this daemon is elected now. */
  wake(): void {
    const { election, isHeard } = this.#options
    if (!isHeard()) return
    if (election.isElected()) this.#task.wake(this.#quiet)
    // What another daemon writes meanwhile is not known here.
    else this.#told.clear()
  }

  /** Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #tell(): Promise<number | undefined> {
    const { election, isHeard, sink, usage, monotonic, onError } = this.#options
    if (!isHeard() || !election.isElected()) return undefined
    const began = monotonic()
    try {
      const statuses = poolStatuses(await usage())
      this.#task.rest(share * (monotonic() - began))
      this.#told = new Map([...this.#told].filter(([pool]) => statuses.has(pool)))
      for (const [pool, status] of statuses) {
        if (samePoolStatus(this.#told.get(pool), status)) continue
        if (this.#task.isStopped || !election.isElected()) return undefined
        await sink.write(pool, status)
        this.#told.set(pool, status)
      }
      return undefined
    } catch (error) {
      this.#task.rest(retryAfter)
      onError(error)
      return retryAfter
    }
  }
}
