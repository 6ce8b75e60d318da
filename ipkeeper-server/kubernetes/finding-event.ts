import type { Finding } from '../../shared/api/audit.schema.ts'
import type { EventSubject, PodEvent } from './event-series.ts'

/** Where kubelet's own Events on its Node are. */
const eventsOfNodes = 'default'

/** "lease-without-sandbox" as the reason of an Event: "LeaseWithoutSandbox". */
const reasonOf = (kind: string): string =>
  kind
    .split('-')
    .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

/** This node, for Events: kubelet's have its name for a UID, and "kubectl describe node" looks for that. */
const nodeSubject = (node: string): EventSubject => ({
  kind: 'Node',
  namespace: eventsOfNodes,
  name: node,
  uid: node,
})

/** What the node is told of a file that is in the way of its runtime. `reason`: one CamelCase word. */
export function fileEvent(
  node: string,
  reason: 'BadConflist' | 'BadCacheFile',
  message: string,
): { readonly subject: EventSubject; readonly event: PodEvent } {
  return { subject: nodeSubject(node), event: { type: 'Warning', reason, action: 'LookAtFiles', message } }
}

/** Whom a finding is told, and what: the pod that it is about, else this node. */
export function findingEvent(
  { kind, severity, says, why, remedy, pod, podUid }: Finding,
  node: string,
): { readonly subject: EventSubject; readonly event: PodEvent } {
  const [namespace, name] = pod?.split('/') ?? []
  return {
    subject:
      namespace !== undefined && name !== undefined ? { namespace, name, uid: podUid } : nodeSubject(node),
    event: {
      type: severity === 'note' ? 'Normal' : 'Warning',
      reason: reasonOf(kind),
      action: 'Reconcile',
      message: [`${says}: ${why}`, remedy].filter(part => part !== '').join('; '),
    },
  }
}
