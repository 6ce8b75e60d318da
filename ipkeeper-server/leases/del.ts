import { planDel } from '../ipam/plan-del.ts'
import { attachmentKey, type AttachmentKey, type AttachmentRecord, type Began } from '../ipam/records.ts'
import { commitPlan } from './commit-plan.ts'
import type { LeaseService } from './service.ts'

/**
 * Serves one DEL; durable before it resolves. `began` says when its run began, where the caller knows: what was added
 * later is left alone, and an ADD that began earlier and comes later is refused. Resolves to the attachment that ended,
 * or undefined when there was none.
 */
export async function delAttachment(
  service: LeaseService,
  key: AttachmentKey,
  began: Began | undefined,
): Promise<AttachmentRecord | undefined> {
  return await service.serial.run(attachmentKey(key), async () => {
    const { ledger, bootId, policy, now } = service
    const { ended } = await commitPlan(ledger, () => {
      const change = planDel(ledger, key, began, bootId, policy, now())
      return { change, ended: change.length > 0 ? ledger.attachment(key) : undefined }
    })
    if (began) service.tombstones.bury(key, began, now())
    return ended
  })
}
