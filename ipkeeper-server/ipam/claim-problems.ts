import { clipped } from '../../shared/json/fold.ts'
import { formatAddress, type Family } from '../../shared/net/address.ts'
import { formatCidr } from '../../shared/net/cidr.ts'
import { Problem } from '../../shared/problem/problem.ts'
import type { AddressBook } from './address-book.ts'
import type { AddRequest } from './add-request.ts'
import { formatRangeSet, unusableReason, type Pool, type Range } from './pool.ts'
import type { AddressRequest, CandidateList, GatewayClaim } from './request.ts'
import {
  describeHolder,
  describeReservation,
  type AttachmentRecord,
  type LeaseKey,
  type LeaseRecord,
  type ReservationRecord,
  type Workload,
} from './records.ts'
import { formatCandidates } from './candidate-list.ts'
import { usageOf } from './usage.ts'
import { describeWorkload, sameWorkload } from './workload.ts'

/**
 * The texts of refused ADDs. Requests by CNI's own channels keep host-local's message, which users and tests match
 * (golden cases of host-local); what ipkeeper knows beyond it goes into the details. Annotations are ours to word.
 */

/** ISO 8601 without fractions, UTC. */
function formatTime(time: number): string {
  return new Date(time).toISOString().replace(/\.[0-9]{3}Z$/, 'Z')
}

const ranges = (pool: Pool): string => pool.rangeSets.map(formatRangeSet).join(' and ')

/** "pool prod has 10.22.0.1-10.22.0.254", or the same of several. */
function whatPoolsHave(pools: readonly Pool[]): string {
  return [...new Set(pools)].map(pool => `pool ${pool.name} has ${ranges(pool)}`).join('; ')
}

const inReferenceWords = (pool: Pool, rangeSet: number, asked: AddressRequest): string =>
  `failed to allocate for range ${rangeSet}: requested IP address ${formatAddress(asked.address)} ` +
  `is not available in range set ${formatRangeSet(pool.rangeSets[rangeSet] ?? [])}`

/** What takes a reservation back. */
export function unreserveCommand({ address, segment }: LeaseKey): string {
  return `ipkeeperctl unreserve ${address}${segment === 'default' ? '' : ` --segment ${segment}`}`
}

/** "shop/web-0 on node worker-1 (container 3f2a91c0d1e2, since 2026-01-02T03:04:05Z)" */
function describeLease(lease: LeaseRecord): string {
  const container = lease.attachment ? `container ${lease.attachment.containerId.slice(0, 13)}, ` : ''
  const what = lease.state === 'held' ? 'kept by retention ' : ''
  return `${describeHolder(lease.holder)} on node ${lease.node} (${container}${what}since ${formatTime(lease.since)})`
}

function whenFree({ holder, state, until }: LeaseRecord): string {
  if (until !== null) return `it comes free at ${formatTime(until)}`
  return state === 'held'
    ? 'it does not come free by itself'
    : `it comes free when that ${holder.kind} is deleted`
}

/** A kept address has nobody left to delete: only a new pod of the same name can give it up. */
function howToHaveIt({ holder, state, until, network }: LeaseRecord): string {
  const who = describeHolder(holder)
  if (state !== 'held') return `choose another address for this pod, or delete ${who}`
  const ways = [
    ...(until === null ? [] : ['wait']),
    'choose another address',
    ...(holder.kind === 'pod'
      ? [`run a pod ${who} on network ${network} once with ipkeeper.io/retain: release and delete it`]
      : []),
  ]
  return `${who} is gone: ${ways.join(', or ')}`
}

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
    const which = [...new Set(pools)].map(pool => `pool ${pool.name} (${ranges(pool)})`).join(', ')
    return new Problem(
      'IPK_ADDRESS_OUTSIDE',
      `${source} asks for ${formatAddress(address)}, which is outside every range of ${which}`,
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

  holderLive(request: AddRequest, old: AttachmentRecord, leases: readonly LeaseRecord[]): Problem {
    const addresses = leases.map(lease => lease.address).join(', ')
    const holder = describeHolder(request.holder)
    const uid = old.podUid === null ? 'without UID' : `UID ${old.podUid}`
    return new Problem(
      'IPK_HOLDER_LIVE',
      `${addresses} is still held by ${holder} (${uid}) on node ${old.node} in container ${old.containerId.slice(0, 13)}`,
      {
        details: `its network namespace ${old.netns === '' ? '(none given)' : old.netns} is not proved gone`,
        hint:
          'wait until the old pod has stopped, or remove its sandbox: crictl stopp, crictl rmp; ' +
          'for a Deployment set strategy Recreate or maxSurge 0',
      },
    )
  },

  held(pool: Pool, rangeSet: number, asked: AddressRequest, lease: LeaseRecord): Problem {
    const address = formatAddress(asked.address)
    const text = `held by ${describeLease(lease)}; ${whenFree(lease)}`
    const code = lease.until !== null ? 'IPK_ADDRESS_KEPT' : 'IPK_ADDRESS_HELD'
    const hint = `${howToHaveIt(lease)}; see: ipkeeperctl leases`
    return asked.channel === 'cni'
      ? new Problem(code, inReferenceWords(pool, rangeSet, asked), {
          details: `${address} is ${text}`,
          hint,
        })
      : new Problem(code, `${asked.source} asks for ${address}, which is ${text}`, { hint })
  },

  reserved(pool: Pool, rangeSet: number, asked: AddressRequest, reservation: ReservationRecord): Problem {
    const address = formatAddress(asked.address)
    const note = reservation.note === '' ? '' : ` (${reservation.note})`
    const text = `reserved for ${describeReservation(reservation)}${note}`
    const hint = `choose another address, or: ${unreserveCommand(reservation)}`
    return asked.channel === 'cni'
      ? new Problem('IPK_ADDRESS_RESERVED', inReferenceWords(pool, rangeSet, asked), {
          details: `${address} is ${text}`,
          hint,
        })
      : new Problem('IPK_ADDRESS_RESERVED', `${asked.source} asks for ${address}, which is ${text}`, { hint })
  },

  poolFull(book: AddressBook, pool: Pool, rangeSet: number, now: number): Problem {
    const set = pool.rangeSets[rangeSet] ?? []
    const usage = usageOf(book, { ...pool, rangeSets: [set] }, now)
    const holders = new Map<string, number>()
    for (const lease of book.leasesWithin(pool.segment, set)) {
      if (lease.state === 'cooling') continue
      const who =
        lease.holder.kind === 'pod' ? `namespace ${lease.holder.namespace}` : 'containers without a pod name'
      holders.set(who, (holders.get(who) ?? 0) + 1)
    }
    const most = [...holders].sort((a, b) => b[1] - a[1])[0]
    const byMost = most ? `; ${most[0]} holds most (${most[1]})` : ''
    return new Problem(
      'IPK_POOL_FULL',
      `failed to allocate for range ${rangeSet}: no IP addresses available in range set: ${formatRangeSet(set)}`,
      {
        details: `pool ${pool.name} is full: ${usage.capacity} addresses, ${usage.used} in use, ${usage.held} kept or reserved${byMost}`,
      },
    )
  },
}

/** Who has a candidate that was passed over. */
export const describeTaken = {
  lease: (lease: LeaseRecord): string => `held by ${describeLease(lease)}; ${whenFree(lease)}`,
  reserved: (reservation: ReservationRecord): string => `reserved for ${describeReservation(reservation)}`,
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

  /** `leases`: who has them. Waiting helps when one of them comes free by itself, or the workload's own pod goes. */
  taken(
    list: CandidateList,
    count: bigint,
    leases: readonly LeaseRecord[],
    workload: Workload | null,
  ): Problem {
    const own = leases.filter(lease => sameWorkload(lease.workload, workload))
    const busy = own.length > 0 || leases.some(({ until }) => until !== null)
    const shown = leases.slice(0, 5).map(lease => `${lease.address} by ${describeLease(lease)}`)
    const more = leases.length > shown.length ? ` and ${leases.length - shown.length} more` : ''
    const which = count === 1n ? 'its one address' : `all ${count} addresses`
    const surge =
      own.length > 0 && workload
        ? `the older pods of ${describeWorkload(workload)} have them until they are gone: set maxSurge 0 or strategy Recreate, or list one address more`
        : 'add addresses to the list, or free one of them'
    return new Problem(
      busy ? 'IPK_CANDIDATES_BUSY' : 'IPK_CANDIDATES_TAKEN',
      `${list.source} lists ${clipped(formatCandidates(list))}, and ${which} ${count === 1n ? 'is' : 'are'} taken: ${shown.join(', ')}${more}`,
      { hint: `${surge}; see: ipkeeperctl leases` },
    )
  },
}

/** A namespace that has as many addresses of a pool as it may. */
export function quotaProblem(
  pool: Pool,
  namespace: string,
  family: Family,
  has: number,
  quota: number,
): Problem {
  return new Problem(
    'IPK_QUOTA',
    `namespace ${namespace} may have ${quota} IPv${family} addresses of pool ${pool.name}, and has ${has}`,
  )
}
