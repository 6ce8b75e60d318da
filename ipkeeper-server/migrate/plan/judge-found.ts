import type { FoundAllocation } from '../../../shared/api/import.schema.ts'
import { formatAddress, parseAddress, type Address } from '../../../shared/net/address.ts'
import { cidrContains, formatCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import type { AddressBook } from '../../ipam/pools/address-book.ts'
import { isFree } from '../../ipam/choose/choose-address.ts'
import { unreserveLine } from '../../ipam/choose/claim-problems.ts'
import { formatTime } from '../../ipam/records/times.ts'
import { isUsable, unusableReason, type Pool, type Range } from '../../ipam/pools/pool.ts'
import {
  describeHolder,
  describeReservation,
  holderKey,
  isReservedFor,
  leaseKey,
  sameAttachment,
  type AttachmentRecord,
  type Holder,
  type LeaseKey,
  type LeaseRecord,
  type Workload,
} from '../../ipam/records/records.ts'
import { workloadOf } from '../../ipam/records/workload.ts'
import { type ImportTerms, type ImportDecision, decided, canonical } from './import-decision.ts'
import type { FoundGroup, Claims } from './group-found.ts'

export interface ImportPlace {
  readonly at: LeaseKey
  readonly pool: Pool
  readonly index: number
  readonly range: Range
  /** Whether the pool has to be remembered with the lease. */
  readonly inline: boolean
}

const whoHint = ({ address, segment }: LeaseKey): string =>
  `see: ipkeeperctl who ${address}${segment === 'default' ? '' : ` --segment ${shellWord(segment)}`}`

/** Whether a container lives, as far as it can be told. */
type Fate =
  | { readonly kind: 'may-live' }
  | { readonly kind: 'gone'; readonly why: string }
  | { readonly kind: 'untold'; readonly why: string; readonly hint: string }

/** What of a process's namespace is at its path depends on whose processes we see, and on how long the number was its. */
const isOfProcess = (path: string): boolean => path.startsWith('/proc/')

/** Gone only where that is proved: a wrong "gone" has the address of a living container given to another one. */
export function fateOf(found: FoundAllocation, namespaceAt: ImportTerms['namespaceAt']): Fate {
  const { containerId, netns, origin, pod, runtime } = found
  if (runtime === 'listed') return { kind: 'may-live' }
  if (netns !== null) {
    const state = namespaceAt(netns)
    if (state.kind === 'namespace') return { kind: 'may-live' }
    if (state.kind === 'absent' && !isOfProcess(netns))
      return { kind: 'gone', why: `its namespace ${netns} is gone` }
    const why = state.kind === 'unreadable' ? ` (${state.reason})` : ''
    return {
      kind: 'untold',
      why: `cannot determine whether its container is running: the daemon sees no namespace at ${netns}${why}`,
      hint: `let the daemon see it (mount /run/netns of the node), or, if the container no longer exists, remove ${origin}`,
    }
  }
  if (runtime !== 'absent' || (containerId === null && found.keeps)) return { kind: 'may-live' }
  const what = containerId === null ? 'a sandbox of its pod' : `container ${containerId.slice(0, 13)}`
  const why = `no runtime of this node lists ${what}, and no result of it is cached`
  if (pod) return { kind: 'gone', why }
  return {
    kind: 'untold',
    why: `cannot determine whether it is running: ${why}, but not every tool that runs containers has such a list`,
    hint: `if it no longer exists (nerdctl ps, podman ps), remove ${origin}, and run this again`,
  }
}

/** Why it cannot be known whether the container is one of this node; undefined when it is. */
function whyUntold(
  { containerId, keeps, runtime }: FoundAllocation,
  { source }: ImportTerms,
): ImportDecision | undefined {
  const known = containerId === null ? keeps : runtime !== 'unknown' || source === 'host-local'
  return known
    ? undefined
    : decided('unfit', 'nothing is known of its container on this node', {
        hint: 'let ipkeeperctl ask the container runtime: see "runtime" in ipkeeperctl doctor',
      })
}

/** The place of an address: in a pool of the configuration or the API, else in the ranges of its network. */
function findPlace(
  book: AddressBook,
  terms: ImportTerms,
  network: string,
  address: Address,
): ImportPlace | ImportDecision {
  const at = { segment: terms.segment, address: formatAddress(address) }
  const own = terms.networks.get(network)
  const records = [...book.pools()].filter(({ segment }) => segment === terms.segment)
  const candidates = [
    ...records
      .filter(({ origin }) => origin !== undefined)
      .map(record => ({ pool: terms.poolOf(record), inline: false })),
    // The record of a pool may be lost, or older than what the configuration says, and is written again once this node is through.
    ...terms.pools.pools
      .filter(({ pool }) => pool.segment === terms.segment)
      .map(({ pool }) => ({ pool, inline: false })),
    ...(own && !(own instanceof Problem) && own.segment === terms.segment
      ? [{ pool: own, inline: true }]
      : []),
    ...records
      .filter(({ origin, name }) => origin === undefined && name !== own?.name)
      .map(record => ({ pool: terms.poolOf(record), inline: false })),
  ]
  let unusable: ImportDecision | undefined
  for (const { pool, inline } of candidates) {
    for (const [index, set] of pool.rangeSets.entries()) {
      for (const range of set) {
        if (!cidrContains(range.subnet, address)) continue
        if (isUsable(range, address)) return { at, pool, index, range, inline }
        const why = unusableReason(range, address) ?? 'excluded'
        unusable ??= decided('unfit', `in pool ${pool.name} it is ${why} of ${formatCidr(range.subnet)}`, {
          pool: pool.name,
          hint: `change the ranges of pool ${pool.name}, or delete the pod`,
        })
      }
    }
  }
  if (unusable) return unusable
  if (own instanceof Problem) return decided('unfit', own.message, { hint: own.hint })
  return decided('unfit', `no pool of segment ${terms.segment} has it`, {
    hint: "add its range to a pool of the daemon's configuration, or give it: --subnet CIDR",
  })
}

/** Whether a lease is this holder's, in whatever sandbox. */
export const isOf = (lease: LeaseRecord, holder: Holder): boolean =>
  holderKey(lease.holder) === holderKey(holder)

/**
 * The lease that a sandbox has on this node by a record of its own, where the record of the sandbox is lost; of one that is proved to live here
 * also under another name of this node, as an older folder has it.
 */
export function leaseWithoutRecord(
  book: AddressBook,
  { node, supersedes }: ImportTerms,
  { key }: FoundGroup,
  at: LeaseKey,
): LeaseRecord | undefined {
  const lease = book.lease(at)
  const isHere = lease?.node === node || supersedes
  const isIts = isHere && lease?.state === 'bound' && key && sameAttachment(lease.attachment, key)
  return isIts && (book.attachment(key)?.generation ?? 0) === 0 ? lease : undefined
}

/** Whether a pod has got its address in a later sandbox than the one that has it by an older ledger, which lost it to that. */
function isSuperseded(
  book: AddressBook,
  { node, supersedes }: ImportTerms,
  { holder, key, since }: FoundGroup,
  lease: LeaseRecord,
): boolean {
  const { sandbox } = book.holder(holder) ?? {}
  return supersedes && key !== null && lease.node === node && sandbox !== undefined && since > sandbox.since
}

/** Why an address cannot be had here; undefined when it can. */
function refusal(
  book: AddressBook,
  terms: ImportTerms,
  group: FoundGroup & { readonly workload: Workload | null },
  at: LeaseKey,
): ImportDecision | undefined {
  const { holder, key, workload } = group
  const lease = book.lease(at)
  if (lease && !isFree(lease, terms.now)) {
    if (lease.state === 'bound' && key && sameAttachment(lease.attachment, key))
      return decided('ours', 'it is bound to this container already', { pool: lease.pool })
    const isTaken = lease.state === 'bound' && !isSuperseded(book, terms, group, lease)
    if (isOf(lease, holder) && (isTaken || !key))
      return decided('ours', `${describeHolder(holder)} has it already`, { pool: lease.pool })
    if (!isOf(lease, holder)) {
      const how = lease.state === 'bound' ? 'is bound to' : 'is kept for'
      return decided(
        'conflict',
        `it ${how} ${describeHolder(lease.holder)} on node ${lease.node} since ${formatTime(lease.since)}`,
        { hint: whoHint(at), pool: lease.pool },
      )
    }
  }
  const reservation = book.reservation(at)
  // Whoever is proved to live with it keeps it where it was moved, or promised while it was not on record (ADR 28).
  if (reservation && !terms.supersedes && !isReservedFor(reservation, holder, workload)) {
    return decided('conflict', `it is reserved for ${describeReservation(reservation)}`, {
      hint: `if that is no longer so: ${unreserveLine(at)}`,
    })
  }
  return undefined
}

function keptFor(book: AddressBook, holder: Holder, now: number): readonly LeaseRecord[] {
  return (book.holder(holder)?.leases ?? [])
    .flatMap(key => book.lease(key) ?? [])
    .filter(lease => lease.state === 'held' && isOf(lease, holder) && !isFree(lease, now))
}

/** What the holder has in a sandbox: nothing else is to be kept for it meanwhile. */
function hasSandbox(book: AddressBook, holder: Holder): LeaseRecord | undefined {
  const { attachment = null } = book.holder(holder) ?? {}
  return attachment ? book.leasesOf(attachment)[0] : undefined
}

/** What the decisions about one group stand on. */
export interface GroupContext {
  readonly book: AddressBook
  readonly terms: ImportTerms
  readonly claims: Claims
  readonly group: FoundGroup
  readonly workload: Workload | null
  /** The attachment that the ledger has under the group's key. */
  readonly present: AttachmentRecord | undefined
  /** What the holder has or keeps besides, in the way of what was found. */
  readonly besides: LeaseRecord | undefined
  /** What an older ledger keeps for the holder, whose living sandbox was given something else: that was released, or moved, since. */
  readonly outdated: readonly LeaseRecord[]
  /** By range set: the address that the container has of it, or that is kept for the pod, or is to be. */
  readonly taken: Map<string, string>
}

export function contextOf(
  book: AddressBook,
  found: readonly FoundAllocation[],
  group: FoundGroup,
  { claims, ...terms }: ImportTerms & { readonly claims: Claims },
): GroupContext {
  const { holder, podUid, key, members } = group
  const { segment, now } = terms
  const keys = new Set(
    members.map(index => leaseKey({ segment, address: canonical(found[index]?.address ?? '') })),
  )
  // With what is found, it would have two addresses.
  const keptBesides = key ? keptFor(book, holder, now).filter(lease => !keys.has(leaseKey(lease))) : []
  return {
    ...{ book, terms, claims, group },
    outdated: terms.supersedes ? keptBesides : [],
    workload: workloadOf(holder, podUid, terms.ownerOf(holder, podUid)),
    present: key ? book.attachment(key) : undefined,
    besides: key ? (terms.supersedes ? undefined : keptBesides[0]) : hasSandbox(book, holder),
    taken: new Map(
      (key ? book.leasesOf(key) : keptFor(book, holder, now)).map(lease => [slotOf(lease), lease.address]),
    ),
  }
}

export const slotOf = ({ pool, rangeSet }: Pick<LeaseRecord, 'pool' | 'rangeSet'>): string =>
  `${pool} ${rangeSet}`

/** What speaks against an allocation before it is looked up in any pool. */
type Objection = (context: GroupContext, found: FoundAllocation, at: LeaseKey) => ImportDecision | undefined

const ofOtherNode: Objection = ({ terms }, { node }) =>
  node !== null && node !== terms.node
    ? decided('elsewhere', `it is of node ${node}`, { hint: 'run the same command there' })
    : undefined

const notProvedAlive: Objection = ({ terms }, found) => {
  const fate = fateOf(found, terms.namespaceAt)
  if (fate.kind === 'gone') return decided('gone', fate.why)
  if (fate.kind === 'untold') return decided('unfit', fate.why, { hint: fate.hint })
  return whyUntold(found, terms)
}

const claimedByOthers: Objection = ({ claims }, found, { address }) => {
  const others = claims.get(address)?.filter(other => other !== found) ?? []
  if (others.length === 0) return undefined
  const where = others.map(({ origin }) => origin).join(', ')
  return decided('conflict', `another one claims it: ${where}`, {
    hint: 'delete all but one of these pods, and run this again',
  })
}

/** What speaks against an allocation that a pool could give. */
type PlacedObjection = (context: GroupContext, place: ImportPlace) => ImportDecision | undefined

const hadByOthers: PlacedObjection = ({ book, terms, group, workload }, { at }) =>
  leaseWithoutRecord(book, terms, group, at) ? undefined : refusal(book, terms, { ...group, workload }, at)

const containerOfAnotherPod: PlacedObjection = ({ present, group }, { at, pool }) =>
  present && holderKey(present.holder) !== holderKey(group.holder)
    ? decided(
        'conflict',
        `container ${present.containerId.slice(0, 13)} is known as ${describeHolder(present.holder)}`,
        { hint: whoHint(at), pool: pool.name },
      )
    : undefined

const hasAnotherAddress: PlacedObjection = ({ besides, group }, { pool }) => {
  if (!besides) return undefined
  const { address, state } = besides
  return decided(
    'conflict',
    `${describeHolder(group.holder)} ${state === 'held' ? 'keeps' : 'has'} ${address} already`,
    {
      hint:
        state === 'held'
          ? `release the one it does not use: ipkeeperctl release ${address}`
          : whoHint(besides),
      pool: pool.name,
    },
  )
}

const twoOfOneRangeSet: PlacedObjection = ({ taken, group: { key, holder } }, { at, pool, index }) => {
  const earlier = taken.get(slotOf({ pool: pool.name, rangeSet: index }))
  if (earlier === undefined || earlier === at.address) return undefined
  const ranges = `of the same ranges of pool ${pool.name}`
  return key
    ? decided('conflict', `its container has ${earlier} ${ranges}`, {
        hint: 'delete the pod: its next sandbox gets one address',
        pool: pool.name,
      })
    : decided('conflict', `${describeHolder(holder)} keeps ${earlier} ${ranges}`, {
        hint: `if this is the one to keep: ipkeeperctl release ${earlier}, and run this again`,
        pool: pool.name,
      })
}

/** In the order in which they are told. */
const objections: readonly Objection[] = [ofOtherNode, notProvedAlive, claimedByOthers]
const placedObjections: readonly PlacedObjection[] = [
  hadByOthers,
  containerOfAnotherPod,
  hasAnotherAddress,
  twoOfOneRangeSet,
]

function firstOf<T>(
  steps: readonly T[],
  ask: (step: T) => ImportDecision | undefined,
): ImportDecision | undefined {
  for (const step of steps) {
    const decision = ask(step)
    if (decision) return decision
  }
  return undefined
}

/** Where an allocation is adopted, or what speaks against it. */
export function placeFor(context: GroupContext, found: FoundAllocation): ImportPlace | ImportDecision {
  const { book, terms, group } = context
  const address = parseAddress(found.address)
  if (!address) return decided('unfit', `"${found.address}" is no IP address`)
  const at = { segment: terms.segment, address: formatAddress(address) }
  const objection = firstOf(objections, object => object(context, found, at))
  if (objection) return objection
  const place = findPlace(book, terms, group.holder.network, address)
  if ('verdict' in place) return place
  return firstOf(placedObjections, object => object(context, place)) ?? place
}
