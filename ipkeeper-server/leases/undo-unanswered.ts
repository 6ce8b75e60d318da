import { planUndo } from '../ipam/plan-del.ts'
import type { AttachmentRecord } from '../ipam/records.ts'
import { commitPlan } from './commit-plan.ts'
import type { LeaseService } from './service.ts'

/**
 * Takes back an ADD that was recorded and never answered; to be called in the turn of its attachment (`service.serial`).
 * Nothing happens when another ADD was answered from the record since. Resolves to whether something was undone.
 */
export async function undoUnanswered(service: LeaseService, attachment: AttachmentRecord): Promise<boolean> {
  const { ledger, pools, now } = service
  const { change } = await commitPlan(ledger, () => ({
    change: planUndo(ledger, attachment, attachment.answered, pools(), now()),
  }))
  return change.length > 0
}
