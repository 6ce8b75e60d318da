import type { ResultRoute } from '../../../shared/cni/result.ts'
import type { JsonObject } from '../../../shared/json/fold.ts'
import { visible } from '../../../shared/text/visible.ts'
import type { Retention } from './retention.ts'

/**
 * What is remembered. Every record has a generation that grows by one with each change of it; a change names the
 * generation it was computed from, so that two writers cannot both succeed. Addresses are canonical text, so that
 * records are plain JSON; times are milliseconds since the epoch.
 */

/** Who an address belongs to: a pod's interface on a network, or a container's where the runtime names no pod. */
export type Holder =
  | {
      readonly kind: 'pod'
      readonly network: string
      readonly namespace: string
      readonly name: string
      readonly ifname: string
    }
  | {
      readonly kind: 'container'
      readonly network: string
      readonly containerId: string
      readonly ifname: string
    }

/** The object behind a pod, as far as it is known: an attribute, never part of a key (DESIGN.md, "Words"). */
export interface Workload {
  readonly namespace: string
  /** null where only the pod's name tells, and the name does not say which kind. */
  readonly kind: string | null
  readonly name: string
  /** Of the owner object, from the API; null when it was only inferred. */
  readonly apiVersion: string | null
  readonly uid: string | null
}

/** What an ADD makes and a DEL undoes (CNI SPEC: the key of a plugin's state). */
export interface AttachmentKey {
  readonly network: string
  readonly containerId: string
  readonly ifname: string
}

/** When one run of the plugin began: microseconds of CLOCK_MONOTONIC, which count within one boot only. */
export interface Began {
  readonly bootId: string
  readonly startedAt: number
}

export interface LeaseKey {
  readonly segment: string
  readonly address: string
}

interface Versioned {
  readonly generation: number
}

/** bound: an attachment has it. held: kept by retention. cooling: free for requests by name, rests for others. */
export type LeaseState = 'bound' | 'held' | 'cooling'

/**
 * How others reach an address. routed: its node has a route to it (ptp; bridge with a gateway). link: it stands on a link
 * that other nodes have too, where whoever has it answers for it (underlay, macvlan).
 */
export type Carriage = 'routed' | 'link'

export interface LeaseRecord extends Versioned, LeaseKey {
  readonly state: LeaseState
  readonly pool: string
  readonly network: string
  /** Index of the range set it was given from. */
  readonly rangeSet: number
  readonly prefixLength: number
  readonly gateway: string
  readonly holder: Holder
  readonly podUid: string | null
  /** Absent for a container without a pod. */
  readonly workload?: Workload
  /** null unless bound. */
  readonly attachment: AttachmentKey | null
  readonly node: string
  /** Asked for by name, not chosen. */
  readonly named: boolean
  /** Which channel asked, such as "annotation ipkeeper.io/ip"; "dynamic" when none did. */
  readonly source: string
  readonly retain: Retention
  /** That was asked for; null where the pod has one that it did not choose. */
  readonly mac: string | null
  /** Absent where the wiring is another plugin's (the IPAM role), or nothing leads to the address from other nodes. */
  readonly carried?: Carriage
  /** The pod has its link for itself (ptp): its MAC is in nobody's way. */
  readonly ownLink?: true
  readonly since: number
  /** When a held or cooling address becomes free; null for never, and while bound. */
  readonly until: number | null
  /** Stays when its time is over, so that it is known when the address was last used (least-recently-used). */
  readonly remembered?: true
}

/** What counting needs of a lease. */
export interface LeaseOutline extends Pick<LeaseRecord, 'state' | 'named' | 'until'> {
  /** Of the pod; null where the holder is a container without one. */
  readonly namespace: string | null
  /** Cooling because another host on the network has the address (isSetAside). */
  readonly aside: boolean
}

/** The holder's current attachment and addresses, one per range set; older attachments keep theirs until their DEL. */
export interface HolderRecord extends Versioned {
  readonly holder: Holder
  readonly attachment: AttachmentKey | null
  /** What other nodes have to know of the attachment; absent without one, and in records of old. */
  readonly sandbox?: { readonly node: string; readonly podUid: string | null; readonly since: number }
  readonly leases: readonly LeaseKey[]
}

export interface UndoRecord {
  /** Each lease that was written: the generation it got, and the record it replaced; null when there was none. */
  readonly leases: readonly (LeaseKey & { readonly wrote: number; readonly before: LeaseRecord | null })[]
  /** The holder's attachment before. */
  readonly attachment: AttachmentKey | null
}

/** bridge: a port of a bridge of this node. underlay: of a bridge with an uplink. ptp: routed, without a bridge. */
export const wiringModes = ['bridge', 'ptp', 'macvlan', 'underlay'] as const

export type WiringMode = (typeof wiringModes)[number]

/**
 * What ADD put into the kernel for an attachment, as far as its key and its leases do not say it. Written before anything
 * is done, so that whoever undoes it needs no configuration.
 */
export interface WiringRecord {
  readonly mode: WiringMode
  /** Of the interface in the pod. */
  readonly mac: string
  readonly mtu: number
  /** The host's side of the veth; null in macvlan. */
  readonly hostLink: { readonly name: string; readonly mac: string } | null
  /** The bridge whose port the host's side is, or the uplink of a macvlan; null in ptp. */
  readonly master: string | null
  /** As they are in the pod's tables, each with its gateway. */
  readonly routes: readonly ResultRoute[]
  /** Addresses that leave the node under the node's own. */
  readonly masqueraded: readonly string[]
  /** Uplink on which the node answers for the pod's addresses (ptp); null elsewhere. */
  readonly proxyOn: string | null
}

/** Generation 0: of another node, or of one whose journal was lost; known by its leases or its holder alone. */
export interface AttachmentRecord extends Versioned, AttachmentKey {
  readonly holder: Holder
  readonly podUid: string | null
  readonly node: string
  /** null: not known (generation 0). */
  readonly bootId: string | null
  readonly netns: string
  /** Inode of the namespace at ADD; null when the path was no namespace then, which proves nothing later. */
  readonly netnsInode: string | null
  readonly invocationId: string | null
  readonly startedAt: number | null
  readonly since: number
  /** The IPAM plugin that gave the addresses, because the pod asked for none; absent where they are leases. */
  readonly delegatedTo?: string
  /** What that plugin gave, in CIDR notation; absent until it has told. */
  readonly given?: readonly string[]
  /** The generation at which an ADD was last answered from this record; a re-sent ADD moves it on. */
  readonly answered: number
  /** When that was recorded: microseconds of CLOCK_MONOTONIC in that boot. Absent in records of old. */
  readonly answeredAt?: number
  /** How the pod is wired; absent in the IPAM role, where that is the parent plugin's. */
  readonly wiring?: WiringRecord
  /**
   * Nobody is known to have the answer of this ADD yet: one that still stands after a restart of the daemon is undone.
   * `confirms`: the plugin leaves a mark (shared/mark-name.ts); else the daemon takes this away before it replies.
   */
  readonly unanswered?: { readonly confirms: boolean }
  /** Socket of the container runtime that was seen to list the sandbox: only then is it believed when it omits it. */
  readonly madeBy?: string
  /** What this ADD changed, for an undo should its answer not arrive. */
  readonly undo: UndoRecord
}

export interface ReservationRecord extends Versioned, LeaseKey {
  /** Who may have the address: the pod of this name, or with a kind any pod of that workload; see isReservedFor. */
  readonly namespace: string
  readonly name: string
  /** A workload's, such as "StatefulSet"; "external" for an owner that is no pod, whose namespace is "". */
  readonly kind?: string
  readonly note: string
  readonly since: number
  /** Of whoever gets the address by it and says nothing himself. */
  readonly retain?: Retention
}

/** A pool as last used, so that overlaps are seen and listings work before its next ADD. Ranges as "first-last". */
export interface PoolRecord extends Versioned {
  readonly name: string
  readonly segment: string
  /**
   * "config": of the daemon's configuration. "api": an object that people made, which no daemon changes. Absent: the ranges
   * of the network of that name.
   */
  readonly origin?: 'config' | 'api'
  readonly ranges: readonly (readonly PoolRange[])[]
  /** With origin "api". */
  readonly object?: PoolObjectRecord
}

/** What an object that people made says besides its ranges. */
export interface PoolObjectRecord {
  /** What is in force, and the ranges of the record are of: as the elected daemon has published it, else what the object says. */
  readonly spec: JsonObject
  /** Of the object when it said that. */
  readonly since?: number
  /** Of the object as it is now. */
  readonly generation?: number
  readonly uid?: string
  readonly createdAt: number
  /** Somebody deleted it; it waits for those who use it. */
  readonly deleting: boolean
  /** Whether the elected daemon has published what is in force. */
  readonly published?: boolean
  /** What the object says now, where that is not what is published. */
  readonly pending?: PendingSpec
}

/** A spec that is not in force, or not yet. */
export interface PendingSpec {
  readonly spec: JsonObject
  /** Why it cannot be read. */
  readonly fault?: string
  /** Why the elected daemon refuses it; absent while it has not said. */
  readonly refusal?: PoolRefusal
}

/** Why a spec is not put in force. */
export interface PoolRefusal {
  readonly reason: PoolRefusalReason
  readonly message: string
}

/** Invalid: it makes no sense. Overlaps: another pool has addresses of it. AddressesInUse: it would leave some out. */
export const poolRefusalReasons = ['Invalid', 'Overlaps', 'AddressesInUse'] as const
export type PoolRefusalReason = (typeof poolRefusalReasons)[number]

/**
 * Grows with each ADD that gives an address of a pool to a namespace that has a quota there, so that of two such ADDs of
 * different nodes the later one sees the earlier one's addresses before it counts.
 */
export interface QuotaRecord extends Versioned {
  readonly pool: string
  readonly namespace: string
  readonly family: 4 | 6
}

/**
 * Grows with each ADD that takes a MAC by request, so that of two such ADDs of different nodes the later one sees the
 * earlier one's lease before it decides. One for all MACs of a last octet: they are fences, and nobody has to tidy them up.
 */
export interface MacRecord extends Versioned {
  readonly segment: string
  /** 0 to 255. */
  readonly lastOctet: number
}

/** Who has a node's name, or wants it (node-record.ts). */
export interface NodeClaim {
  /** Of its state folder (node-identity.ts). */
  readonly id: string
  /** Of the runs of one folder in one boot; another folder, and another boot, has another one. */
  readonly session: string
  readonly bootId: string
  /** What tells its machine from others (MachineMarks). */
  readonly machineId?: string
  readonly hardware?: string
  /** By its clock; milliseconds since the epoch. */
  readonly since: number
}

/** Who had a node's name before. */
export interface FormerClaim extends NodeClaim {
  /** It was gone for good, by an operator's word, when another machine claimed the name: its sandboxes are dead. */
  readonly gone?: GoneMark
}

/** Who wants to know whether the claimant of a name lives. */
export interface NodeChallenge extends NodeClaim {
  /** The node where an operator is about to declare the claimant gone for good; absent: who asks wants the name. */
  readonly askedOn?: string
}

/** A sandbox that has to give its addresses up, because an operator has said so on another node (verbs/force-release.ts). */
export interface AskedYield extends AttachmentKey, LeaseKey {
  /** The node where it was said. */
  readonly by: string
  readonly since: number
  /** The machine that has the node's name has no such sandbox: one that had the name before may run it. */
  readonly notHere?: true
}

/** Said on node `by`. */
export interface GoneMark {
  readonly since: number
  readonly by: string
}

/** What a node tells the others of itself, under its name. */
export interface NodeRecord extends Versioned {
  readonly name: string
  /** By which other nodes reach it, of both families; without prefix. */
  readonly addresses: readonly string[]
  readonly since: number
  /**
   * The node renews this record, and serves no ADD once it has not reached the engine for so many milliseconds; absent: it
   * promises nothing of the kind, and its silence means nothing.
   */
  readonly stopsAfter?: number
  /** By the node's clock: makes each renewal another text; nobody reckons with it. */
  readonly renewedAt?: number
  /** Whose the name is; absent where no version wrote it that knew of claims. */
  readonly claim?: NodeClaim
  /** Somebody who waits whether the claimant lives. */
  readonly challenge?: NodeChallenge
  /** Session of the challenger whom the claimant refused last. */
  readonly refused?: string
  /** Earlier claimants of other identities, of which there may still be leases under the name. */
  readonly formers?: readonly FormerClaim[]
  /** See node-record.ts; absent: 1. */
  readonly epoch?: number
  /** It has told what it holds, but for what the engine has in use on a node that had not told yet. */
  readonly owes?: true
  /**
   * Nobody waits for it: an operator has said on node `by` that it is gone for good, or node `by` was called so. Whoever claims
   * the name takes it away.
   */
  readonly gone?: GoneMark
  /** Of its daemon, as that has told last; absent where no version wrote it that did. */
  readonly version?: string
  /** Stays until the node has cut these sandboxes off, however long it is away. */
  readonly yields?: readonly AskedYield[]
}

export interface PoolRange {
  readonly subnet: string
  readonly rangeStart: string
  readonly rangeEnd: string
  readonly gateway: string
  readonly exclude: readonly (readonly [first: string, last: string])[]
  readonly draining?: true
}

export interface RecordTypes {
  readonly lease: LeaseRecord
  readonly holder: HolderRecord
  readonly attachment: AttachmentRecord
  readonly reservation: ReservationRecord
  readonly pool: PoolRecord
  readonly quota: QuotaRecord
  readonly mac: MacRecord
  readonly node: NodeRecord
}

export type RecordKind = keyof RecordTypes

export const recordKinds = [
  'lease',
  'holder',
  'attachment',
  'reservation',
  'pool',
  'quota',
  'mac',
  'node',
] as const satisfies readonly RecordKind[]

/**
 * One conditional write. `expect` is the generation the record must have now, null that there must be none;
 * `record` null deletes. The new generation is `expect + 1`, or 1; where it stays what is expected, nothing is written
 * (mustStay).
 */
export type Write = {
  readonly [K in RecordKind]: {
    readonly kind: K
    readonly key: string
    readonly expect: number | null
    readonly record: RecordTypes[K] | null
    /** A sandbox that lives was found to have it by another record than this ledger's: nothing new is given. */
    readonly isFound?: true
  }
}[RecordKind]

/** Writes that happen together or not at all. */
export type Change = readonly Write[]

// Keys are JSON arrays: joining by a separator would let two different keys meet.

export function leaseKey(key: LeaseKey): string {
  return JSON.stringify([key.segment, key.address])
}

/**
 * A condition that comes with a change, and writes nothing: nobody may have changed the record meanwhile, or made one where
 * there is none. Where nodes share a store, an engine with transactions compares it; else what was heard has to do.
 */
export function mustStay<K extends 'lease' | 'reservation' | 'holder'>(
  kind: K,
  key: string,
  record: RecordTypes[K] | undefined,
): Write {
  return { kind, key, expect: record?.generation ?? null, record: record ?? null } as Write
}

/** Whether a write is a condition. */
export const isCondition = ({ expect, record }: Write): boolean => (record?.generation ?? null) === expect

export function attachmentKey(key: AttachmentKey): string {
  return JSON.stringify([key.network, key.containerId, key.ifname])
}

export function attachmentOfKey(key: string): AttachmentKey {
  const [network, containerId, ifname] = JSON.parse(key) as [string, string, string]
  return { network, containerId, ifname }
}

export function quotaKey({
  pool,
  namespace,
  family,
}: Pick<QuotaRecord, 'pool' | 'namespace' | 'family'>): string {
  return JSON.stringify([pool, namespace, family])
}

export function macGuardKey({ segment, lastOctet }: Pick<MacRecord, 'segment' | 'lastOctet'>): string {
  return JSON.stringify([segment, lastOctet])
}

/** The network in an attachment's key. */
export function networkOfAttachment(key: string): string {
  return attachmentOfKey(key).network
}

export function holderKey(holder: Holder): string {
  return holder.kind === 'pod'
    ? JSON.stringify(['pod', holder.network, holder.namespace, holder.name, holder.ifname])
    : JSON.stringify(['container', holder.network, holder.containerId, holder.ifname])
}

export function sameAttachment(a: AttachmentKey | null, b: AttachmentKey): boolean {
  return a !== null && a.network === b.network && a.containerId === b.containerId && a.ifname === b.ifname
}

/**
 * Tells an attachment from one that was added anew under its key: nerdctl starts a container again under its ID, and the
 * generations of the new record begin where the old ones did.
 */
export function incarnationOf(record: AttachmentRecord): string {
  return JSON.stringify([attachmentKey(record), record.answered, record.since, record.invocationId])
}

/** Whether a lease is the one that was looked at: the generations of one that came free and was given anew may be the same. */
export function isSameLease(a: LeaseRecord | undefined, b: LeaseRecord): a is LeaseRecord {
  return a?.generation === b.generation && a.since === b.since && holderKey(a.holder) === holderKey(b.holder)
}

/** Whether the time of a kept or resting address is over, though its record may still be there. */
export function isTimeOver({ until }: Pick<LeaseRecord, 'until'>, now: number): boolean {
  return until !== null && until <= now
}

/** Kinds whose pods have names that tell their kind. */
const toldByName = ['StatefulSet', 'Pod']

/** Whether two kinds of workload may be the same; one that is not known is none of those that a pod's name tells. */
export function kindsAgree(a: string | null, b: string | null): boolean {
  if (a === null || b === null) return !toldByName.includes(a ?? b ?? '')
  return a === b
}

/** Whether the holder, a pod of this workload, is whom the address was promised to. */
export function isReservedFor(
  { namespace, name, kind }: Pick<ReservationRecord, 'namespace' | 'name' | 'kind'>,
  holder: Holder,
  workload: Workload | null,
): boolean {
  if (holder.kind !== 'pod') return false
  if (kind === undefined) return holder.namespace === namespace && holder.name === name
  return (
    workload !== null &&
    workload.namespace === namespace &&
    workload.name === name &&
    kindsAgree(workload.kind, kind)
  )
}

/** "shop/web-0", "StatefulSet shop/web", or "external:printer-3" for an owner that is no pod. */
export function describeReservation({
  namespace,
  name,
  kind,
}: Pick<ReservationRecord, 'namespace' | 'name' | 'kind'>): string {
  if (kind === 'external') return `external:${name}`
  return `${kind === undefined ? '' : `${kind} `}${namespace}/${name}`
}

/** The note of a reservation, for the end of what is said of it. Who wrote it may have put anything in. */
export const describeNote = ({ note }: Pick<ReservationRecord, 'note'>): string =>
  note === '' ? '' : ` (${visible(note)})`

/** "shop/web-0", or "container 3f2a…" where there is no pod. */
export function describeHolder(holder: Holder): string {
  return holder.kind === 'pod'
    ? `${holder.namespace}/${holder.name}`
    : `container ${holder.containerId.slice(0, 13)}`
}

/** Begins the source of the lease of an address that another host on the network answered for. */
const setAsideMark = 'put aside: '

/** @param why for listings: who answered */
export function setAsideSource(why: string): string {
  return `${setAsideMark}${why}`
}

/** Whether dynamic choice leaves the address alone because another host on the network has it. */
export function isSetAside({ state, source }: Pick<LeaseRecord, 'state' | 'source'>): boolean {
  return state === 'cooling' && source.startsWith(setAsideMark)
}

/**
 * Whether another node has taken an address from a sandbox of this one: it was taken over, or ended, there on a proof that
 * this node cannot see. It has to be later than what was bound here: an engine restored from a backup shows earlier owners, and
 * one that has lost a record shows none.
 *
 * @param had as it was bound here, by the last that this node knew
 * @param has as the engine has it now
 * @param isLater whether the engine has written `has` after `had`, by its own order; a record that was deleted and made anew
 *   begins with the first generation again
 */
export function isTakenAway(had: LeaseRecord, has: LeaseRecord | undefined, isLater = false): boolean {
  return (
    had.attachment !== null &&
    has !== undefined &&
    (isLater || has.generation > had.generation) &&
    !sameAttachment(has.attachment, had.attachment)
  )
}

/** One text for a record of any kind, of which none has a space in its name. */
export const recordId = ({ kind, key }: { readonly kind: string; readonly key: string }): string =>
  `${kind} ${key}`
