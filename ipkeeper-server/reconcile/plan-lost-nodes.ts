import type { NodeSnapshot, SeenElsewhere } from './plan-snapshot.ts'
import { aboutAttachment, describeAttachment, incarnationOf, type Suspicion } from './plan-suspicion.ts'

/**
 * What nodes have left in the ledger that the Kubernetes API does not have. That a node is missing is never enough: a daemon
 * may call its node by another name, and hosts without Kubernetes may share an etcd with a cluster. So the API has to say
 * besides that the very pod is gone, or this daemon has to have known the node.
 */
export function suspectLostNodes({ elsewhere }: NodeSnapshot): readonly Suspicion[] {
  return elsewhere.flatMap(seen => suspect(seen) ?? [])
}

function suspect(seen: SeenElsewhere): Suspicion | undefined {
  const { record, leases, goneFor, nodeWasThere, pod } = seen
  const { node } = record
  const base = {
    kind: 'lease-of-lost-node',
    key: `lost ${incarnationOf(record)}`,
    says: `${describeAttachment(record)} was added on node ${node}, and no DEL has come for it`,
    about: aboutAttachment(record, leases),
    certainty: { by: 'absence', age: goneFor },
  } as const
  const end = {
    action: { kind: 'end-attachment', attachment: record, proved: false },
    remedy: '',
  } as const
  switch (pod) {
    case 'gone':
      return { ...base, ...end, why: `the Kubernetes API has neither node ${node} nor this pod` }
    case 'exists':
      return {
        ...base,
        why: `the Kubernetes API has no node ${node}, but this pod`,
        remedy: `if the pod runs, "node" in the configuration of its daemon is not the name of its Node; if the node was removed, the pod is about to go`,
        action: { kind: 'none' },
      }
    case 'later':
      return {
        ...base,
        why: `the Kubernetes API has no node ${node}`,
        remedy: 'nothing yet: its pod is asked for first',
        action: { kind: 'none' },
      }
    case 'unknown':
      return undefined
    case 'none':
      return nodeWasThere
        ? { ...base, ...end, why: `the Kubernetes API has no node ${node} any more` }
        : {
            ...base,
            why: `the Kubernetes API has no node ${node}, which may never have been one of it, and there is no pod to ask for`,
            remedy: 'if that machine is gone, send the DEL from any other node: docs/running-by-hand.md',
            action: { kind: 'none' },
          }
  }
}
