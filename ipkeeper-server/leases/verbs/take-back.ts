import { planUndo } from '../../ipam/plan/plan-del.ts'
import type { AttachmentKey, Change } from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from './service.ts'

/**
 * Takes an ADD back that nobody has the answer of: what it did to the kernel, then what it recorded; to be called in the
 * turn of its attachment (`service.serial`), and of its holder where the pod is wired (turn-of-holder.ts). Nothing happens when another ADD was answered from the record since
 * (`answered`). Resolves to whether something was taken back.
 */
export async function takeBack(
  service: LeaseService,
  key: AttachmentKey,
  answered: number,
): Promise<boolean> {
  const { ledger, network, pools, now } = service
  const plan = (): { readonly change: Change } => ({
    change: planUndo(ledger, key, answered, { pools: pools(), now: now() }),
  })
  const attachment = ledger.attachment(key)
  if (attachment?.wiring && plan().change.length > 0) await network.unwire(attachment, ledger.leasesOf(key))
  const { change } = await commitPlan(ledger, plan)
  return change.length > 0
}
