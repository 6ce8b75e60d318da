import type { Finding } from '../../shared/api/audit.schema.ts'
import { interfaceNameFault, networkNameFault } from '../../shared/cni/identifiers.ts'
import type { PoolVerdict } from '../ipam/pools/judge-pool-objects.ts'
import { firstInterface } from './annotations/own-keys.ts'
import type { EventSubject, PodEvent } from './event-series.ts'
import type { Problem } from '../../shared/problem/problem.ts'

/** Where kubelet's own Events on its Node are, and those on any object without a namespace. */
const eventsOfNodes = 'default'

/** "lease-without-sandbox" as the reason of an Event: "LeaseWithoutSandbox". */
const reasonOfKind = (kind: string): string =>
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
  { message, remedy }: { readonly message: string; readonly remedy: string },
): { readonly subject: EventSubject; readonly event: PodEvent } {
  return {
    subject: nodeSubject(node),
    event: { type: 'Warning', reason, action: 'LookAtFiles', message, remedy },
  }
}

/** What an IPPool is told of its newest spec; without a reason: that it is in force. */
export function poolEvent(
  name: string,
  { uid, generation, refusal }: PoolVerdict,
): { readonly subject: EventSubject; readonly event: PodEvent } {
  const which = `generation ${generation} of IPPool ${name}`
  return {
    subject: { kind: 'IPPool', namespace: eventsOfNodes, name, uid: uid ?? null },
    event: refusal
      ? {
          ...{ type: 'Warning', reason: 'Refused', action: 'PutInForce' },
          message: `${which} is not in force: ${refusal.message}`,
        }
      : { type: 'Normal', reason: 'Accepted', action: 'PutInForce', message: `${which} is in force` },
  }
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
      reason: reasonOfKind(kind),
      action: 'Reconcile',
      message: `${says}: ${why}`,
      remedy,
    },
  }
}

/** "IPK_POOL_FULL" as the reason of an Event: "PoolFull". */
function reasonOfCode(code: string): string {
  return code
    .split('_')
    .slice(1)
    .map(word => word.slice(0, 1) + word.slice(1).toLowerCase())
    .join('')
}

/** Which further interface of a pod an ADD was for. */
export interface EventPlace {
  readonly ifname: string
  /** Of Multus, as "shop/lan"; undefined where that is not known. */
  readonly definition: string | undefined
  readonly network: unknown
}

/** "net1 of shop/lan: "; nothing for the first interface, and for what is no name. */
function placeText({ ifname, definition, network }: EventPlace): string {
  if (ifname === firstInterface || interfaceNameFault(ifname)) return ''
  const named = typeof network === 'string' && !networkNameFault(network) ? `network ${network}` : undefined
  const whose = definition ?? named
  return `${ifname}${whose === undefined ? '' : ` of ${whose}`}: `
}

/** What a pod is told of its ADD. */
export function outcomeEvent(
  outcome:
    | { readonly addresses: readonly string[]; readonly reasons: readonly string[] }
    | { readonly problem: Problem },
  place: EventPlace,
): PodEvent {
  if ('problem' in outcome) {
    const { code, message, details, hint } = outcome.problem
    return {
      type: 'Warning',
      reason: reasonOfCode(code),
      action: 'AssignAddress',
      message: placeText(place) + [message, details].filter(part => part !== '').join('; '),
      remedy: hint,
    }
  }
  const { addresses, reasons } = outcome
  return {
    type: 'Normal',
    reason: 'AddressAssigned',
    action: 'AssignAddress',
    message: `${placeText(place)}${addresses.join(', ')} (${reasons.join('; ')})`,
  }
}
