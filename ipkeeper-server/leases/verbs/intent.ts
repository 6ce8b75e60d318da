import type { AddPlan } from '../../ipam/plan/plan-add.ts'
import { attachmentKey, type AttachmentKey, type AttachmentRecord } from '../../ipam/records/records.ts'

/** The plan with another record of its attachment: what is written with the leases, before anything is done. */
export function withIntent(
  plan: AddPlan,
  key: AttachmentKey,
  intend: (record: AttachmentRecord) => AttachmentRecord,
): AddPlan {
  const own = attachmentKey(key)
  const change = plan.change.map(write =>
    write.kind === 'attachment' && write.key === own && write.record
      ? { ...write, record: intend(write.record) }
      : write,
  )
  return { ...plan, change }
}
