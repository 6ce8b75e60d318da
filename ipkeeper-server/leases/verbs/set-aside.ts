import { writeLease } from '../../ipam/plan/record-writes.ts'
import { policyOf } from '../../ipam/pools/pool-settings.ts'
import { setAsideSource, type Change, type LeaseRecord } from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from './service.ts'

/**
 * Leaves addresses alone that somebody else on the network has, for as long as one that was asked for by name: dynamic
 * choice passes over them, and who asks for one of them by name has it probed again.
 *
 * @param refused the leases that their ADD had, which has been taken back
 * @param why for listings: who answered
 */
export async function setAside(
  service: LeaseService,
  refused: readonly LeaseRecord[],
  why: string,
): Promise<void> {
  const { ledger, pools, now } = service
  const aside = (lease: LeaseRecord): Change => {
    const present = ledger.lease(lease)
    // Kept for somebody, or somebody's by now: then it is theirs to find out.
    if (present && present.state !== 'cooling') return []
    const at = now()
    const record: LeaseRecord = {
      ...lease,
      generation: (present?.generation ?? 0) + 1,
      state: 'cooling',
      attachment: null,
      named: true,
      retain: 'release',
      source: setAsideSource(why),
      since: at,
      until: at + policyOf(pools(), lease.pool).preferFor,
    }
    return [writeLease(ledger, record)]
  }
  await commitPlan(ledger, () => ({ change: refused.flatMap(aside) }))
}
