import {
  isTimeOver,
  isSameLease,
  leaseKey,
  type LeaseRecord,
  type Write,
} from '../../ipam/records/records.ts'
import { BackgroundTask } from '../../host/background-task.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from '../verbs/service.ts'

/** So many records are written at once, that ADDs need not wait for long: a transaction of etcd has 128 operations. */
const batch = 64

/** Milliseconds until the next try when the store refuses. */
const pauseAfterFailure = 60_000

/**
 * Writes down until when leases are kept or rest, where the clock was set since the store was told: else the next daemon
 * would go by what the former clock said. Of other nodes' leases in a store that nodes share their own daemons do so.
 */
export async function writeTimes(service: LeaseService): Promise<void> {
  const { ledger, node, now } = service
  const isOurs = (lease: LeaseRecord): boolean =>
    (!ledger.isShared || lease.node === node) && !isTimeOver(lease, now())
  const waiting = [...ledger.retimed()].filter(isOurs)
  while (waiting.length > 0) {
    const some = waiting.splice(0, batch)
    await commitPlan(ledger, () => ({
      change: some.flatMap((lease): Write[] => {
        const present = ledger.lease(lease)
        if (!isSameLease(present, lease)) return []
        const record = { ...present, generation: present.generation + 1 }
        return [{ kind: 'lease', key: leaseKey(lease), expect: present.generation, record }]
      }),
    }))
  }
}

/** Does so after each jump of the clock, and again a while after the store has refused. */
export class TimeWriter {
  readonly #task: BackgroundTask

  constructor(service: LeaseService, onError: (error: unknown) => void) {
    this.#task = new BackgroundTask({
      round: async () => {
        await writeTimes(service)
        return undefined
      },
      onError,
      retryAfter: pauseAfterFailure,
    })
  }

  wake(): void {
    this.#task.wake()
  }

  /** Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    await this.#task.stop()
  }
}
