import { attachmentByLease } from '../ipam/records/new-records.ts'
import { incarnationOf, describeHolder } from '../ipam/records/records.ts'
import { aboutAttachment, describeAttachment, type Suspicion } from './plan-suspicion.ts'
import type { NodeSnapshot, SeenElsewhere, SeenLostNode } from './plan-snapshot.ts'
import { describeLostNode, describeStanding, forceLine, remedyFor } from '../ipam/records/standing.ts'

/**
 * What is on record here under a name that is not this node's. It was carried over at the start unless the state folder is of a
 * version that did not know whose it was: then it may have come here with a copied disk, and its sandboxes may live.
 */
export function suspectNames({ misnamed }: NodeSnapshot): readonly Suspicion[] {
  const byName = Map.groupBy(misnamed, ({ record }) => record.node)
  return [...byName].flatMap(([name, seen]): Suspicion[] => {
    const [first] = seen
    if (!first) return []
    const others = seen.length === 1 ? '' : `, and ${seen.length - 1} more`
    return [
      {
        kind: 'record-of-another-name',
        key: `name ${name}`,
        says: `${describeAttachment(first.record)}${others} was added here on node ${name}`,
        why: 'no node of that name exists here now, so no daemon checks whether its sandboxes are running',
        remedy: `if this machine was formerly named ${name}: start the daemon once with "node: ${name}" in its configuration, then with its present name; if the disk was copied from that machine: docs/operations/node-identity.md`,
        about: aboutAttachment(first.record, first.leases),
        action: { kind: 'none' },
        // Nothing will change by waiting.
        certainty: { by: 'proof', age: Infinity },
      },
    ]
  })
}

/**
 * What is bound under this node's name by another machine that had it, or by this one before its journal was lost. Its sandbox may
 * live where nobody looks: that it is not seen here proves nothing. An ADD under way looks so for a moment.
 */
export function suspectUnrecorded({ unrecorded = [] }: NodeSnapshot): readonly Suspicion[] {
  return unrecorded.flatMap((lease): Suspicion[] => {
    const record = attachmentByLease(lease)
    if (!record) return []
    return [
      {
        kind: 'lease-without-record',
        key: `unrecorded ${lease.address} ${incarnationOf(record)}`,
        says: `${lease.address} is bound on this node to ${describeAttachment(record)}, of which this node has no record`,
        why: 'another machine had the name of this node, or the journal was lost; no daemon checks whether that sandbox is running',
        remedy: `if that machine is off, or its sandbox is gone: ${forceLine(lease)} --powered-off`,
        about: aboutAttachment(record, [lease]),
        action: { kind: 'none' },
        certainty: { by: 'absence' },
      },
    ]
  })
}

/**
 * What nodes have left in the ledger that the Kubernetes API does not have. That a node is missing is never enough: a daemon
 * may call its node by another name, and hosts without Kubernetes may share an etcd with a cluster. So the API has to say
 * besides that the very pod is gone, or this daemon has to have known the node.
 */
export function suspectLostNodes({ elsewhere, lostNodes = [] }: NodeSnapshot): readonly Suspicion[] {
  return [...elsewhere.flatMap(seen => suspect(seen) ?? []), ...lostNodes.flatMap(tellOf)]
}

/** So many of the addresses of a lost node are named. */
const mostNamed = 5

/** What stays bound on a node that is out of service or silent, or that another daemon sees to. */
function tellOf({ standing, leases, silence }: SeenLostNode): readonly Suspicion[] {
  const [first] = leases
  if (!first) return []
  const named = leases
    .slice(0, mostNamed)
    .map(({ address, holder }) => `${address} (${describeHolder(holder)})`)
  const more = leases.length > named.length ? ` and ${leases.length - named.length} more` : ''
  const addresses = leases.length === 1 ? '1 address is' : `${leases.length} addresses are`
  return [
    {
      kind: 'lease-of-lost-node',
      key: `lost node ${standing.node}`,
      says: `${silence ?? describeLostNode(standing)}, and ${addresses} bound there: ${named.join(', ')}${more}`,
      why:
        silence === undefined
          ? `of the first: ${describeStanding(first, standing)}`
          : 'a node without contact may still be running its sandboxes',
      remedy: remedyFor(first, standing),
      about: { address: leases.map(({ address }) => address).join(', ') },
      action: { kind: 'none' },
      certainty: { by: 'proof', age: Infinity },
    },
  ]
}

function suspect(seen: SeenElsewhere): Suspicion | undefined {
  const { record, leases, goneFor, nodeWasThere, pod } = seen
  const [lease] = leases
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
            remedy: lease ? `if that machine is off: ${forceLine(lease)} --powered-off` : '',
            action: { kind: 'none' },
          }
  }
}
