import {
  isInUse,
  planConfiguredPools,
  type ConfiguredPoolsPlan,
} from '../../ipam/plan/plan-configured-pools.ts'
import type { PoolSettings } from '../../ipam/pools/pool-settings.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from './service.ts'

/**
 * Makes the store remember the pools of a configuration; durable before it resolves.
 *
 * @param decided called as soon as nothing speaks against them, before anything else is planned: from then on ADDs have to
 *   go by the new pools, or one of them would get an address that is in no pool any more
 * @param former the pools that the configuration had before; undefined at the start
 * @throws Problem IPK_POOLS_ORPHAN, IPK_POOL_OVERLAP: nothing was changed
 */
export async function applyPools(
  { ledger, liveness, now }: Pick<LeaseService, 'ledger' | 'liveness' | 'now'>,
  pools: readonly PoolSettings[],
  decided: () => void,
  former?: readonly PoolSettings[],
): Promise<ConfiguredPoolsPlan> {
  return await commitPlan(ledger, () => {
    const plan = planPools({ ledger, liveness, now }, pools, former)
    decided()
    return plan
  })
}

/** What `applyPools` would change, or why it would refuse. */
export function planPools(
  { ledger, liveness, now }: Pick<LeaseService, 'ledger' | 'liveness' | 'now'>,
  pools: readonly PoolSettings[],
  former: readonly PoolSettings[] = [],
): ConfiguredPoolsPlan {
  const names = new Set(former.map(({ pool }) => pool.name))
  return planConfiguredPools(ledger, pools, lease => isInUse(ledger, lease, now(), liveness), {
    mayRemove: name => !ledger.isShared || names.has(name),
    inForce: former,
  })
}
