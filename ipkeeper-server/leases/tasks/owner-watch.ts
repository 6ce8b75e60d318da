import { planRelease } from '../../ipam/plan/plan-release.ts'
import { isSameLease, type LeaseRecord } from '../../ipam/records/records.ts'
import { isKnown, type KnownWorkload } from '../../ipam/records/workload.ts'
import type { ClusterView } from '../../kubernetes/cluster-view.ts'
import { BackgroundTask } from '../../host/background-task.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import { alone, type Election } from '../../kubernetes/election.ts'
import type { LeaseService } from '../verbs/service.ts'

/** How often an owner has to be found gone, one time after the other, before it is believed. */
const passesToBelieve = 2

/** So many owners are asked for at once. */
const width = 4

export interface OwnerWatchOptions {
  readonly service: LeaseService
  readonly cluster: Pick<ClusterView, 'ownerExists'>
  /** Of the daemons that share a ledger one asks for all of them; one that has it to itself is elected. */
  readonly election?: Election
  /** Milliseconds between two passes. */
  readonly interval?: number
  readonly onReleased: (lease: LeaseRecord) => void
  /** An owner could not be asked for, or an address not be released; both are tried again at the next pass. */
  readonly onError: (error: unknown) => void
}

/**
 * Ends the retention `while-owner-exists`: asks the API for the owners of kept addresses, by UID, and releases those whose
 * owner is gone in two passes one after the other. Who cannot tell changes nothing. It sleeps for good while no such
 * address is kept, or another daemon asks; `wake` says that one is, or that this one is elected.
 */
export class OwnerWatch {
  readonly #options: OwnerWatchOptions
  readonly #interval: number
  readonly #election: Election
  /** How often in a row each owner was found gone, by UID. */
  #gone = new Map<string, number>()
  readonly #task: BackgroundTask
  #releasing: Promise<unknown> = Promise.resolve()

  constructor(options: OwnerWatchOptions) {
    this.#options = options
    this.#interval = options.interval ?? 60_000
    this.#election = options.election ?? alone
    this.#task = new BackgroundTask({ round: () => this.#pass() })
  }

  /** Looks at the owners after the interval, unless that is planned already or there are none. */
  wake(): void {
    if (this.#election.isElected() && this.#kept().size > 0) this.#task.wake(this.#interval)
  }

  /** Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    // Whoever is being asked may not answer for long.
    void this.#task.stop()
    await this.#releasing
  }

  /** The kept addresses of each owner, by its UID. */
  #kept(): Map<string, { readonly owner: KnownWorkload; readonly leases: LeaseRecord[] }> {
    const kept = new Map<string, { owner: KnownWorkload; leases: LeaseRecord[] }>()
    for (const lease of this.#options.service.ledger.keptForOwners()) {
      const { workload } = lease
      if (!workload || !isKnown(workload)) continue
      const entry = kept.get(workload.uid) ?? { owner: workload, leases: [] }
      kept.set(workload.uid, entry)
      entry.leases.push(lease)
    }
    return kept
  }

  async #pass(): Promise<number | undefined> {
    // What another daemon saw in between, this one does not know.
    if (!this.#election.isElected()) this.#gone.clear()
    const kept = this.#kept()
    this.#gone = new Map([...this.#gone].filter(([uid]) => kept.has(uid)))
    const waiting = [...kept]
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        if (this.#task.isStopped || !this.#election.isElected()) return
        const [uid, { owner, leases }] = next
        if (await this.#isGone(uid, owner))
          this.#releasing = Promise.all([this.#releasing, this.#release(leases)])
      }
    }
    await Promise.all(Array.from({ length: width }, work))
    await this.#releasing
    this.#releasing = Promise.resolve()
    return this.#election.isElected() && this.#kept().size > 0 ? this.#interval : undefined
  }

  async #isGone(uid: string, { namespace, ...owner }: KnownWorkload): Promise<boolean> {
    try {
      const answer = await this.#options.cluster.ownerExists(namespace, owner)
      if (answer === 'exists') this.#gone.delete(uid)
      if (answer !== 'gone') return false
    } catch (error) {
      this.#options.onError(error)
      return false
    }
    const times = (this.#gone.get(uid) ?? 0) + 1
    this.#gone.set(uid, times)
    return times >= passesToBelieve
  }

  async #release(leases: readonly LeaseRecord[]): Promise<void> {
    const { service, onReleased, onError } = this.#options
    const { ledger, pools, now } = service
    for (const lease of leases) {
      if (this.#task.isStopped || !this.#election.isElected()) return
      try {
        const { change } = await commitPlan(ledger, () => {
          const present = ledger.lease(lease)
          const unchanged = isSameLease(present, lease)
          return { change: unchanged ? planRelease(ledger, present, { pools: pools(), now: now() }) : [] }
        })
        if (change.length > 0) onReleased(lease)
      } catch (error) {
        onError(error)
      }
    }
  }
}
