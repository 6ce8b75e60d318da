import { isAllocation } from '../ipam/records/allocation.ts'
import { describeHolder, holderKey } from '../ipam/records/records.ts'
import type { NodeSnapshot, SeenAttachment } from './plan-snapshot.ts'
import type { Suspicion } from './plan-suspicion.ts'

/** Sandboxes of the runtime that have an address of a pool, though no attachment of ours tells of them. */
export function suspectSandboxes({ pooledSandboxes, attachedSince }: NodeSnapshot): readonly Suspicion[] {
  return pooledSandboxes
    .filter(({ sandbox }) => !attachedSince.has(sandbox.id))
    .map(({ sandbox, address, pool }) => {
      const pod = `${sandbox.namespace}/${sandbox.name}`
      return {
        kind: 'sandbox-without-lease',
        key: `sandbox ${sandbox.id} ${address}`,
        says: `${pod} (container ${sandbox.id.slice(0, 13)}) uses ${address} of pool ${pool} without a lease`,
        why: 'the runtime reports it, and the address could be assigned to another pod',
        remedy: `recreate the pod: kubectl delete pod -n ${sandbox.namespace} ${sandbox.name} (or: crictl stopp ${sandbox.id})`,
        about: { pod, ...(sandbox.uid !== '' && { podUid: sandbox.uid }), containerId: sandbox.id, address },
        action: { kind: 'none' },
        certainty: { by: 'proof' },
      }
    })
}

/** Pods of which two sandboxes are there. One of them is kubelet's next to stop, as a rule; if it stays, it is not. */
export function suspectTwins({ attachments }: NodeSnapshot): readonly Suspicion[] {
  const living = attachments.filter(({ outline, death }) => outline.podHash !== null && death === undefined)
  const [met, metAgain] = [new Set<number | null>(), new Set<number | null>()]
  for (const { outline } of living) (met.has(outline.podHash) ? metAgain : met).add(outline.podHash)
  // Equal numbers are a hint; whose they are, the records say.
  const candidates = living.filter(({ outline }) => metAgain.has(outline.podHash))
  const groups = Map.groupBy(candidates, ({ record }) => holderKey(record.holder))
  return [...groups].flatMap(([key, group]) => (group.length > 1 ? [suspectGroup(key, group)] : []))
}

function suspectGroup(key: string, group: readonly SeenAttachment[]): Suspicion {
  const inOrder = group.toSorted((a, b) => a.record.since - b.record.since)
  const newest = inOrder.at(-1)
  const oldest = inOrder[0]
  const name = newest ? describeHolder(newest.record.holder) : ''
  const look = newest && isAllocation(newest.record.holder) ? 'nomad alloc status' : 'crictl inspectp'
  const each = inOrder.map(
    ({ record, leases }) =>
      `${record.containerId.slice(0, 13)} with ${leases.map(({ address }) => address).join(', ') || 'no address'}`,
  )
  return {
    kind: 'two-sandboxes',
    key: `twins ${key}`,
    says: `${name} has ${group.length} sandboxes: ${each.join('; ')}`,
    why: 'the older one was not stopped, or its DEL has not come',
    remedy: `see whether the older one is to be there: ${look} ${oldest?.record.containerId ?? ''}`,
    about: {
      pod: name,
      ...(newest && newest.record.podUid !== null && { podUid: newest.record.podUid }),
      ...(newest && { network: newest.record.network, ifname: newest.record.ifname }),
      ...(oldest && { containerId: oldest.record.containerId }),
    },
    action: { kind: 'none' },
    certainty: { by: 'absence' },
  }
}
