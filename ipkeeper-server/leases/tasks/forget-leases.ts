import { mostForgotten, planForget } from '../../ipam/plan/plan-release.ts'
import type { LeaseRecord } from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from '../verbs/service.ts'

/** So many records are written at once, that ADDs need not wait for long. */
const batch = 500

/**
 * Forgets what is remembered for pools that no longer give the least recently used address; to be called at the start and
 * whenever the configuration was replaced. Of pools of other nodes this node's configuration says nothing: each tends to
 * what it let go itself. Throws what the store says; then the rest is still remembered.
 */
export async function forgetLeases(service: LeaseService): Promise<void> {
  const { ledger, pools, now, node } = service
  const own = (): Iterable<LeaseRecord> =>
    ledger.isShared ? [...ledger.allResting()].filter(lease => lease.node === node) : ledger.allResting()
  const most = ledger.isShared ? mostForgotten : batch
  for (;;) {
    const { change } = await commitPlan(ledger, () => ({
      change: planForget(own(), pools(), now()).slice(0, most),
    }))
    if (change.length < most) return
  }
}
