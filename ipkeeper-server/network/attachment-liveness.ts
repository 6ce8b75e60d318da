import type { Liveness } from '../ipam/add-request.ts'
import type { AttachmentRecord } from '../ipam/records.ts'
import { inspectNetns } from './netns.ts'

/**
 * What this node can say of an attachment (DESIGN section 5, rule 5): dead when the boot it was made in is over, or when
 * its network namespace is gone, or another one stands in its place. Only the attachment's own node may say so, and a
 * path that was no namespace at ADD proves nothing.
 */
export function attachmentLiveness(attachment: AttachmentRecord, node: string, bootId: string): Liveness {
  if (attachment.node !== node) return 'unknown'
  if (attachment.bootId !== bootId) return 'dead'
  if (attachment.netnsInode === null) return 'unknown'
  const state = inspectNetns(attachment.netns)
  switch (state.kind) {
    case 'absent':
    case 'not-a-namespace':
      return 'dead'
    case 'namespace':
      return state.inode === attachment.netnsInode ? 'unknown' : 'dead'
    case 'unreadable':
      return 'unknown'
  }
}
