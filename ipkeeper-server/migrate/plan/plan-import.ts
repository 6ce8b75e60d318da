import type { FoundAllocation, ImportVerdict } from '../../../shared/api/import.schema.ts'
import { containerIdFault, interfaceNameFault, networkNameFault } from '../../../shared/cni/identifiers.ts'
import { formatAddress, parseAddress, type Address } from '../../../shared/net/address.ts'
import { cidrContains, formatCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { AddressBook } from '../../ipam/pools/address-book.ts'
import { isFree } from '../../ipam/choose/choose-address.ts'
import { unreserveCommand } from '../../ipam/choose/claim-problems.ts'
import { formatTime } from '../../ipam/records/times.ts'
import type { NetnsState } from '../../ipam/records/standing.ts'
import { dropFormerHolders, writeAttachment, writeHolder, writeLease } from '../../ipam/plan/record-writes.ts'
import { planNetworkPool } from '../../ipam/plan/plan-network-pool.ts'
import { policyOf, type PoolBook } from '../../ipam/pools/pool-settings.ts'
import { isUsable, unusableReason, type Pool, type Range } from '../../ipam/pools/pool.ts'
import { reservedRetention } from '../../ipam/records/reservation-owner.ts'
import { retains, type Retention } from '../../ipam/records/retention.ts'
import {
  attachmentKey,
  describeHolder,
  describeReservation,
  holderKey,
  isReservedFor,
  leaseKey,
  sameAttachment,
  type AttachmentKey,
  type AttachmentRecord,
  type Change,
  type Holder,
  type LeaseKey,
  type LeaseRecord,
  type PoolRecord,
  type Workload,
  type Write,
} from '../../ipam/records/records.ts'
import { workloadOf } from '../../ipam/records/workload.ts'
import type { Owner } from '../../ipam/records/pod-facts.ts'
import {
  attachmentElsewhere,
  newAttachment,
  newLease,
  ofSandbox,
  undoEntry,
} from '../../ipam/records/new-records.ts'

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

export interface ImportTerms {
  readonly source: string
  readonly segment: string
  /** undefined: as pools, reservations and what was found say. */
  readonly retain: Retention | undefined
  /** Ranges that network configurations give their networks, or why they cannot be read. */
  readonly networks: ReadonlyMap<string, Pool | Problem>
  readonly pools: PoolBook
  /** The pool that a record remembers. Every allocation is looked for in every pool: each should be parsed once. */
  readonly poolOf: (record: PoolRecord) => Pool
  readonly node: string
  readonly bootId: string
  readonly now: number
  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly monotonic: number
  readonly namespaceAt: (path: string) => NetnsState
  readonly ownerOf: (holder: Holder, podUid: string | null) => Owner | null | undefined
}

/** What becomes of one allocation; `hint` '' where there is nothing to do. */
export interface ImportDecision {
  readonly verdict: ImportVerdict
  readonly as: 'bound' | 'held' | null
  readonly pool: string | null
  readonly reason: string
  readonly hint: string
}

/** One decision for each member of the group, and the writes of those that are adopted. */
export interface ImportPlan {
  readonly decisions: readonly ImportDecision[]
  readonly change: Change
}

interface Place {
  readonly at: LeaseKey
  readonly pool: Pool
  readonly index: number
  readonly range: Range
  /** Whether the pool has to be remembered with the lease. */
  readonly inline: boolean
}

const decided = (
  verdict: ImportVerdict,
  reason: string,
  { hint = '', pool = null }: { hint?: string; pool?: string | null } = {},
): ImportDecision => ({ verdict, as: null, pool, reason, hint })

const whoHint = ({ address, segment }: LeaseKey): string =>
  `see: ipkeeperctl who ${address}${segment === 'default' ? '' : ` --segment ${segment}`}`

/** Canonical text of an address, which is a part of keys; the text itself where it is none. */
function canonical(text: string): string {
  const address = parseAddress(text)
  return address ? formatAddress(address) : text
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
        ? { text: 'nothing tells which network it is of', hint: 'name it: --network NAME' }
        : containerId === null && pod === null
          ? { text: 'nothing tells whose it is', hint: '' }
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
      why: `cannot tell whether its container lives: the daemon sees no namespace at ${netns}${why}`,
      hint: `let the daemon see it (mount /run/netns of the node), or if the container is no more, remove ${origin}`,
    }
  }
  if (runtime !== 'absent' || (containerId === null && found.keeps)) return { kind: 'may-live' }
  const what = containerId === null ? 'a sandbox of its pod' : `container ${containerId.slice(0, 13)}`
  const why = `no runtime of this node lists ${what}, and no result of it is cached`
  if (pod) return { kind: 'gone', why }
  return {
    kind: 'untold',
    why: `cannot tell whether it lives: ${why}; but not all that make containers have such a list`,
    hint: `if it is no more (nerdctl ps, podman ps), remove ${origin}, and run this again`,
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
    : decided('unfit', 'nothing on this node tells of its container', {
        hint: 'let ipkeeperctl ask the container runtime: see "runtime" in ipkeeperctl doctor',
      })
}

/** The place of an address: in a pool of the configuration or the API, else in the ranges of its network. */
function findPlace(
  book: AddressBook,
  terms: ImportTerms,
  network: string,
  address: Address,
): Place | ImportDecision {
  const at = { segment: terms.segment, address: formatAddress(address) }
  const own = terms.networks.get(network)
  const records = [...book.pools()].filter(({ segment }) => segment === terms.segment)
  const candidates = [
    ...records
      .filter(({ origin }) => origin !== undefined)
      .map(record => ({ pool: terms.poolOf(record), inline: false })),
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
const isOf = (lease: LeaseRecord, holder: Holder): boolean => holderKey(lease.holder) === holderKey(holder)

/** Why an address cannot be had here; undefined when it can. */
function refusal(
  book: AddressBook,
  terms: ImportTerms,
  { holder, key, workload }: FoundGroup & { readonly workload: Workload | null },
  at: LeaseKey,
): ImportDecision | undefined {
  const lease = book.lease(at)
  if (lease && !isFree(lease, terms.now)) {
    if (lease.state === 'bound' && key && sameAttachment(lease.attachment, key))
      return decided('ours', 'it is bound to this container already', { pool: lease.pool })
    if (isOf(lease, holder) && (lease.state === 'bound' || !key))
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
  if (reservation && !isReservedFor(reservation, holder, workload)) {
    return decided('conflict', `it is reserved for ${describeReservation(reservation)}`, {
      hint: `if that is no longer so: ${unreserveCommand(at)}`,
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
interface GroupContext {
  readonly book: AddressBook
  readonly terms: ImportTerms
  readonly claims: Claims
  readonly group: FoundGroup
  readonly workload: Workload | null
  /** The attachment that the ledger has under the group's key. */
  readonly present: AttachmentRecord | undefined
  /** What the holder has or keeps besides. */
  readonly besides: LeaseRecord | undefined
  /** By range set: the address that the container has of it, or that is kept for the pod, or is to be. */
  readonly taken: Map<string, string>
}

function contextOf(
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
  return {
    ...{ book, terms, claims, group },
    workload: workloadOf(holder, podUid, terms.ownerOf(holder, podUid)),
    present: key ? book.attachment(key) : undefined,
    // With what is found, it would have two addresses.
    besides: key
      ? keptFor(book, holder, now).find(lease => !keys.has(leaseKey(lease)))
      : hasSandbox(book, holder),
    taken: new Map(
      (key ? book.leasesOf(key) : keptFor(book, holder, now)).map(lease => [slotOf(lease), lease.address]),
    ),
  }
}

const slotOf = ({ pool, rangeSet }: Pick<LeaseRecord, 'pool' | 'rangeSet'>): string => `${pool} ${rangeSet}`

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
type PlacedObjection = (context: GroupContext, place: Place) => ImportDecision | undefined

const hadByOthers: PlacedObjection = ({ book, terms, group, workload }, { at }) =>
  refusal(book, terms, { ...group, workload }, at)

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
        state === 'held' ? `let go of the one it has not: ipkeeperctl release ${address}` : whoHint(besides),
      pool: pool.name,
    },
  )
}

const twoOfOneRangeSet: PlacedObjection = ({ taken, group: { key, holder } }, { pool, index }) => {
  const earlier = taken.get(slotOf({ pool: pool.name, rangeSet: index }))
  if (earlier === undefined) return undefined
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
function placeFor(context: GroupContext, found: FoundAllocation): Place | ImportDecision {
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

function adoption({ key, holder }: FoundGroup, pool: string): ImportDecision {
  const who = describeHolder(holder)
  const bound = (containerId: string): string =>
    `bound to container ${containerId.slice(0, 13)}${holder.kind === 'pod' ? ` of ${who}` : ''}`
  return key
    ? { verdict: 'adopt', as: 'bound', pool, reason: bound(key.containerId), hint: '' }
    : { verdict: 'adopt', as: 'held', pool, reason: `kept for ${who}`, hint: '' }
}

/** Remembers the ranges of networks that leases were adopted from; a Problem where other pools are in the way. */
function rememberNetworks(book: AddressBook, places: readonly Place[]): Change | Problem {
  const inline = new Set(places.filter(place => place.inline).map(({ pool }) => pool))
  try {
    return [...inline].flatMap(pool => planNetworkPool(book, pool))
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/**
 * Decides what becomes of the addresses that were found with one sandbox, or kept for one pod. Pure; nothing in the ledger that
 * is in use is changed. After the writes an ADD, a DEL and the sweeper find what an ADD would have left: the holder is the one
 * that an ADD of that sandbox would make, and it is never undone.
 */
export function planImport(
  book: AddressBook,
  found: readonly FoundAllocation[],
  group: FoundGroup,
  terms: ImportTerms & { readonly claims: Claims },
): ImportPlan {
  const context = contextOf(book, found, group, terms)
  const { key } = group
  const members = group.members.flatMap(index => found[index] ?? [])
  const places: Place[] = []
  const leases: LeaseRecord[] = []
  let netnsInode: string | null = null
  const decisions = members.map(one => {
    const place = placeFor(context, one)
    if ('verdict' in place) return place
    const lease = adopted(context, one, place)
    context.taken.set(slotOf(lease), lease.address)
    places.push(place)
    leases.push(lease)
    const state = one.netns === null ? undefined : terms.namespaceAt(one.netns)
    if (state?.kind === 'namespace') netnsInode ??= state.inode
    return adoption(group, lease.pool)
  })
  if (leases.length === 0) return { decisions, change: [] }
  const pools = rememberNetworks(book, places)
  if (pools instanceof Problem) {
    const { message, hint } = pools
    const refused = (decision: ImportDecision): ImportDecision =>
      decision.verdict === 'adopt' ? decided('unfit', message, { hint }) : decision
    return { decisions: decisions.map(refused), change: [] }
  }
  const netns = members.flatMap(one => one.netns ?? [])[0] ?? ''
  return {
    decisions,
    change: [
      ...pools,
      ...leases.map(lease => writeLease(book, lease)),
      ...dropFormerHolders(book, leases),
      writeOwner(context, leases),
      ...(key ? [writeSandbox(context, key, leases, { netns, netnsInode })] : []),
    ],
  }
}

/** When an address was given; a clock that was set back must not make that a time to come. */
const sinceOf = (since: number, now: number): number => (since === 0 ? now : Math.min(since, now))

/** The lease as an ADD would have left it, or as that sandbox's DEL would have. */
function adopted(
  { book, terms, group, workload }: GroupContext,
  found: FoundAllocation,
  place: Place,
): LeaseRecord {
  const { source, node, pools, retain, now } = terms
  const { holder, podUid, key } = group
  const { pool, index, range, at } = place
  const reservation = book.reservation(at)
  const usual = reservedRetention(reservation, holder, workload) ?? policyOf(pools, pool.name).retention
  const kept = retain ?? (found.keeps && !retains(usual) ? 'while-owner-exists' : usual)
  return newLease(
    book.lease(at),
    {
      ...{ ...at, pool: pool.name, rangeSet: index, prefixLength: range.subnet.prefixLength },
      gateway: formatAddress(range.gateway),
    },
    {
      ...{ holder, podUid, node, workload, attachment: key, named: false, source: `import ${source}` },
      // What no sandbox has is either kept or not adopted at all.
      retain: key === null && !retains(kept) ? 'while-owner-exists' : kept,
      mac: found.mac,
      since: key ? sinceOf(found.since ?? 0, now) : now,
    },
  )
}

/**
 * The holder with what it was found to have. One that has a newer sandbox keeps what it has, and is written all the same: should
 * that sandbox not get through to the store, this one must not either.
 */
function writeOwner({ book, terms, group }: GroupContext, leases: readonly LeaseRecord[]): Write {
  const { node, now } = terms
  const { holder, podUid, key, since } = group
  const present = book.holder(holder)
  const current = present?.attachment ?? null
  const same = current === null || (key !== null && sameAttachment(current, key))
  const newer = key !== null && present?.sandbox !== undefined && since > present.sandbox.since
  if (present && !same && !newer) return writeHolder(present, holder, present, present.leases)
  const others = same ? (present?.leases ?? []) : []
  const has = new Set(leases.map(leaseKey))
  const sandbox = key && { ...key, node, podUid, since: sinceOf(since, now) }
  return writeHolder(present, holder, ofSandbox(sandbox), [
    ...others.filter(other => !has.has(leaseKey(other))),
    ...leases,
  ])
}

function writeSandbox(
  { terms, group, present }: GroupContext,
  key: AttachmentKey,
  leases: readonly LeaseRecord[],
  sandbox: Pick<AttachmentRecord, 'netns' | 'netnsInode'>,
): Write {
  const { node, bootId, now, monotonic } = terms
  const { holder, podUid, since } = group
  const owner = { holder, podUid, node }
  const known = present ?? {
    ...attachmentElsewhere(key, { ...owner, since: sinceOf(since, now) }),
    ...sandbox,
  }
  const { netns, netnsInode, invocationId, startedAt, wiring, madeBy, undo } = known
  const record = newAttachment((present?.generation ?? 0) + 1, key, {
    ...{ ...owner, bootId, netns, netnsInode, invocationId, startedAt, since: known.since },
    // A GC whose list is older does not know what this import has found.
    answeredAt: Math.floor(monotonic * 1000),
    ...(wiring && { wiring }),
    ...(madeBy !== undefined && { madeBy }),
    undo: { ...undo, leases: [...undo.leases, ...leases.map(lease => undoEntry(lease, null))] },
  })
  return writeAttachment(present, key, record)
}
