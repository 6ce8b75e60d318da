import { formatAddress, sameAddress, type Address } from '../../../shared/net/address.ts'
import { parseCidr, type Cidr } from '../../../shared/net/cidr.ts'
import { defaultMacOwner, podMac } from './pod-mac.ts'
import { requestedMac, type AddTerms } from '../request/add-request.ts'
import type { AddContext } from './add-context.ts'
import type { AddressBook } from '../pools/address-book.ts'
import { mayInherit } from './choose-address.ts'
import { claimProblem, describeLease, releaseLine, whenFree } from './claim-problems.ts'
import type { Grant } from './plan-grants.ts'
import type { MacRequest } from '../request/request.ts'
import {
  holderKey,
  isTimeOver,
  leaseKey,
  macGuardKey,
  sameAttachment,
  type LeaseRecord,
  type Write,
  type Workload,
} from '../records/records.ts'
import { retains } from '../records/retention.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { remedyFor, type Standing } from '../records/standing.ts'
import { bearsGeneratedName, sameWorkload } from '../records/workload.ts'

/**
 * Whether a pod may have the MAC that it asks for: not where a living pod of the segment has it, or one that is to have it back
 * with its address; the node has it on a link, or its gateway or another node is known by it; nor one that another address of the
 * segment has by default, as its pod would come up with it. A segment stands for the L2 network. In mode ptp a pod has its link
 * for itself: only the node counts for it, and it for nobody.
 *
 * @returns writes that make an ADD of another node, which decides at the same time, decide anew
 * @throws Problem IPK_MAC_TAKEN, IPK_MAC_BUSY, IPK_HOLDER_LIVE
 */
export function checkMac(context: AddContext, grants: readonly Grant[]): readonly Write[] {
  const { book, request } = context
  const asked = requestedMac(request)
  if (!asked) return []
  const { seenMac } = context.terms
  const [link] = seenMac?.links ?? []
  if (link !== undefined) throw macProblem.ofLink(asked, request.node, link)
  if (request.main?.mode === 'ptp') return []
  refuseNeighbours(context, asked, grants)
  refuseHolders(context, asked, grants)
  refuseDefaults(book, asked, grants)
  if (!book.isShared) return []
  const lastOctet = Number.parseInt(asked.mac.slice(-2), 16)
  return [...segmentsOf(grants)].map((segment): Write => {
    const guard = { segment, lastOctet }
    const expect = book.macGuard(guard)?.generation ?? null
    return {
      kind: 'mac',
      key: macGuardKey(guard),
      expect,
      record: { ...guard, generation: (expect ?? 0) + 1 },
    }
  })
}

const segmentsOf = (grants: readonly Grant[]): ReadonlySet<string> =>
  new Set(grants.map(({ slot }) => slot.pool.segment))

/** Gateways and nodes: whoever else is known as a neighbour may have left, or be a liar. */
function refuseNeighbours({ book, terms }: AddContext, asked: MacRequest, grants: readonly Grant[]): void {
  const neighbours = terms.seenMac?.neighbours ?? []
  for (const { range } of grants) {
    const gateway = formatAddress(range.gateway)
    if (neighbours.includes(gateway)) throw macProblem.of(asked, `the gateway ${gateway} has`)
  }
  for (const { name, addresses, gone } of book.nodes()) {
    // Another one may have its address by now, if only under its own name.
    if (!gone && addresses.some(address => neighbours.includes(address)))
      throw macProblem.of(asked, `node ${name} has`)
  }
}

function refuseHolders(context: AddContext, asked: MacRequest, grants: readonly Grant[]): void {
  const { book, request, terms, workload, takeover } = context
  const segments = segmentsOf(grants)
  const granted = new Set(
    grants.map(({ slot, address }) =>
      leaseKey({ segment: slot.pool.segment, address: formatAddress(address) }),
    ),
  )
  const refuse = (lease: LeaseRecord): void => {
    if (!segments.has(lease.segment) || !keepsMac(book, lease, terms)) return
    // What this ADD has already, and what it takes over, address and all; and what a pod that is gone left to its workload.
    if (sameAttachment(lease.attachment, request.key) || takeover.mayTake(lease)) return
    if (granted.has(leaseKey(lease)) || (lease.state === 'held' && mayInherit(lease, context))) return
    const attachment = lease.attachment ? book.attachment(lease.attachment) : undefined
    const standing = takeover.standing(lease)
    if (attachment && holderKey(lease.holder) === holderKey(request.holder)) {
      const byTime = takeover.byTime(lease)
      throw claimProblem.holderLive(request, attachment, [lease], { standing, byTime })
    }
    throw macProblem.held(asked, lease, workload, standing)
  }
  for (const lease of book.leasesWithMac(asked.mac)) refuse(lease)
  for (const attachment of terms.seenMac?.attachments ?? []) book.leasesOf(attachment).forEach(refuse)
}

/** By what it is told whether a lease still counts. */
type MacTerms = Pick<AddTerms, 'liveness' | 'now'>

/** Whether a lease keeps its MAC from others on its L2 network. */
function keepsMac(book: AddressBook, lease: LeaseRecord, { liveness, now }: MacTerms): boolean {
  if (lease.ownLink || lease.state === 'cooling' || isTimeOver(lease, now)) return false
  const attachment = lease.attachment ? book.attachment(lease.attachment) : undefined
  // Of a sandbox that is dead the address will be kept, or come free.
  return !attachment || liveness(attachment) !== 'dead' || retains(lease.retain)
}

/** MACs that pods get who ask for none: whoever has or gets the address has the MAC. */
function refuseDefaults(book: AddressBook, asked: MacRequest, grants: readonly Grant[]): void {
  const segments = segmentsOf(grants)
  const own = grants.map(({ address }) => address)
  if (asked.mac === podMac(own.map(formatAddress))) return
  const subnets = [...grants.map(({ range }) => range.subnet), ...subnetsOf(book, segments)]
  // A pod with both families has the MAC of its IPv4 address.
  const ofIpv6 = own.some(({ family }) => family === 6) && !own.some(({ family }) => family === 4)
  const owner = defaultMacOwner(
    asked.mac,
    subnets.filter(({ address }) => address.family === 4 || ofIpv6),
  )
  if (owner === undefined) return
  if (owner === 'many') throw macProblem.ofMany(asked)
  if (own.some(address => sameAddress(address, owner))) return
  const lease = holderOf(book, segments, owner)
  if (!lease?.ownLink) throw macProblem.ofAddress(asked, owner, lease)
}

function subnetsOf(book: AddressBook, segments: ReadonlySet<string>): readonly Cidr[] {
  const texts = new Set<string>()
  for (const { segment, ranges } of book.pools())
    if (segments.has(segment)) for (const { subnet } of ranges.flat()) texts.add(subnet)
  return [...texts].flatMap(text => parseCidr(text) ?? [])
}

function holderOf(
  book: AddressBook,
  segments: ReadonlySet<string>,
  address: Address,
): LeaseRecord | undefined {
  const leases = [...segments].flatMap(
    segment => book.lease({ segment, address: formatAddress(address) }) ?? [],
  )
  return leases.find(({ state }) => state === 'bound')
}

/**
 * Whether a MAC that a pod is to get by itself is that of another one, which has asked for it.
 *
 * @param granted what the pod gets
 */
export function isChosenByOther(
  book: AddressBook,
  mac: string,
  granted: readonly LeaseRecord[],
  terms: MacTerms,
): boolean {
  const own = new Set(granted.map(leaseKey))
  const segments = new Set(granted.flatMap(({ segment, ownLink }) => (ownLink ? [] : [segment])))
  for (const lease of book.leasesWithMac(mac))
    if (segments.has(lease.segment) && !own.has(leaseKey(lease)) && keepsMac(book, lease, terms)) return true
  return false
}

const chooseAnother = 'choose another MAC address for this pod, or none: then it gets one of its own'

const taken = ({ mac, source }: MacRequest, who: string, hint = chooseAnother): Problem =>
  new Problem('IPK_MAC_TAKEN', `${source} asks for ${mac}, which ${who}`, { hint })

/** The texts of MAC addresses that a pod cannot have. */
export const macProblem = {
  /** `who`: "the gateway 10.22.0.1 has". */
  of: (asked: MacRequest, who: string): Problem => taken(asked, who),

  ofLink: (asked: MacRequest, node: string, link: string): Problem =>
    taken(asked, `node ${node} has itself, on link ${link}`),

  /** A pod has it, or is to have it back with its address. `workload`: of the one that asks. */
  held(asked: MacRequest, lease: LeaseRecord, workload: Workload | null, standing: Standing): Problem {
    const has = `${describeLease(lease)} has; ${whenFree(lease, standing)}`
    const { holder, state } = lease
    if (state === 'held')
      return taken(asked, has, `${chooseAnother}; or end what is kept: ${releaseLine(lease)}`)
    const older = sameWorkload(lease.workload, workload) && holder.kind === 'pod'
    if (!older || !bearsGeneratedName(holder.name, lease.workload))
      return taken(asked, has, `${chooseAnother}; or ${remedyFor(lease, standing)}`)
    return new Problem('IPK_MAC_BUSY', `${asked.source} asks for ${asked.mac}, which ${has}`, {
      hint:
        lease.workload?.kind === 'VirtualMachineInstance'
          ? 'a live migration, where two pods of one machine have one MAC address, is not supported: stop the virtual machine and start it again'
          : 'wait until that pod is gone: one MAC address is for one pod at a time, so set maxSurge 0 or strategy Recreate, and replicas 1',
    })
  },

  /** Whoever has or gets an address has it by default. */
  ofAddress: (asked: MacRequest, address: Address, lease: LeaseRecord | undefined): Problem =>
    taken(
      asked,
      `is that of the pod with address ${formatAddress(address)}${lease ? `: ${describeLease(lease)}` : ', whoever gets it'}`,
    ),

  ofMany: (asked: MacRequest): Problem =>
    taken(
      asked,
      'is one of those that pods of this network have by default: they begin with 0e',
      'choose one that begins with 02, or none: then the pod gets one of its own',
    ),
}
