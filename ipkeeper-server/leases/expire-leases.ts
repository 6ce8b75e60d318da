import { planExpiry } from '../ipam/plan-expiry.ts'
import type { LeaseRecord } from '../ipam/records.ts'
import { commitPlan } from './commit-plan.ts'
import type { LeaseService } from './service.ts'

/** setTimeout's own limit; a later moment is waited for in steps. */
const longestWait = 2 ** 31 - 1

/** Milliseconds until the next try when the store refuses. */
const pauseAfterFailure = 5000

/**
 * Milliseconds that the record of another node's address is left to that node, which may be gone for good. It is free for
 * choice all the same; if all nodes that share it tidied it up, all but one would find that somebody was quicker.
 */
const patience = 600_000

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
  /** When the next record is due that another node was left to tidy up. */
  #othersAt = Infinity

  /** `onError`: records could not be tidied up; it is tried again after a pause. */
  constructor(service: LeaseService, onError: (error: unknown) => void) {
    this.#service = service
    this.#onError = onError
  }

  /** Looks when the next kept address comes free, and sleeps until then. */
  wake(): void {
    if (this.#stopped || this.#expiring) return
    const due = Math.min(this.#service.ledger.nextExpiry() ?? Infinity, this.#othersAt)
    const next = Math.max(due, this.#notBefore)
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
    const { ledger, now, pools } = this.#service
    this.#expiring = true
    const present = now()
    const due: LeaseRecord[] = []
    this.#othersAt = Infinity
    for (const lease of ledger.expire(present)) {
      const moment = this.#momentOf(lease)
      if (moment <= present) due.push(lease)
      else this.#othersAt = Math.min(this.#othersAt, moment)
    }
    const outcomes = await Promise.allSettled(
      due.map(lease =>
        commitPlan(ledger, () => {
          const stored = ledger.lease(lease)
          return {
            change: stored?.generation === lease.generation ? planExpiry(ledger, stored, pools()) : [],
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

  /** When the record of an address whose time is over is to be tidied up here. */
  #momentOf({ node, until }: LeaseRecord): number {
    const { ledger, node: here } = this.#service
    return (until ?? 0) + (ledger.isShared && node !== here ? patience : 0)
  }
}
