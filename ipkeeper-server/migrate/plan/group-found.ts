import type { FoundAllocation } from '../../../shared/api/import.schema.ts'
import { containerIdFault, interfaceNameFault, networkNameFault } from '../../../shared/cni/identifiers.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import { cidrContains } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { attachmentKey, holderKey, type AttachmentKey, type Holder } from '../../ipam/records/records.ts'
import { type ImportTerms, type ImportDecision, decided, canonical } from './import-decision.ts'

/** Interface of a container, where whoever gave the address did not write it down. */
const usualInterface = 'eth0'

/** What was found of one sandbox; or of a pod that has none, whose addresses are kept for it. */
export interface FoundGroup {
  readonly holder: Holder
  readonly podUid: string | null
  /** null: there is no sandbox, or nobody knows which. */
  readonly key: AttachmentKey | null
  /** Positions in what was found. */
  readonly members: readonly number[]
  /** Of the newest member; 0 where nothing tells it. */
  readonly since: number
}

/** The network that an allocation is of: as was found, else the only one whose pool has the address. */
function networkOf(found: FoundAllocation, terms: ImportTerms): string | undefined {
  if (found.network !== null) return found.network
  const address = parseAddress(found.address)
  const [only, ...others] = [...terms.networks].filter(
    ([, pool]) =>
      address &&
      !(pool instanceof Problem) &&
      pool.rangeSets.flat().some(({ subnet }) => cidrContains(subnet, address)),
  )
  return only && others.length === 0 ? only[0] : undefined
}

/**
 * Sorts what was found by the sandboxes that it belongs to, the newest first: of two sandboxes of one pod the newer has
 * what the pod has. What belongs to nobody that could be named is in no group, and gets its decision here.
 */
export function groupFound(
  found: readonly FoundAllocation[],
  terms: ImportTerms,
): { readonly groups: readonly FoundGroup[]; readonly nobodys: ReadonlyMap<number, ImportDecision> } {
  const groups = new Map<string, { group: Omit<FoundGroup, 'members' | 'since'>; members: number[] }>()
  const nobodys = new Map<number, ImportDecision>()
  found.forEach((one, index) => {
    const { containerId, pod } = one
    const network = networkOf(one, terms)
    const ifname = one.ifname ?? usualInterface
    const fault =
      network === undefined
        ? { text: 'its network is not known', hint: 'name it: --network NAME' }
        : containerId === null && pod === null
          ? { text: 'its holder is not known', hint: '' }
          : faultOf(network, containerId, ifname)
    if (network === undefined || fault) {
      nobodys.set(index, decided('unfit', fault?.text ?? '', fault && { hint: fault.hint }))
      return
    }
    const holder: Holder = pod
      ? { kind: 'pod', network, namespace: pod.namespace, name: pod.name, ifname }
      : { kind: 'container', network, containerId: containerId ?? '', ifname }
    const key = containerId === null ? null : { network, containerId, ifname }
    const id = key ? attachmentKey(key) : `held ${holderKey(holder)}`
    const entry = groups.get(id)
    if (entry && holderKey(entry.group.holder) !== holderKey(holder)) {
      nobodys.set(
        index,
        decided(
          'conflict',
          `${one.origin} and another one name different pods for container ${containerId ?? ''}`,
        ),
      )
    } else if (entry) entry.members.push(index)
    else groups.set(id, { group: { holder, podUid: pod?.uid ?? null, key }, members: [index] })
  })
  return {
    groups: [...groups.values()]
      .map(({ group, members }) => ({
        ...group,
        members,
        since: Math.max(...members.map(index => found[index]?.since ?? 0)),
      }))
      .sort((a, b) => b.since - a.since),
    nobodys,
  }
}

function faultOf(
  network: string,
  containerId: string | null,
  ifname: string,
): { readonly text: string; readonly hint: string } | undefined {
  const fault =
    networkNameFault(network) ??
    (containerId === null ? undefined : containerIdFault(containerId)) ??
    interfaceNameFault(ifname)
  return fault && { text: [fault.message, fault.details].filter(part => part !== '').join(': '), hint: '' }
}

/** Allocations that claim an address, where there are several, by the address. */
export type Claims = ReadonlyMap<string, readonly FoundAllocation[]>

/**
 * Addresses that several sandboxes or pods claim, with the origins of the claims. What is gone claims nothing.
 *
 * @param isGone whether the container of one is no more
 */
export function claimedTwice(
  found: readonly FoundAllocation[],
  isGone: (one: FoundAllocation) => boolean,
): Claims {
  const claims = new Map<string, Map<string, FoundAllocation>>()
  for (const one of found) {
    if (isGone(one)) continue
    const address = canonical(one.address)
    const { containerId, pod, node } = one
    const whose = pod ? `${pod.namespace}/${pod.name} ${containerId ?? ''}` : (containerId ?? one.origin)
    const of = claims.get(address) ?? new Map<string, FoundAllocation>()
    of.set(JSON.stringify([whose, one.network, one.ifname, node]), one)
    claims.set(address, of)
  }
  return new Map(
    [...claims].filter(([, of]) => of.size > 1).map(([address, of]) => [address, [...of.values()]]),
  )
}
