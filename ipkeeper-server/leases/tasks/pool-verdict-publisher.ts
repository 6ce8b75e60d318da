import { BackgroundTask } from '../../host/background-task.ts'
import type { PoolVerdict } from '../../ipam/pools/judge-pool-objects.ts'
import type { Election } from '../../kubernetes/election.ts'
import type { PoolVerdictSink } from '../../store/pool-status-sink.ts'

export interface PublishPoolsOptions {
  readonly election: Election
  /** Whether all leases were heard of: what is not known might be in the way. */
  readonly isHeard: () => boolean
  readonly sink: PoolVerdictSink
  readonly judge: () => ReadonlyMap<string, PoolVerdict>
  /** Told once it is published, where it is another one than before. */
  readonly onVerdict: (pool: string, verdict: PoolVerdict, before: PoolVerdict | undefined) => void
  readonly onError: (error: unknown) => void
}

/** Milliseconds between two looks at whether addresses that are in the way are still in use, or whether all was heard. */
const lookEvery = 2_000
const retryAfter = 5_000

const textOf = ({ generation, refusal, isInForce, publish }: PoolVerdict): string =>
  JSON.stringify([generation, refusal, isInForce, publish !== undefined])

/** Publishes which spec of each IPPool is in force, by the elected daemon, as soon as an object changes, or nothing is in its way any more. */
export class PublishPools {
  readonly #options: PublishPoolsOptions
  #told = new Map<string, PoolVerdict>()
  readonly #task: BackgroundTask

  constructor(options: PublishPoolsOptions) {
    this.#options = options
    this.#task = new BackgroundTask({
      round: () => this.#publish(),
      onError: options.onError,
      retryAfter,
    })
  }

  /** What `judge` says may be something else now, or this daemon is elected. */
  wake(): void {
    if (this.#options.election.isElected()) this.#task.wake()
    // What another daemon writes meanwhile is not known here.
    else this.#told.clear()
  }

  /** Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #publish(): Promise<number | undefined> {
    const { election, isHeard, sink, judge, onVerdict } = this.#options
    if (!election.isElected()) return undefined
    if (!isHeard()) return lookEvery
    const verdicts = judge()
    this.#told = new Map([...this.#told].filter(([pool]) => verdicts.has(pool)))
    const failures: unknown[] = []
    for (const [pool, verdict] of verdicts) {
      const before = this.#told.get(pool)
      if (before && textOf(before) === textOf(verdict) && !verdict.publish) continue
      if (this.#task.isStopped || !election.isElected()) return undefined
      try {
        await sink.publish(pool, verdict)
        this.#told.set(pool, verdict)
        onVerdict(pool, verdict, before)
      } catch (error) {
        failures.push(error)
      }
    }
    // One that cannot be written keeps no other one from it.
    if (failures.length > 0) throw failures[0]
    return [...verdicts.values()].some(({ refusal }) => refusal) ? lookEvery : undefined
  }
}
