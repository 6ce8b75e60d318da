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
import { dropFormerHolders, ofAttachment, writeLease } from '../../ipam/plan/plan-del.ts'
import { planPool } from '../../ipam/plan/plan-network-pool.ts'
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
} from '../../ipam/records/records.ts'
import { workloadOf } from '../../ipam/records/workload.ts'
import type { Owner } from '../../ipam/records/pod-facts.ts'

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

/**
 * Addresses that several sandboxes or pods claim, with the origins of the claims. What is gone claims nothing.
 *
 * @param isGone whether the container of one is no more
 */
export function claimedTwice(
  found: readonly FoundAllocation[],
  isGone: (one: FoundAllocation) => boolean,
): ReadonlyMap<string, readonly FoundAllocation[]> {
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
        if (isUsable(range, address)) return { pool, index, range, inline }
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
  { holder, key }: FoundGroup,
  workload: Workload | null,
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

/** What the holder keeps beside what was found: it would have two addresses then. */
function keptBesides(
  book: AddressBook,
  holder: Holder,
  found: ReadonlySet<string>,
  now: number,
): LeaseRecord | undefined {
  return (book.holder(holder)?.leases ?? [])
    .flatMap(key => book.lease(key) ?? [])
    .find(
      lease =>
        lease.state === 'held' && isOf(lease, holder) && !isFree(lease, now) && !found.has(leaseKey(lease)),
    )
}

/** What the holder has in a sandbox: nothing else is to be kept for it meanwhile. */
function hasSandbox(book: AddressBook, holder: Holder): LeaseRecord | undefined {
  const { attachment = null } = book.holder(holder) ?? {}
  return attachment ? book.leasesOf(attachment)[0] : undefined
}

/**
 * Decides what becomes of the addresses that were found with one sandbox, or kept for one pod. Pure; nothing that anybody
 * has in the ledger is changed. After the writes an ADD, a DEL and the sweeper find what an ADD would have left: the holder is
 * the one that an ADD of that sandbox would make, and nobody undoes it.
 */
export function planImport(
  book: AddressBook,
  found: readonly FoundAllocation[],
  group: FoundGroup,
  claims: ReadonlyMap<string, readonly FoundAllocation[]>,
  terms: ImportTerms,
): ImportPlan {
  const { holder, podUid, key, members } = group
  const { segment, now } = terms
  const owner = terms.ownerOf(holder, podUid)
  const workload = workloadOf(holder, podUid, owner)
  const keys = new Set(
    members.map(index => leaseKey({ segment, address: canonical(found[index]?.address ?? '') })),
  )
  const besides = key ? keptBesides(book, holder, keys, now) : hasSandbox(book, holder)
  const present = key ? book.attachment(key) : undefined
  const taken = new Map(
    (key ? book.leasesOf(key) : []).map(lease => [`${lease.pool} ${lease.rangeSet}`, lease.address]),
  )
  const leases: LeaseRecord[] = []
  const inline = new Set<Pool>()
  let netnsInode: string | null = null

  const decide = (one: FoundAllocation): ImportDecision => {
    const address = parseAddress(one.address)
    if (!address) return decided('unfit', `"${one.address}" is no IP address`)
    const at = { segment, address: formatAddress(address) }
    if (one.node !== null && one.node !== terms.node)
      return decided('elsewhere', `it is of node ${one.node}`, { hint: 'run the same command there' })
    const fate = fateOf(one, terms.namespaceAt)
    if (fate.kind === 'gone') return decided('gone', fate.why)
    if (fate.kind === 'untold') return decided('unfit', fate.why, { hint: fate.hint })
    const untold = whyUntold(one, terms)
    if (untold) return untold
    const others = claims.get(at.address)?.filter(other => other !== one) ?? []
    if (others.length > 0) {
      const where = others.map(({ origin }) => origin).join(', ')
      return decided('conflict', `another one claims it: ${where}`, {
        hint: 'delete all but one of these pods, and run this again',
      })
    }
    const place = findPlace(book, terms, holder.network, address)
    if ('verdict' in place) return place
    const refused = refusal(book, terms, group, workload, at)
    if (refused) return refused
    const pool = place.pool.name
    if (present && holderKey(present.holder) !== holderKey(holder)) {
      return decided(
        'conflict',
        `container ${present.containerId.slice(0, 13)} is known as ${describeHolder(present.holder)}`,
        {
          hint: whoHint(at),
          pool,
        },
      )
    }
    if (besides) {
      const { address: other, state } = besides
      return decided(
        'conflict',
        `${describeHolder(holder)} ${state === 'held' ? 'keeps' : 'has'} ${other} already`,
        {
          hint:
            state === 'held'
              ? `let go of the one it has not: ipkeeperctl release ${other}`
              : whoHint(besides),
          pool,
        },
      )
    }
    const slot = `${pool} ${place.index}`
    const earlier = taken.get(slot)
    if (earlier !== undefined) {
      return decided('conflict', `its container has ${earlier} of the same ranges of pool ${pool}`, {
        hint: 'delete the pod: its next sandbox gets one address',
        pool,
      })
    }
    taken.set(slot, at.address)
    if (place.inline) inline.add(place.pool)
    if (one.netns !== null) {
      const state = terms.namespaceAt(one.netns)
      if (state.kind === 'namespace') netnsInode ??= state.inode
    }
    leases.push(adopted(book, terms, group, workload, one, at, place))
    const held = key === null
    return {
      verdict: 'adopt',
      as: held ? 'held' : 'bound',
      pool,
      reason: held
        ? `kept for ${describeHolder(holder)}`
        : `bound to container ${key.containerId.slice(0, 13)}${holder.kind === 'pod' ? ` of ${describeHolder(holder)}` : ''}`,
      hint: '',
    }
  }
  const decisions = members.map(index => {
    const one = found[index]
    return one ? decide(one) : decided('unfit', 'nothing was found')
  })
  if (leases.length === 0) return { decisions, change: [] }
  let pools: Change
  try {
    pools = [...inline].flatMap(pool => planPool(book, pool))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { message, hint } = error
    const refused = (decision: ImportDecision): ImportDecision =>
      decision.verdict === 'adopt' ? decided('unfit', message, { hint }) : decision
    return { decisions: decisions.map(refused), change: [] }
  }
  const netns = members.flatMap(index => found[index]?.netns ?? [])[0] ?? ''
  return {
    decisions,
    change: [
      ...pools,
      ...leases.map(lease => writeLease(book, lease)),
      ...dropFormerHolders(book, leases),
      writeOwner(book, terms, group, leases),
      ...(key ? [writeAttachment(terms, group, key, present, leases, { netns, netnsInode })] : []),
    ],
  }
}

/** When an address was given; a clock that was set back must not make that a time to come. */
const sinceOf = (since: number, now: number): number => (since === 0 ? now : Math.min(since, now))

/** The lease as an ADD would have left it, or as that sandbox's DEL would have. */
function adopted(
  book: AddressBook,
  { source, node, pools, retain, now }: ImportTerms,
  { holder, podUid, key }: FoundGroup,
  workload: Workload | null,
  found: FoundAllocation,
  at: LeaseKey,
  { pool, index, range }: Place,
): LeaseRecord {
  const reservation = book.reservation(at)
  const usual = reservedRetention(reservation, holder, workload) ?? policyOf(pools, pool.name).retention
  const kept = retain ?? (found.keeps && !retains(usual) ? 'while-owner-exists' : usual)
  // What nobody has is either kept or not adopted at all.
  const retention = key === null && !retains(kept) ? 'while-owner-exists' : kept
  return {
    ...at,
    generation: (book.lease(at)?.generation ?? 0) + 1,
    state: key ? 'bound' : 'held',
    pool: pool.name,
    network: holder.network,
    rangeSet: index,
    prefixLength: range.subnet.prefixLength,
    gateway: formatAddress(range.gateway),
    holder,
    podUid,
    ...(workload && { workload }),
    attachment: key,
    node,
    named: false,
    source: `import ${source}`,
    retain: retention,
    mac: found.mac,
    since: key ? sinceOf(found.since ?? 0, now) : now,
    until: key === null && typeof retention === 'object' ? now + retention.milliseconds : null,
  }
}

/**
 * The holder with what it was found to have. One that has a newer sandbox keeps what it has, and is written all the same: should
 * that sandbox not get through to the store, this one must not either.
 */
function writeOwner(
  book: AddressBook,
  { node, now }: ImportTerms,
  { holder, podUid, key, since }: FoundGroup,
  leases: readonly LeaseRecord[],
): Change[number] {
  const present = book.holder(holder)
  const current = present?.attachment ?? null
  const same = current === null || (key !== null && sameAttachment(current, key))
  const newer = key !== null && present?.sandbox !== undefined && since > present.sandbox.since
  const generation = (present?.generation ?? 0) + 1
  const write = { kind: 'holder', key: holderKey(holder), expect: present?.generation ?? null } as const
  if (present && !same && !newer) return { ...write, record: { ...present, generation } }
  const own = leases.map(({ segment, address }) => ({ segment, address }))
  const others = same ? (present?.leases ?? []) : []
  const has = new Set(own.map(leaseKey))
  return {
    ...write,
    record: {
      ...{ generation, holder },
      ...ofAttachment(key && { ...key, node, podUid, since: sinceOf(since, now) }),
      leases: [...others.filter(other => !has.has(leaseKey(other))), ...own],
    },
  }
}

function writeAttachment(
  { node, bootId, now, monotonic }: ImportTerms,
  { holder, podUid, since }: FoundGroup,
  key: AttachmentKey,
  present: AttachmentRecord | undefined,
  leases: readonly LeaseRecord[],
  sandbox: Pick<AttachmentRecord, 'netns' | 'netnsInode'>,
): Change[number] {
  const wrote = leases.map(({ segment, address, generation }) => ({
    ...{ segment, address, wrote: generation, before: null },
  }))
  const generation = (present?.generation ?? 0) + 1
  return {
    kind: 'attachment',
    key: attachmentKey(key),
    expect: present === undefined || present.generation === 0 ? null : present.generation,
    record: {
      ...key,
      generation,
      answered: generation,
      holder,
      podUid,
      node,
      bootId,
      netns: present?.netns ?? sandbox.netns,
      netnsInode: present ? present.netnsInode : sandbox.netnsInode,
      invocationId: present?.invocationId ?? null,
      startedAt: present?.startedAt ?? null,
      // A GC whose list is older does not know what this import has found.
      answeredAt: Math.floor(monotonic * 1000),
      since: present?.since ?? sinceOf(since, now),
      ...(present?.wiring && { wiring: present.wiring }),
      ...(present?.madeBy !== undefined && { madeBy: present.madeBy }),
      undo: {
        leases: [...(present?.undo.leases ?? []), ...wrote],
        attachment: present?.undo.attachment ?? null,
      },
    },
  }
}
