import { isInUse, planPools, type PoolsPlan } from '../ipam/plan-pools.ts'
import type { PoolSettings } from '../ipam/pool-settings.ts'
import { commitPlan } from './commit-plan.ts'
import type { LeaseService } from './service.ts'

/**
 * Makes the store remember the pools of a configuration; durable before it resolves. Whoever calls it puts the
 * configuration in force afterwards, so that no address is given from a pool that was refused.
 *
 * @throws Problem IPK_POOLS_ORPHAN, IPK_POOL_OVERLAP: nothing was changed
 */
export async function applyPools(
  { ledger, liveness, now }: Pick<LeaseService, 'ledger' | 'liveness' | 'now'>,
  pools: readonly PoolSettings[],
): Promise<PoolsPlan> {
  return await commitPlan(ledger, () =>
    planPools(ledger, pools, lease => isInUse(ledger, lease, now(), liveness)),
  )
}
