import { planExpiry } from '../../ipam/plan/plan-release.ts'
import { isSameLease, type LeaseRecord } from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from '../verbs/service.ts'

/** setTimeout's own limit; a later moment is waited for in steps. */
const longestWait = 2 ** 31 - 1

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
  #timer: NodeJS.Timeout | undefined
  // Moments of the clock that nobody sets: a timer fires by no other.
  #wakeAt = Infinity
  #notBefore = 0
  /** When records of others are looked at again, which should be gone by then. */
  #again = Infinity
  #expiring = false
  #stopped = false

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
  }

  /** Looks when the next kept address comes free, and sleeps until then. */
  wake(): void {
    if (this.#stopped || this.#expiring) return
    const { ledger, now, monotonic } = this.#service
    const moment = now()
    const passed = monotonic()
    const expiry = passed + ((ledger.nextExpiry() ?? Infinity) - moment)
    const next = Math.max(Math.min(expiry, this.#again), this.#notBefore)
    if (next > this.#wakeAt - 1) return
    clearTimeout(this.#timer)
    this.#wakeAt = next
    this.#timer = setTimeout(
      () => {
        this.#wakeAt = Infinity
        void this.#expire()
      },
      Math.min(Math.max(next - passed, 0) + 1, longestWait),
    )
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  async #expire(): Promise<void> {
    const { ledger, now, monotonic, pools } = this.#service
    this.#expiring = true
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
    this.#expiring = false
    const failed = outcomes.find(outcome => outcome.status === 'rejected')
    // A refused record is read again, and with it comes its moment, which is over.
    this.#notBefore = failed ? monotonic() + pauseAfterFailure : 0
    this.#again = ours.length < over.length ? monotonic() + lookAgainAfter : Infinity
    if (failed) this.#onError(failed.reason)
    this.wake()
  }
}
