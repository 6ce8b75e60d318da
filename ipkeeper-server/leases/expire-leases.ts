import { planExpiry } from '../ipam/plan-expiry.ts'
import { commitPlan } from './commit-plan.ts'
import type { LeaseService } from './service.ts'

/** setTimeout's own limit; a later moment is waited for in steps. */
const longestWait = 2 ** 31 - 1

/** Milliseconds until the next try when the store refuses. */
const pauseAfterFailure = 5000

/**
 * Frees kept addresses when their time is over. Sleeps until the next such moment, so that an idle daemon does nothing;
 * a change that brings an earlier moment calls `wake`.
 */
export class ExpiryLoop {
  readonly #service: LeaseService
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #wakeAt = Infinity
  #notBefore = 0
  #expiring = false
  #stopped = false

  /** `onError`: records could not be tidied up; it is tried again after a pause. */
  constructor(service: LeaseService, onError: (error: unknown) => void) {
    this.#service = service
    this.#onError = onError
  }

  /** Looks when the next kept address comes free, and sleeps until then. */
  wake(): void {
    if (this.#stopped || this.#expiring) return
    const next = Math.max(this.#service.ledger.nextExpiry() ?? Infinity, this.#notBefore)
    if (next >= this.#wakeAt) return
    clearTimeout(this.#timer)
    this.#wakeAt = next
    this.#timer = setTimeout(
      () => {
        this.#wakeAt = Infinity
        void this.#expire()
      },
      Math.min(Math.max(next - this.#service.now(), 0) + 1, longestWait),
    )
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  async #expire(): Promise<void> {
    const { ledger, now, node, pools } = this.#service
    this.#expiring = true
    const over = ledger.expire(now())
    // To all nodes they are free now. Each tidies up its own: a thousand would ask for the same at the same moment.
    const own = ledger.isShared ? over.filter(lease => lease.node === node) : over
    const outcomes = await Promise.allSettled(
      own.map(lease =>
        commitPlan(ledger, () => {
          const present = ledger.lease(lease)
          return {
            change: present?.generation === lease.generation ? planExpiry(ledger, present, pools()) : [],
          }
        }),
      ),
    )
    this.#expiring = false
    const failed = outcomes.find(outcome => outcome.status === 'rejected')
    // A refused record is read again, and with it comes its moment, which is over.
    this.#notBefore = failed ? now() + pauseAfterFailure : 0
    if (failed) this.#onError(failed.reason)
    this.wake()
  }
}
