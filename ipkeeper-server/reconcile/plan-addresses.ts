import { isIpv6, withoutPrefix } from '../../shared/net/address-text.ts'
import { isAllocation } from '../ipam/records/allocation.ts'
import {
  attachmentKey,
  incarnationOf,
  type AttachmentRecord,
  type LeaseRecord,
} from '../ipam/records/records.ts'
import type { NodeSnapshot, SeenAttachment, SeenPod } from './plan-snapshot.ts'
import { aboutAttachment, describeAttachment, type Suspicion } from './plan-suspicion.ts'
import { parseAddress } from '../../shared/net/address.ts'
import { shellWord } from '../../shared/text/shell-word.ts'

/** The interface whose addresses kubelet reports as those of the pod. */
const podInterface = 'eth0'

/**
 * The IP swap: pods of which lease, kernel and Kubernetes API do not tell the same address. Only a person can say which
 * of them is right; a pod that is made anew gets what its lease says.
 */
export function suspectAddresses({ attachments, pods }: NodeSnapshot): readonly Suspicion[] {
  const known = new Map<string, SeenPod>()
  if (pods.state === 'asked') for (const pod of pods.found) for (const uid of pod.uids) known.set(uid, pod)
  return attachments.flatMap(seen => {
    const { outline, leases, death } = seen
    if (death !== undefined || leases.length === 0) return []
    const differences = [...kernelDiffers(seen), ...apiDiffers(seen, known.get(outline.podUid ?? ''))]
    if (differences.length === 0 || !seen.current) return []
    const { record } = seen
    const end = endingLine(record)
    return [
      {
        kind: 'ip-differs',
        key: `addresses ${incarnationOf(record)}`,
        says: `${describeAttachment(record)}: ${differences.join('; ')}`,
        why: 'clients that use the address of this pod reach another pod, or none',
        remedy: end === undefined ? 'recreate the container' : `recreate the pod: ${end}`,
        about: aboutAttachment(record, leases),
        action: { kind: 'none' },
        certainty: { by: 'absence' },
      } as const,
    ]
  })
}

/** What ends a pod, so that its controller makes it anew; undefined for a container without one. */
function endingLine({ holder, containerId }: AttachmentRecord): string | undefined {
  if (holder.kind !== 'pod') return undefined
  return isAllocation(holder)
    ? `nomad alloc stop -namespace ${holder.namespace} ${containerId}`
    : `kubectl delete pod -n ${holder.namespace} ${holder.name}`
}

/** In CIDR notation. */
export function missingInKernel(
  leases: readonly LeaseRecord[],
  kernel: readonly string[],
): readonly string[] {
  return leases
    .map(({ address, prefixLength }) => `${address}/${prefixLength}`)
    .filter(address => !kernel.includes(address))
}

function kernelDiffers({ leases, kernel, outline }: SeenAttachment): readonly string[] {
  const missing = kernel ? missingInKernel(leases, kernel) : []
  if (!kernel || missing.length === 0) return []
  const has = kernel.length === 0 ? 'nothing' : kernel.join(', ')
  return [`the lease is ${missing.join(', ')}, ${outline.ifname} in the kernel has ${has}`]
}

function apiDiffers({ leases, outline }: SeenAttachment, pod: SeenPod | undefined): readonly string[] {
  if (outline.ifname !== podInterface || !pod || pod.deleting) return []
  const leased = leases.map(({ address }) => address)
  // kubelet reports one address of each family, and another plugin may have given that of a family.
  return pod.addresses.map(withoutPrefix).flatMap(reported => {
    const ofFamily = leased.filter(address => isIpv6(address) === isIpv6(reported))
    return ofFamily.length === 0 || ofFamily.includes(reported)
      ? []
      : [`the lease is ${ofFamily.join(', ')}, the Kubernetes API reports ${reported}`]
  })
}

/** Pods whose address the node got later on. Only a person can say which of the two is to have it. */
export function suspectOwnAddresses({ attachments, own }: NodeSnapshot): readonly Suspicion[] {
  if (!own) return []
  return attachments.flatMap(seen => {
    const { leases, death } = seen
    const taken = leases.flatMap(({ address }) => {
      const parsed = parseAddress(address)
      const found = parsed && own.find(parsed)
      return found ? [{ address, ...found }] : []
    })
    const [first] = taken
    if (death !== undefined || !first) return []
    const { record } = seen
    const links = [...new Set(taken.map(({ link }) => link))].join(', ')
    return [
      {
        kind: 'address-on-node',
        key: `own addresses ${incarnationOf(record)}`,
        says: `${describeAttachment(record)} has ${taken.map(({ address }) => address).join(', ')}, which the node also has, on link ${links}`,
        why: 'the node keeps what is sent to it, so the pod is not reached',
        remedy: `if the node should not have it: ip address delete ${first.cidr} dev ${shellWord(first.link)}; otherwise give the pod another address`,
        about: aboutAttachment(record, leases),
        action: { kind: 'none' },
        certainty: { by: 'proof' },
      } as const,
    ]
  })
}

/** Pods that answer for what is not theirs. Only a person can tell whether they mean harm. */
export function suspectAnswers({ attachments, falseAnswers = [] }: NodeSnapshot): readonly Suspicion[] {
  if (falseAnswers.length === 0) return []
  const present = new Map(attachments.map(seen => [attachmentKey(seen.outline), seen]))
  return falseAnswers.flatMap(({ attachment, addresses, times }) => {
    const seen = present.get(attachmentKey(attachment))
    if (!seen || incarnationOf(seen.record) !== incarnationOf(attachment)) return []
    const end = endingLine(attachment)
    const often = times === 1 ? '' : `, and ${times - 1} ${times === 2 ? 'time' : 'times'} before`
    return [
      {
        kind: 'false-answer',
        key: `answers ${incarnationOf(attachment)}`,
        says: `${describeAttachment(attachment)} answered for ${addresses.join(', ')}${often}, which were not assigned to it`,
        why: 'ipkeeper ignores the answer when it assigns addresses, but neighbours on the network do not',
        remedy: `see what it runs (proxy ARP, a virtual address, a forger), or end it${end === undefined ? '' : `: ${end}`}`,
        about: aboutAttachment(attachment, seen.leases),
        action: { kind: 'none' },
        certainty: { by: 'proof', age: Number.MAX_SAFE_INTEGER },
      } as const,
    ]
  })
}
