import { planExpiry } from '../../ipam/plan/plan-release.ts'
import { isSameLease, type LeaseRecord } from '../../ipam/records/records.ts'
import { BackgroundTask } from '../../host/background-task.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from '../verbs/service.ts'

/** Milliseconds until the next try when the store refuses. */
const pauseAfterFailure = 5000

/** Milliseconds until records that are left to others are looked at again. */
const lookAgainAfter = 60_000

/**
 * Frees kept addresses when their time is over. Sleeps until the next such moment, so that an idle daemon does nothing;
 * a change that brings an earlier moment calls `wake`.
 */
export class ExpiryLoop {
  readonly #service: LeaseService
  readonly #onError: (error: unknown) => void
  readonly #isOurs: (lease: LeaseRecord) => boolean
  readonly #task: BackgroundTask
  /** When records of others are looked at again, which should be gone by then; of the clock that nobody sets. */
  #again = Infinity

  /**
   * `onError`: records could not be tidied up; it is tried again after a pause. `isOurs`: whether it is this node that
   * deletes a record whose time is over; its address can be given again in any case.
   */
  constructor(
    service: LeaseService,
    onError: (error: unknown) => void,
    isOurs: (lease: LeaseRecord) => boolean = () => true,
  ) {
    this.#service = service
    this.#onError = onError
    this.#isOurs = isOurs
    this.#task = new BackgroundTask({ round: () => this.#expire() })
  }

  /** Looks when the next kept address comes free, and sleeps until then. */
  wake(): void {
    const next = this.#untilNext()
    if (next < Infinity) this.#task.wake(next)
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  /** Milliseconds; a timer may fire a little early. */
  #untilNext(): number {
    const { ledger, now, monotonic } = this.#service
    const moment = now()
    const passed = monotonic()
    const expiry = passed + ((ledger.nextExpiry() ?? Infinity) - moment)
    return Math.max(Math.min(expiry, this.#again) - passed, 0) + 1
  }

  async #expire(): Promise<number | undefined> {
    const { ledger, now, monotonic, pools } = this.#service
    const over = ledger.expire(now())
    // To all nodes they are free now. Not all tidy up: a thousand would ask for the same at the same moment.
    const ours = over.filter(this.#isOurs)
    const outcomes = await Promise.allSettled(
      ours.map(lease =>
        commitPlan(ledger, () => {
          const present = ledger.lease(lease)
          return {
            change: isSameLease(present, lease) ? planExpiry(ledger, present, pools()) : [],
          }
        }),
      ),
    )
    const failed = outcomes.find(outcome => outcome.status === 'rejected')
    // A refused record is read again, and with it comes its moment, which is over.
    if (failed) this.#task.rest(pauseAfterFailure)
    this.#again = ours.length < over.length ? monotonic() + lookAgainAfter : Infinity
    if (failed) this.#onError(failed.reason)
    const next = this.#untilNext()
    return next < Infinity ? next : undefined
  }
}
