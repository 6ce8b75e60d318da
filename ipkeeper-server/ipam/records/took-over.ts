import { sameAttachment, type Change } from './records.ts'

/** Whose sandbox an ADD took addresses from: one of the same pod, or one of another pod of that name or workload, proved dead. */
export type FormerSandbox = 'same_pod' | 'other_pod'

/** Whether the change of an ADD takes addresses from an older sandbox; its undo knows from which. */
export function tookOver(change: Change): FormerSandbox | undefined {
  for (const write of change) {
    if (write.kind !== 'attachment' || !write.record) continue
    const { podUid, undo, ...key } = write.record
    for (const { before } of undo.leases) {
      if (!before?.attachment || sameAttachment(before.attachment, key)) continue
      return podUid !== null && before.podUid === podUid ? 'same_pod' : 'other_pod'
    }
  }
  return undefined
}
