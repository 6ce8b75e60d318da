import type { AddPlan } from '../ipam/plan-add.ts'
import {
  attachmentKey,
  type AttachmentKey,
  type AttachmentRecord,
  type WiringRecord,
} from '../ipam/records.ts'

/** The record of the attachment that a plan writes. */
export function plannedAttachment({ change }: AddPlan, key: AttachmentKey): AttachmentRecord | undefined {
  const text = attachmentKey(key)
  for (const write of change) {
    if (write.kind === 'attachment' && write.key === text) return write.record ?? undefined
  }
  return undefined
}

/** The plan with how the pod is to be wired in its attachment's record: written before anything is done. */
export function withWiring(plan: AddPlan, key: AttachmentKey, wiring: WiringRecord): AddPlan {
  const text = attachmentKey(key)
  const change = plan.change.map(write =>
    write.kind === 'attachment' && write.key === text && write.record
      ? { ...write, record: { ...write.record, wiring } }
      : write,
  )
  return { ...plan, change }
}
