import { attachmentByLease } from '../ipam/records/new-records.ts'
import { incarnationOf } from '../ipam/records/records.ts'
import { aboutAttachment, describeAttachment, type Suspicion } from './plan-suspicion.ts'
import type { NodeSnapshot } from './plan-snapshot.ts'

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
        why: 'no node of that name is here now, so that nobody looks whether its sandboxes live',
        remedy: `if this machine was called ${name}: start the daemon once with "node: ${name}" in its configuration, then with its present name; if the disk was copied from that machine: docs/operations/node-identity.md`,
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
        why: 'another machine had the name of this node, or the journal was lost; nobody looks whether that sandbox lives',
        remedy:
          'if that machine is gone, or its sandboxes are, send the DEL from this node: docs/operations/running-by-hand.md',
        about: aboutAttachment(record, [lease]),
        action: { kind: 'none' },
        certainty: { by: 'absence' },
      },
    ]
  })
}
