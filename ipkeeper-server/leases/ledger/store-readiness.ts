import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import { StoreConflict, type LeaseStore } from '../../store/lease-store.ts'

/** Milliseconds between two tries of a store that refuses changes. */
const probePause = 5_000

/** Refusals of some changes, while others are taken. */
const whileServing: ReadonlySet<string> = new Set(['IPK_STORE_AWAY', 'IPK_STORE_INCOMPLETE'])

/** Whether the store takes changes, by what became of the last one. */
export class StoreReadiness {
  readonly #store: Pick<LeaseStore, 'file' | 'probe'>
  /** Why it refused the last change, and when it was last tried since; undefined while it takes them. */
  #refusal: { problem: Problem; triedAt: number } | undefined

  constructor(store: Pick<LeaseStore, 'file' | 'probe'>) {
    this.#store = store
  }

  accepted(): void {
    this.#refusal = undefined
  }

  /** While only the engine is away, or waits for what nodes had, the node serves what it has: it is not unfit for it. */
  refused(error: unknown): void {
    const isServing = error instanceof Problem && whileServing.has(error.code)
    if (isServing || error instanceof StoreConflict) return
    this.#refusal ??= { problem: toProblem(error), triedAt: -Infinity }
  }

  /**
   * Writes nothing while all is well. After a refusal the store is tried now and then, because no pod is added to a node that is
   * not ready, and so nothing else would show that it takes changes again.
   *
   * @param now milliseconds of a clock that is never set
   * @param onReady awaited when it has taken a change again
   */
  async check(now: number, onReady: () => Promise<void>): Promise<void> {
    const fault = this.#store.file?.fault()
    if (fault) throw fault
    const refusal = this.#refusal
    if (!refusal) return
    if (now - refusal.triedAt < probePause) throw refusal.problem
    refusal.triedAt = now
    try {
      await this.#store.probe()
      await onReady()
    } catch (error) {
      throw (refusal.problem = toProblem(error))
    }
    this.#refusal = undefined
  }
}
