import type { Liveness } from '../ipam/add-request.ts'
import type { AttachmentRecord } from '../ipam/records.ts'
import type { NodeState } from '../kubernetes/cluster-view.ts'
import { inspectNetns } from './netns.ts'

/** Nodes whose sandboxes cannot run: only then does Kubernetes start their pods elsewhere (non-graceful node shutdown). */
const lost: readonly NodeState[] = ['gone', 'out-of-service']

/**
 * What this node can say of an attachment (DESIGN section 5, rule 5): dead when the boot it was made in is over, or when
 * its network namespace is gone, or another one stands in its place. Only the attachment's own node may say so; of another
 * node's it is known only that the whole node is lost. A path that was no namespace at ADD proves nothing.
 *
 * @param node this one
 * @param nodeState what the API says of a node; "unknown" where there is none to ask
 */
export function attachmentLiveness(
  attachment: AttachmentRecord,
  node: string,
  bootId: string,
  nodeState: (name: string) => NodeState,
): Liveness {
  if (attachment.node !== node) return lost.includes(nodeState(attachment.node)) ? 'dead' : 'unknown'
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
