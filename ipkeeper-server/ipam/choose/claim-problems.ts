import { clipped } from '../../../shared/json/fold.ts'
import { formatAddress, type Address, type Family } from '../../../shared/net/address.ts'
import { formatCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import type { AddressBook } from '../pools/address-book.ts'
import { groupKind, isAllocation } from '../records/allocation.ts'
import { formatTime } from '../records/times.ts'
import type { AddRequest } from '../request/add-request.ts'
import type { OwnAddress } from '../pools/own-addresses.ts'
import { describeRanges, formatRangeSet, unusableReason, type Pool, type Range } from '../pools/pool.ts'
import type { AddressRequest, CandidateList, GatewayClaim } from '../request/request.ts'
import {
  describeHolder,
  describeNote,
  describeReservation,
  type AttachmentRecord,
  type Holder,
  type LeaseKey,
  type LeaseRecord,
  type ReservationRecord,
  type Workload,
} from '../records/records.ts'
import { formatCandidates } from '../request/candidates.ts'
import {
  declareLost,
  describeStanding,
  describeWaiting,
  remedyFor,
  unjudged,
  type Standing,
} from '../records/standing.ts'
import { usageOf } from '../pools/usage.ts'
import { bearsGeneratedName, describeWorkload, isKnown, sameWorkload } from '../records/workload.ts'

/**
 * The texts of refused ADDs. Requests by CNI's own channels keep host-local's message, which users and tests match
 * (golden cases of host-local); what ipkeeper knows beyond it goes into the details. Annotations are ours to word.
 */

/** "pool prod has 10.22.0.1-10.22.0.254", or the same of several. */
function whatPoolsHave(pools: readonly Pool[]): string {
  return [...new Set(pools)].map(pool => `pool ${pool.name} has ${describeRanges(pool)}`).join('; ')
}

const inReferenceWords = (pool: Pool, rangeSet: number, asked: AddressRequest): string =>
  `failed to allocate for range ${rangeSet}: requested IP address ${formatAddress(asked.address)} ` +
  `is not available in range set ${formatRangeSet(pool.rangeSets[rangeSet] ?? [])}`

/** The command of ipkeeperctl that does something about an address. */
function addressCommand(verb: string, { address, segment }: LeaseKey): string {
  return `ipkeeperctl ${verb} ${address}${segment === 'default' ? '' : ` --segment ${shellWord(segment)}`}`
}

/** What takes a reservation back. */
export function unreserveLine(key: LeaseKey): string {
  return addressCommand('unreserve', key)
}

/** What gives an address to an owner once whoever has it is gone. */
export function moveLine({ address, segment }: LeaseKey, owner: string): string {
  return `ipkeeperctl move ${address} ${shellWord(owner)}${segment === 'default' ? '' : ` --segment ${shellWord(segment)}`}`
}

/** What ends a kept address. */
export function releaseLine(key: LeaseKey): string {
  return addressCommand('release', key)
}

/** "shop/web-0 on node worker-1 (container 3f2a91c0d1e2, since 2026-01-02T03:04:05Z)" */
export function describeLease(lease: LeaseRecord): string {
  const container = lease.attachment ? `container ${lease.attachment.containerId.slice(0, 13)}, ` : ''
  const what = lease.state === 'held' ? 'kept by retention ' : ''
  return `${describeHolder(lease.holder)} on node ${lease.node} (${container}${what}since ${formatTime(lease.since)})`
}

export function whenFree(lease: LeaseRecord, standing: Standing): string {
  const { state, until, retain, workload } = lease
  if (until !== null) return `it comes free at ${formatTime(until)}`
  if (state !== 'held') return describeStanding(lease, standing)
  if (retain !== 'while-owner-exists') return 'it is not released automatically'
  return workload && isKnown(workload)
    ? `it comes free when ${describeWorkload(workload)} is deleted`
    : 'it is not released automatically, because its owner is not known'
}

/** A kept address has nobody left to delete. */
function howToHaveIt(lease: LeaseRecord, standing: Standing): string {
  const { holder, state, until } = lease
  const who = describeHolder(holder)
  if (state !== 'held') return `choose another address for this pod, or ${remedyFor(lease, standing)}`
  const ways = [
    ...(until === null ? [] : ['wait']),
    'choose another address',
    `end it now: ${releaseLine(lease)}`,
  ]
  return `${who} is gone: ${ways.join(', or ')}`
}

/** When the older pods of a workload have what a newer one is to get: a rollout that goes on only once they are gone. */
function letOlderPodsGo(workload: Workload): string {
  const whose = `of ${describeWorkload(workload)}`
  if (workload.kind === groupKind)
    return `wait until older allocations ${whose} are gone, or take the address out of the "args" of the job`
  const rolling = [null, 'Deployment', 'ReplicaSet', 'DaemonSet'].includes(workload.kind)
  return rolling
    ? `wait until older pods ${whose} are gone: set maxSurge 0 or strategy Recreate, or list one more address with ipkeeper.io/ips`
    : `wait until older pods ${whose} are gone, or list one address per pod with ipkeeper.io/ips`
}

/** When pods that are to live side by side ask for one address, since they are made from one template. */
function oneForEachPod(lease: LeaseRecord, asked: AddressRequest, standing: Standing): string {
  const { workload } = lease
  const whose = workload ? describeWorkload(workload) : 'this workload'
  return asked.channel === 'annotation' && workload?.kind === 'StatefulSet'
    ? `give ${whose} a list with one address per replica: ipkeeper.io/ips`
    : howToHaveIt(lease, standing)
}

const hasItself = (node: string, { link }: OwnAddress): string =>
  `node ${node} has it itself, on link ${link}`

const howToPartFromNode = ({ name }: Pool, { cidr, link }: OwnAddress): string =>
  `give the pod another address, and "exclude" this one from pool ${name}; ` +
  `or, if the node should not have it: ip address delete ${cidr} dev ${shellWord(link)}`

/** Why an older sandbox is not taken for dead, and what ends it. */
function whatToDoAboutSandbox(
  { netns, netnsInode, holder, containerId }: AttachmentRecord,
  standing: Standing,
  byTime: string | undefined,
): { readonly details: string; readonly hint: string } {
  if (standing.kind === 'elsewhere')
    return {
      details: describeWaiting(standing, byTime),
      hint: `wait until the old pod has stopped${otherwise(standing)}`,
    }
  return {
    details:
      netnsInode === null
        ? `its network namespace ${netns === '' ? '(none given)' : netns} was none when it was added, which proves nothing`
        : `its network namespace ${netns} is not proved gone`,
    hint: isAllocation(holder)
      ? `wait until the old allocation has stopped, or end it: nomad alloc stop ${containerId}`
      : 'wait until the old pod has stopped, or remove its sandbox: crictl stopp, crictl rmp; for a Deployment set strategy Recreate or maxSurge 0',
  }
}

/** What else helps, where a node may be lost. */
const otherwise = (standing: Standing): string =>
  standing.kind === 'elsewhere' ? `; ${declareLost(standing)}` : ''

/** Requests that no state of the pool could grant. */
export const requestProblem = {
  outside(pools: readonly Pool[], open: readonly AddressRequest[], first: AddressRequest): Problem {
    const address = formatAddress(first.address)
    const where = whatPoolsHave(pools)
    for (const range of pools.flatMap(pool => pool.rangeSets.flat())) {
      if (first.channel === 'cni') break
      const reason = unusableReason(range, first.address)
      const isEdge =
        reason === 'the network address' || reason === 'the broadcast address' || reason === 'the gateway'
      if (isEdge && range.family === first.address.family) {
        return new Problem(
          'IPK_ADDRESS_UNUSABLE',
          `${first.source} asks for ${address}, which is ${reason} of ${formatCidr(range.subnet)}`,
          { details: where },
        )
      }
    }
    if (first.channel === 'cni') {
      const list = open.map(asked => formatAddress(asked.address)).join(' ')
      return new Problem('IPK_ADDRESS_OUTSIDE', `failed to allocate all requested IPs: ${list}`, {
        details: `asked by ${first.source}; ${where}`,
      })
    }
    return requestProblem.outsideAll(pools, first)
  },

  /** No pool that may serve the pod has the address. */
  outsideAll(
    pools: readonly Pool[],
    { address, source }: Pick<AddressRequest, 'address' | 'source'>,
  ): Problem {
    const which = [...new Set(pools)].map(pool => `pool ${pool.name} (${describeRanges(pool)})`).join(', ')
    return new Problem(
      'IPK_ADDRESS_OUTSIDE',
      `${source} asks for ${formatAddress(address)}, which is outside every range of ${which}`,
    )
  },

  /** Each of the addresses is in a pool, but no pool has them all. */
  inNoPoolTogether(
    pools: readonly Pool[],
    asked: readonly Pick<AddressRequest, 'address' | 'source'>[],
  ): Problem {
    const sources = [...new Set(asked.map(({ source }) => source))].join(' and ')
    const addresses = asked.map(({ address }) => formatAddress(address)).join(' and ')
    return new Problem(
      'IPK_ADDRESS_OUTSIDE',
      `${sources} asks for ${addresses}, which no pool has together: ${whatPoolsHave(pools)}`,
      { hint: 'name the pools, one per family: ipkeeper.io/pool; see: ipkeeperctl pools' },
    )
  },

  /** `given`: what the pod would get of that family. */
  gateway(claim: GatewayClaim, given: readonly { readonly pool: Pool; readonly range: Range }[]): Problem {
    const says = given.map(
      ({ pool, range }) => `the gateway of pool ${pool.name} is ${formatAddress(range.gateway)}`,
    )
    return new Problem(
      'IPK_GATEWAY_MISMATCH',
      `${claim.source} names gateway ${formatAddress(claim.address)}, but ${
        says.join(' and ') || `the pod gets no IPv${claim.address.family} address`
      }`,
    )
  },

  unusable(range: Range, rangeSet: number, asked: AddressRequest): Problem | undefined {
    const address = formatAddress(asked.address)
    const { prefixLength } = range.subnet
    if (asked.prefixLength !== undefined && asked.prefixLength !== prefixLength) {
      return new Problem(
        'IPK_PREFIX_MISMATCH',
        `${asked.source} asks for ${address}/${asked.prefixLength}, but the prefix length of its subnet is /${prefixLength}`,
        { hint: `write ${address} or ${address}/${prefixLength}` },
      )
    }
    const reason = unusableReason(range, asked.address)
    if (reason === undefined) return undefined
    if (asked.channel === 'cni' && reason === 'the gateway') {
      return new Problem(
        'IPK_ADDRESS_UNUSABLE',
        `failed to allocate for range ${rangeSet}: requested ip ${address} is subnet's gateway`,
        { details: `asked by ${asked.source}` },
      )
    }
    return new Problem(
      'IPK_ADDRESS_UNUSABLE',
      `${asked.source} asks for ${address}, which is ${reason}${reason === 'excluded' ? '' : ` of ${formatCidr(range.subnet)}`}`,
    )
  },
}

/** How it stands with what is in the way; `byTime`: with a takeover by time. */
interface Judged {
  readonly standing: Standing
  readonly byTime: string | undefined
}

/** A request by name, and the range set that it is asked of. */
export interface AskedOfPool {
  readonly pool: Pool
  readonly rangeSet: number
  readonly asked: AddressRequest
}

/** Requests that the present state does not allow. */
export const claimProblem = {
  alreadyAdded(existing: AttachmentRecord, leases: readonly LeaseRecord[]): Problem {
    const [lease] = leases
    const { delegatedTo } = existing
    const message = lease
      ? `failed to allocate for range ${lease.rangeSet}: ${lease.address} has been allocated to ${existing.containerId}, duplicate allocation is not allowed`
      : delegatedTo !== undefined
        ? `container ${existing.containerId} interface ${existing.ifname} was added before, with an address of fallback ${delegatedTo}`
        : `container ${existing.containerId} interface ${existing.ifname} was added before; its address has moved to a newer sandbox of ${describeHolder(existing.holder)}`
    return new Problem('IPK_ALREADY_ADDED', message, { details: `added at ${formatTime(existing.since)}` })
  },

  fallbackClash(fallback: string, address: string, why: string): Problem {
    return new Problem('IPK_FALLBACK_CLASH', `fallback ${fallback} gave ${address}, but ${why}`)
  },

  /** `leases`: what the older sandbox has; none when a fallback gave it its addresses. */
  holderLive(
    request: AddRequest,
    old: AttachmentRecord,
    leases: readonly LeaseRecord[],
    { standing, byTime }: Judged,
  ): Problem {
    const uid = old.podUid === null ? 'without UID' : `UID ${old.podUid}`
    const who = `${describeHolder(request.holder)}${isAllocation(request.holder) ? '' : ` (${uid})`}`
    const where = `on node ${old.node} in container ${old.containerId.slice(0, 13)}`
    const has =
      leases.length === 0
        ? `an older pod ${who} still runs`
        : `${leases.map(lease => lease.address).join(' and ')} ${leases.length === 1 ? 'is' : 'are'} still held by ${who}`
    return new Problem('IPK_HOLDER_LIVE', `${has} ${where}`, whatToDoAboutSandbox(old, standing, byTime))
  },

  held(
    { pool, rangeSet, asked }: AskedOfPool,
    lease: LeaseRecord,
    { holder, workload }: { readonly holder: Holder; readonly workload: Workload | null },
    // Before there is a pod, nobody asks what became of a sandbox.
    { standing, byTime }: Judged = { standing: unjudged(lease), byTime: undefined },
  ): Problem {
    const address = formatAddress(asked.address)
    const text = `held by ${describeLease(lease)}; ${whenFree(lease, standing)}`
    const own = sameWorkload(lease.workload, workload)
    const older =
      own &&
      workload !== null &&
      lease.state === 'bound' &&
      ['in-use', 'elsewhere'].includes(standing.kind) &&
      holder.kind === 'pod' &&
      bearsGeneratedName(holder.name, workload)
    const code = older
      ? 'IPK_CANDIDATES_BUSY'
      : lease.until !== null
        ? 'IPK_ADDRESS_KEPT'
        : 'IPK_ADDRESS_HELD'
    const way = older
      ? `${letOlderPodsGo(workload)}${otherwise(standing)}`
      : own
        ? oneForEachPod(lease, asked, standing)
        : howToHaveIt(lease, standing)
    const hint = `${way}; see: ipkeeperctl leases`
    const waiting = older && standing.kind === 'elsewhere' ? [describeWaiting(standing, byTime)] : []
    return asked.channel === 'cni'
      ? new Problem(code, inReferenceWords(pool, rangeSet, asked), {
          details: [`${address} is ${text}`, ...waiting].join('; '),
          hint,
        })
      : new Problem(code, `${asked.source} asks for ${address}, which is ${text}`, {
          details: waiting.join(''),
          hint,
        })
  },

  /** The node itself has the address. */
  ofNode(pool: Pool, rangeSet: number, asked: AddressRequest, own: OwnAddress, node: string): Problem {
    const hint = howToPartFromNode(pool, own)
    const text = `${asked.source} asks for ${formatAddress(asked.address)}, but ${hasItself(node, own)}`
    return asked.channel === 'cni'
      ? new Problem('IPK_ADDRESS_OF_NODE', inReferenceWords(pool, rangeSet, asked), { details: text, hint })
      : new Problem('IPK_ADDRESS_OF_NODE', text, { hint })
  },

  /** The node itself has an address that is kept for the pod. */
  keptOfNode(pool: Pool, { address, holder }: LeaseRecord, own: OwnAddress, node: string): Problem {
    return new Problem(
      'IPK_ADDRESS_OF_NODE',
      `${address} is that of ${describeHolder(holder)}, but ${hasItself(node, own)}`,
      { hint: howToPartFromNode(pool, own) },
    )
  },

  reserved(pool: Pool, rangeSet: number, asked: AddressRequest, reservation: ReservationRecord): Problem {
    const address = formatAddress(asked.address)
    const text = `reserved for ${describeReservation(reservation)}${describeNote(reservation)}`
    const hint = `choose another address, or: ${unreserveLine(reservation)}`
    return asked.channel === 'cni'
      ? new Problem('IPK_ADDRESS_RESERVED', inReferenceWords(pool, rangeSet, asked), {
          details: `${address} is ${text}`,
          hint,
        })
      : new Problem('IPK_ADDRESS_RESERVED', `${asked.source} asks for ${address}, which is ${text}`, { hint })
  },

  /** An address that was asked for by name. */
  draining(pool: Pool, rangeSet: number, asked: AddressRequest): Problem {
    const address = formatAddress(asked.address)
    const text = `in a range of pool ${pool.name} that is draining: no new pod gets an address of it`
    return asked.channel === 'cni'
      ? new Problem('IPK_POOL_DRAINING', inReferenceWords(pool, rangeSet, asked), {
          details: `${address} is ${text}`,
        })
      : new Problem('IPK_POOL_DRAINING', `${asked.source} asks for ${address}, which is ${text}`)
  },

  drained(pool: Pool, rangeSet: number): Problem {
    const set = formatRangeSet(pool.rangeSets[rangeSet] ?? [])
    return new Problem(
      'IPK_POOL_DRAINING',
      `failed to allocate for range ${rangeSet}: no IP addresses available in range set: ${set}`,
      { details: `pool ${pool.name} is draining: no new pod gets an address of it` },
    )
  },

  poolFull(book: AddressBook, pool: Pool, rangeSet: number, now: number): Problem {
    const set = pool.rangeSets[rangeSet] ?? []
    const usage = usageOf(book, { ...pool, rangeSets: [set] }, now)
    const holders = new Map<string, number>()
    for (const lease of book.leasesWithin(pool.segment, set)) {
      if (lease.state === 'cooling') continue
      const who =
        lease.namespace === null ? 'containers without a pod name hold' : `namespace ${lease.namespace} holds`
      holders.set(who, (holders.get(who) ?? 0) + 1)
    }
    const most = [...holders].sort((a, b) => b[1] - a[1])[0]
    const byMost = most ? `; ${most[0]} most (${most[1]})` : ''
    return new Problem(
      'IPK_POOL_FULL',
      `failed to allocate for range ${rangeSet}: no IP addresses available in range set: ${formatRangeSet(set)}`,
      {
        details: `pool ${pool.name} is full: ${usage.capacity} addresses, ${usage.used} in use, ${usage.held} kept or reserved${byMost}${
          set.some(({ draining }) => draining) ? '; a range of it is draining' : ''
        }`,
      },
    )
  },
}

/** A candidate that a pod cannot have, and what is in the way. */
export type TakenAddress = { readonly address: Address } & (
  | {
      readonly lease: LeaseRecord
      readonly standing?: Standing
      readonly reservation?: undefined
      readonly own?: undefined
    }
  | { readonly lease?: undefined; readonly reservation: ReservationRecord; readonly own?: undefined }
  | { readonly lease?: undefined; readonly reservation?: undefined; readonly own: OwnAddress }
  | {
      readonly lease?: undefined
      readonly reservation?: undefined
      readonly own?: undefined
      readonly drains: true
    }
)

/** "held by shop/web-0 ..."; `until`: with the moment at which it comes free. */
function whoHas(taken: TakenAddress, until: boolean): string {
  const { lease, reservation } = taken
  if (reservation) return `reserved for ${describeReservation(reservation)}`
  if (!lease)
    return taken.own ? `the node's own, on link ${taken.own.link}` : 'by no pod, but its range is draining'
  const who = describeLease(lease)
  return until ? `held by ${who}; ${whenFree(lease, taken.standing ?? unjudged(lease))}` : `by ${who}`
}

export function describeTaken(taken: TakenAddress): string {
  return whoHas(taken, true)
}

/** Lists of candidates that do not serve a pod. */
export const candidateProblem = {
  none(pool: Pool, list: CandidateList): Problem {
    return new Problem(
      'IPK_ADDRESS_UNUSABLE',
      `${list.source} lists ${clipped(formatCandidates(list))}, of which pool ${pool.name} can give none`,
      { details: 'network, broadcast and gateway addresses and exclusions are never given' },
    )
  },

  beyond(
    { holder, owner }: Pick<AddRequest, 'holder' | 'owner'>,
    list: CandidateList,
    { ordinal, index }: { readonly ordinal: number; readonly index: number },
    count: bigint,
  ): Problem {
    const start = ordinal - index
    const base = start === 0 ? '' : ` (spec.ordinals.start ${start})`
    return new Problem(
      'IPK_ORDINAL_BEYOND_LIST',
      `pod ${describeHolder(holder)} has ordinal ${ordinal}${base}, but ${list.source} lists ${count} ${
        count === 1n ? 'address' : 'addresses'
      } (${clipped(formatCandidates(list))})`,
      owner
        ? {}
        : { details: 'a name that ends in "-N" is taken for the Nth pod of a StatefulSet; the first is 0' },
    )
  },

  /**
   * All candidates are taken, in their order. Waiting helps when one of them comes free by itself, or when a pod of the same
   * workload has it; not when it is reserved for somebody else.
   */
  taken(
    list: CandidateList,
    taken: readonly TakenAddress[],
    workload: Workload | null,
    byTime: (lease: LeaseRecord) => string | undefined = () => undefined,
  ): Problem {
    const leases = taken.flatMap(({ lease }) => lease ?? [])
    const own =
      workload !== null &&
      leases.some(lease => lease.state === 'bound' && sameWorkload(lease.workload, workload))
    const busy = own || leases.some(({ until }) => until !== null)
    const shown = taken.slice(0, 5).map(one => `${formatAddress(one.address)} ${whoHas(one, false)}`)
    const more = taken.length > shown.length ? ` and ${taken.length - shown.length} more` : ''
    const which = taken.length === 1 ? 'its one address is' : `all ${taken.length} addresses are`
    // Of older pods on other nodes the first one stands for all.
    const [elsewhere] = taken.flatMap(one =>
      one.lease && one.standing?.kind === 'elsewhere' && sameWorkload(one.lease.workload, workload)
        ? [{ lease: one.lease, standing: one.standing }]
        : [],
    )
    const way = own
      ? `${letOlderPodsGo(workload)}${elsewhere ? otherwise(elsewhere.standing) : ''}`
      : 'add addresses to the list, or free one of them'
    return new Problem(
      busy ? 'IPK_CANDIDATES_BUSY' : 'IPK_CANDIDATES_TAKEN',
      `${list.source} lists ${clipped(formatCandidates(list))}, and ${which} taken: ${shown.join(', ')}${more}`,
      {
        ...(elsewhere && { details: describeWaiting(elsewhere.standing, byTime(elsewhere.lease)) }),
        hint: `${way}; see: ipkeeperctl leases`,
      },
    )
  },
}

/** A namespace that has as many addresses of a pool as it may. */
export function quotaProblem({
  pool,
  namespace,
  family,
  has,
  quota,
}: {
  readonly pool: Pool
  readonly namespace: string
  readonly family: Family
  readonly has: number
  readonly quota: number
}): Problem {
  const addresses = quota === 1 ? 'address' : 'addresses'
  return new Problem(
    'IPK_QUOTA',
    `namespace ${namespace} may have ${quota} IPv${family} ${addresses} of pool ${pool.name}, and has ${has}`,
  )
}
