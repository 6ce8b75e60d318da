import { parseAddress, type Address, type Family } from '../../../shared/net/address.ts'
import type { AddressBook } from '../../ipam/pools/address-book.ts'
import { attachmentByLease } from '../../ipam/records/new-records.ts'
import type { Interval, RangeSet } from '../../ipam/pools/pool.ts'
import type { AttachmentOutline, OutlinedAttachment } from '../../ipam/records/attachment-outline.ts'
import {
  attachmentKey,
  attachmentOfKey,
  holderKey,
  leaseKey,
  macGuardKey,
  quotaKey,
  recordKinds,
  type AttachmentKey,
  type AttachmentRecord,
  type Holder,
  type HolderRecord,
  type LeaseKey,
  type LeaseOutline,
  type LeaseRecord,
  type MacRecord,
  type NodeRecord,
  type PoolRecord,
  type QuotaRecord,
  type RecordKind,
  type RecordTypes,
  type ReservationRecord,
} from '../../ipam/records/records.ts'
import type { IndexedRecords } from './indexed-records.ts'
import { nameIn } from './lease-indexes.ts'
import type { RecordTable } from './record-table.ts'

/** An attachment at one moment. */
export interface AttachmentSight {
  /** Its key as one text. */
  readonly name: string
  readonly outline: OutlinedAttachment
  readonly record: () => AttachmentRecord
}

/** What plans, listings and tasks ask of the records in memory; nothing here changes any. */
export class LedgerReader implements AddressBook {
  /** Whether other nodes have the same leases. */
  readonly isShared: boolean
  readonly #records: IndexedRecords
  readonly #tables: IndexedRecords['tables']

  constructor(records: IndexedRecords) {
    this.#records = records
    this.#tables = records.tables
    this.isShared = records.isShared
  }

  // ---- Leases

  lease(key: LeaseKey): LeaseRecord | undefined {
    return this.#tables.lease.get(leaseKey(key))
  }

  leases(): Iterable<LeaseRecord> {
    return this.#tables.lease.walk()
  }

  /** The keys of all leases, whose records stay unparsed. */
  *leaseKeys(): Iterable<LeaseKey> {
    for (const key of this.#tables.lease.keys()) {
      const [segment, address] = JSON.parse(key) as [string, string]
      yield { segment, address }
    }
  }

  /** A lease as far as counting needs it. */
  leaseOutline(key: LeaseKey): LeaseOutline | undefined {
    return this.#records.outlineOf(leaseKey(key))
  }

  /** All leases, as far as counting needs them. */
  *leaseOutlines(): Iterable<LeaseKey & LeaseOutline> {
    for (const { segment, address } of this.leaseKeys()) {
      const outline = this.leaseOutline({ segment, address })
      if (outline) yield { segment, address, ...outline }
    }
  }

  *leasesWithin(segment: string, set: RangeSet): Iterable<LeaseKey & LeaseOutline> {
    for (const [key, address] of within(this.#tables.lease.keys(), segment, set)) {
      const outline = this.#records.outlineOf(key)
      if (outline) yield { segment, address, ...outline }
    }
  }

  leasesOf(key: AttachmentKey): readonly LeaseRecord[] {
    const leases = this.#tables.lease.ofKeys(this.#records.leases.byAttachment.get(attachmentKey(key)))
    return leases.sort((a, b) => a.rangeSet - b.rangeSet)
  }

  leasesKeptFor(namespace: string, workload: string): readonly LeaseRecord[] {
    const leases = this.#tables.lease.ofKeys(this.#records.leases.keptFor(namespace, workload))
    return leases.sort((a, b) => a.since - b.since)
  }

  /** Leases that are kept while their owner exists, and whose owner can be asked for. */
  keptForOwners(): readonly LeaseRecord[] {
    return this.#tables.lease.ofKeys(this.#records.leases.keptForOwners)
  }

  leasesWithMac(mac: string): Iterable<LeaseRecord> {
    return this.#tables.lease.ofKeys(this.#records.leases.byMac.get(mac))
  }

  /** Names of nodes that leases bear, in any state. */
  namesOnLeases(): Iterable<string> {
    return this.#records.leases.byNode.properties()
  }

  /** Leases in any state that a node has. */
  leasesOn(node: string): Iterable<LeaseRecord> {
    return this.#records.leasesOn(node)
  }

  /** Bound leases that are reached through their node, of every node. */
  *routedLeases(): Iterable<LeaseRecord> {
    for (const key of this.#records.leases.routed) {
      const lease = this.#tables.lease.get(key)
      if (lease) yield lease
    }
  }

  *resting(pool: string): Iterable<LeaseRecord> {
    yield* this.#peekAt(this.#records.leases.cooling(pool))
  }

  *restingToReuse(pool: string): Iterable<LeaseRecord> {
    const { leases, node } = this.#records
    if (this.isShared) yield* this.#peekAt(leases.coolingInOrderOf(node, pool))
    yield* this.resting(pool)
  }

  /** Cooling and remembered leases of every pool. */
  *allResting(): Iterable<LeaseRecord> {
    for (const pool of this.#records.leases.coolingPools()) yield* this.resting(pool)
  }

  restingCount(pool: string): number {
    return this.#records.leases.coolingCount(pool)
  }

  *#peekAt(keys: Iterable<string>): Iterable<LeaseRecord> {
    for (const key of keys) {
      const lease = this.#tables.lease.peek(key)
      if (lease) yield lease
    }
  }

  hasLiveLease(pool: { readonly name: string }): boolean {
    return this.#records.leases.hasLive(pool.name)
  }

  liveIn(pool: string, namespace: string, family: Family, now: number): number {
    return this.#records.leases.liveIn({ pool, namespace, family }, () => this.#records.overAt(now))
  }

  /** When the next kept address becomes free; undefined when none waits. */
  nextExpiry(): number | undefined {
    return this.#records.leases.expiries.next()
  }

  lowestFree(segment: string, family: Family, run: Interval): Address | undefined {
    const { addresses, node } = this.#records
    return addresses.lowestFree(segment, family, run, this.isShared ? node : undefined)
  }

  // ---- Holders and attachments

  holder(holder: Holder): HolderRecord | undefined {
    return this.#tables.holder.get(holderKey(holder))
  }

  attachment(key: AttachmentKey): AttachmentRecord | undefined {
    return this.#tables.attachment.get(attachmentKey(key)) ?? this.#attachmentElsewhere(key)
  }

  #attachmentElsewhere(key: AttachmentKey): AttachmentRecord | undefined {
    if (!this.isShared) return undefined
    const [lease] = this.leasesOf(key)
    return lease && attachmentByLease(lease)
  }

  /** Whether this node's own record tells of an attachment, and not only leases of it. */
  hasAttachment(key: AttachmentKey): boolean {
    return this.#tables.attachment.has(attachmentKey(key))
  }

  /** All of them, each for one look at it: what was loaded as text stays text. */
  attachments(): Iterable<AttachmentRecord> {
    return this.#tables.attachment.walk()
  }

  /** Names of all attachments, in which nothing changes while they are walked through over several turns of the event loop. */
  attachmentNames(): readonly string[] {
    return [...this.#tables.attachment.keys()]
  }

  /** What a pass asks of each attachment, and its record as it is at this moment, parsed when that is called. */
  lookAtAttachment(name: string): AttachmentSight | undefined {
    const record = this.#tables.attachment.asItIs(name)
    const outline = record && this.#records.attachmentOutlines.of(name, record)
    return record && outline && { name, outline: { ...attachmentOfKey(name), ...outline }, record }
  }

  /** The outlines of all attachments by their names. */
  *attachmentOutlines(): Iterable<readonly [name: string, outline: AttachmentOutline]> {
    const { attachmentOutlines } = this.#records
    for (const name of this.#tables.attachment.keys()) {
      const outline = attachmentOutlines.of(name, () => this.#tables.attachment.peek(name))
      if (outline) yield [name, outline]
    }
  }

  /** Attachments that this daemon has wired, in the main role, of every node and boot. */
  wiredAttachments(): readonly AttachmentRecord[] {
    return this.#tables.attachment.ofKeys(this.#records.wired)
  }

  /** Records that may be what is looked for, by their text; of what is parsed already that is not asked. */
  search<K extends 'holder' | 'attachment'>(
    kind: K,
    mayBe: (text: string) => boolean,
  ): Iterable<RecordTypes[K]> {
    const table: RecordTable<RecordTypes[K]> = this.#tables[kind]
    return table.search(mayBe)
  }

  /** The keys of all attachments, whose records stay unparsed. */
  *attachmentKeys(): Iterable<AttachmentKey> {
    for (const name of this.#tables.attachment.keys()) yield attachmentOfKey(name)
  }

  /** The keys of attachments to which no lease belongs. */
  *attachmentsWithoutLeases(): Iterable<AttachmentKey> {
    const { byAttachment } = this.#records.leases
    for (const name of this.#tables.attachment.keys())
      if (!byAttachment.has(name)) yield attachmentOfKey(name)
  }

  attachmentsOf(network: string): Iterable<AttachmentRecord> {
    return this.#tables.attachment.ofKeys(this.#records.attachmentsByNetwork.get(network))
  }

  /** Whether there are attachments of a network, or ranges that came with its ADDs. */
  hasNetwork(name: string): boolean {
    const pool = this.pool(name)
    const hasOwnRanges = pool !== undefined && pool.origin === undefined
    return this.#records.attachmentsByNetwork.has(name) || hasOwnRanges
  }

  /** Attachments whose ADD is not known to have been answered, of every node and boot. */
  unanswered(): readonly AttachmentRecord[] {
    return this.#tables.attachment.ofKeys(this.#records.unanswered)
  }

  // ---- Reservations

  reservation(key: LeaseKey): ReservationRecord | undefined {
    return this.#tables.reservation.get(leaseKey(key))
  }

  reservations(): Iterable<ReservationRecord> {
    return this.#tables.reservation.walk()
  }

  reservationsFor(namespace: string, name: string): readonly ReservationRecord[] {
    return this.#tables.reservation.ofKeys(this.#records.reservationsByPod.get(nameIn(namespace, name)))
  }

  *reservationsWithin(segment: string, set: RangeSet): Iterable<ReservationRecord> {
    for (const [key] of within(this.#tables.reservation.keys(), segment, set)) {
      const reservation = this.#tables.reservation.peek(key)
      if (reservation) yield reservation
    }
  }

  // ---- Pools and guards

  pool(name: string): PoolRecord | undefined {
    return this.#tables.pool.get(name)
  }

  pools(): Iterable<PoolRecord> {
    return this.#tables.pool.values()
  }

  /** Whether the address is the gateway of a pool that is or was in use. */
  isGateway(address: string): boolean {
    for (const { ranges } of this.pools())
      if (ranges.flat().some(({ gateway }) => gateway === address)) return true
    return false
  }

  quota(key: Pick<QuotaRecord, 'pool' | 'namespace' | 'family'>): QuotaRecord | undefined {
    return this.#tables.quota.get(quotaKey(key))
  }

  macGuard(key: Pick<MacRecord, 'segment' | 'lastOctet'>): MacRecord | undefined {
    return this.#tables.mac.get(macGuardKey(key))
  }

  // ---- Nodes

  node(name: string): NodeRecord | undefined {
    return this.#tables.node.get(name)
  }

  /** What nodes have written of themselves. */
  nodes(): Iterable<NodeRecord> {
    return this.#tables.node.values()
  }

  /** How many addresses a node has in use, where other nodes have the same leases; else 0. */
  boundOn(node: string): number {
    return this.#records.leases.boundByNode.get(node)
  }

  /** Nodes that have addresses in use; none in a ledger that one node has to itself. */
  nodesInUse(): Iterable<string> {
    return this.#records.leases.boundByNode.properties()
  }

  counts(): Readonly<Record<RecordKind, number>> {
    const count = (kind: RecordKind): [RecordKind, number] => [kind, this.#tables[kind].size]
    return Object.fromEntries(recordKinds.map(count)) as Record<RecordKind, number>
  }
}

/** Keys with their addresses, of those that are in the set; the records themselves may stay text. */
function* within(
  keys: Iterable<string>,
  segment: string,
  set: RangeSet,
): Iterable<readonly [key: string, address: string]> {
  const begin = leaseKey({ segment, address: '' }).slice(0, -2)
  for (const key of keys) {
    const address = key.slice(begin.length, -2)
    if (key.startsWith(begin) && isWithin(set, address)) yield [key, address]
  }
}

export function isWithin(set: RangeSet, text: string): boolean {
  const address = parseAddress(text)
  return (
    address !== undefined &&
    set.some(
      range =>
        range.family === address.family &&
        range.first.value <= address.value &&
        address.value <= range.last.value,
    )
  )
}
