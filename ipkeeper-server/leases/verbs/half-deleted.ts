import { planHalfDeleted } from '../../ipam/plan/plan-del.ts'
import { mayRunElsewhere } from '../../ipam/records/node-record.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from './service.ts'
import { inTurnOfHolder } from './turns.ts'

/**
 * Ends sandboxes that pods are said to have here, and of which there is neither a lease nor a record: what is left of a DEL that an engine
 * without transactions has carried out by half, where the journal that knew of it was replaced. Their pods could be started nowhere. To be
 * called once all that lives here is on record. Resolves to whether some are left, since a former machine of this name may run them.
 */
export async function endHalfDeleted(service: LeaseService): Promise<boolean> {
  const { ledger, node } = service
  if (!ledger.isShared) return false
  const mayBe = (text: string): boolean => text.includes(`"node":${JSON.stringify(node)}`)
  for (const { holder } of [...ledger.search('holder', mayBe)]) {
    const plan = (): { readonly change: ReturnType<typeof planHalfDeleted> } => ({
      change: planHalfDeleted(ledger, holder, node),
    })
    if (plan().change.length === 0) continue
    if (mayRunElsewhere(ledger.node(node) ?? {})) return true
    await inTurnOfHolder(service, holder, () => commitPlan(ledger, plan, holder))
  }
  return false
}
