import { planForget } from '../ipam/plan-forget.ts'
import { commitPlan } from './commit-plan.ts'
import type { LeaseService } from './service.ts'

/** So many records are written at once, that ADDs need not wait for long. */
const batch = 500

/**
 * Forgets what is remembered for pools that no longer give the least recently used address; to be called at the start and
 * whenever the configuration was replaced. Throws what the store says; then the rest is still remembered.
 */
export async function forgetLeases(service: LeaseService): Promise<void> {
  const { ledger, pools, now } = service
  for (;;) {
    const { change } = await commitPlan(ledger, () => ({
      change: planForget(ledger.allResting(), pools(), now()).slice(0, batch),
    }))
    if (change.length < batch) return
  }
}
