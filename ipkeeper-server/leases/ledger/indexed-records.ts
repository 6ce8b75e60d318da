import { formatAddress, parseAddress } from '../../../shared/net/address.ts'
import {
  isTimeOver,
  leaseKey,
  networkOfAttachment,
  type AttachmentRecord,
  type LeaseKey,
  type LeaseOutline,
  type LeaseRecord,
  type RecordKind,
  type RecordTypes,
  type ReservationRecord,
  recordId,
} from '../../ipam/records/records.ts'
import { AttachmentOutlines } from './attachment-outlines.ts'
import { KeyIndex, keepIn } from './key-index.ts'
import { LeaseIndexes, nameIn } from './lease-indexes.ts'
import { LeaseOutlines, outlineOf } from './lease-outlines.ts'
import { emptyTables, type RecordName, type RecordTable } from './record-table.ts'
import { SegmentAddresses } from './segment-addresses.ts'

/** Every record by kind and key, with all indexes; they change together, and only by `put` and `load`. */
export class IndexedRecords {
  readonly isShared: boolean
  /** This one. */
  node: string
  readonly tables = emptyTables()
  readonly leases: LeaseIndexes
  readonly addresses = new SegmentAddresses()
  readonly attachmentsByNetwork = new KeyIndex()
  /** Attachments whose ADD is not known to have been answered. */
  readonly unanswered = new Set<string>()
  /** Attachments with a wiring record. */
  readonly wired = new Set<string>()
  readonly attachmentOutlines = new AttachmentOutlines()
  readonly reservationsByPod = new KeyIndex()
  /** Kept where nodes share the store, where most records are text. */
  readonly #outlines = new LeaseOutlines()
  /** Leases and reservations that the store has and that cannot be read, or are not as ipkeeper writes them. */
  readonly #unreadable = new Set<string>()

  constructor(isShared: boolean, node: string) {
    this.isShared = isShared
    this.node = node
    this.leases = new LeaseIndexes(isShared)
  }

  /** Takes a record over that has no predecessor here. It stays text, unless the table has been asked for it. */
  load(kind: RecordKind, key: string, record: RecordTypes[RecordKind]): void {
    this.#index(kind, key, record, true)
    if (kind === 'lease' || kind === 'reservation') this.#occupy(key, record as LeaseKey)
  }

  /** The same of an attachment. It is parsed only if it may be unanswered, as few are: parsing all would be a tenth of the start. */
  loadAttachment(key: string, text: string): void {
    const { attachment } = this.tables
    attachment.setText(key, text)
    this.attachmentsByNetwork.add(networkOfAttachment(key), key)
    if (text.includes('"wiring":')) this.wired.add(key)
    if (text.includes('"unanswered":') && attachment.peek(key)?.unanswered) this.unanswered.add(key)
  }

  /** Gives what was there before. */
  put<K extends RecordKind>(
    kind: K,
    key: string,
    after: RecordTypes[K] | undefined,
  ): RecordTypes[K] | undefined {
    const table: RecordTable<RecordTypes[K]> = this.tables[kind]
    const before = table.peek(key)
    if (after) table.set(key, after)
    else table.delete(key)
    if (before) this.#index(kind, key, before, false)
    if (after) this.#index(kind, key, after, true)
    if (kind === 'lease') this.leases.expired.delete(key)
    if (kind === 'attachment') this.attachmentOutlines.delete(key)
    // Not with each change: a map that an entry is taken from and added to again keeps more memory.
    if (kind === 'lease' && !after) this.#outlines.delete(key)
    const either = after ?? before
    if (either && (kind === 'lease' || kind === 'reservation')) this.#occupy(key, either as LeaseKey)
    return before
  }

  #index(kind: RecordKind, key: string, record: RecordTypes[RecordKind], present: boolean): void {
    switch (kind) {
      case 'lease':
        this.#indexLease(key, record as LeaseRecord, present)
        return
      case 'attachment':
        this.attachmentsByNetwork.keep(networkOfAttachment(key), key, present)
        keepIn(this.unanswered, key, present && Boolean((record as AttachmentRecord).unanswered))
        keepIn(this.wired, key, present && Boolean((record as AttachmentRecord).wiring))
        return
      case 'reservation': {
        const { namespace, name } = record as ReservationRecord
        this.reservationsByPod.keep(nameIn(namespace, name), key, present)
        return
      }
      case 'holder':
      case 'pool':
      case 'quota':
      case 'mac':
      case 'node':
        return
    }
  }

  #indexLease(key: string, lease: LeaseRecord, present: boolean): void {
    this.leases.index(key, lease, present)
    if (!this.isShared) return
    this.addresses.countLease(lease, present ? 1 : -1, this.node)
    if (present) this.#outlines.set(key, lease)
  }

  /** An address is occupied while it is leased, unless the lease is over, or reserved, or has a record that cannot be read. */
  #occupy(key: string, address: LeaseKey): void {
    const isTaken =
      this.tables.reservation.has(key) ||
      (this.tables.lease.has(key) && !this.leases.expired.has(key)) ||
      (['lease', 'reservation'] as const).some(kind => this.#unreadable.has(recordId({ kind, key })))
    this.addresses.mark(address, isTaken)
  }

  /** A record that is in the store and cannot be read or worked with: its address is given to no other pod. */
  leaveOut(name: RecordName): void {
    const address = name.kind === 'lease' || name.kind === 'reservation' ? addressOf(name.key) : undefined
    if (!address) return
    this.#unreadable.add(recordId(name))
    this.#occupy(name.key, address)
  }

  /** It is gone, or can be read again. */
  leaveIn(name: RecordName): void {
    const address = this.#unreadable.delete(recordId(name)) ? addressOf(name.key) : undefined
    if (address) this.#occupy(name.key, address)
  }

  /** Frees kept addresses whose time is over, of which the remembered ones stay; gives all leases that wait to be deleted. */
  expire(now: number): readonly LeaseRecord[] {
    const { expiries, expired } = this.leases
    for (const { key, until } of expiries.takeUntil(now)) {
      const lease = this.tables.lease.get(key)
      if (lease?.until !== until || lease.state === 'bound' || lease.remembered) continue
      expired.add(key)
      this.#occupy(key, lease)
    }
    return this.tables.lease.ofKeys(expired)
  }

  /** Leases whose time is over, though their records are still there: few, unless a clock leapt or the store refuses. */
  *overAt(now: number): Generator<LeaseRecord, undefined> {
    const { expiries, expired } = this.leases
    const due = Array.from(expiries.upTo(now), ({ key }) => key)
    for (const lease of this.tables.lease.ofKeys(new Set([...expired, ...due])))
      if (isTimeOver(lease, now)) yield lease
  }

  outlineOf(key: string): LeaseOutline | undefined {
    if (this.isShared) return this.#outlines.get(key)
    const lease = this.tables.lease.get(key)
    return lease && outlineOf(lease)
  }

  /** Leases in any state that a node has. Where nodes share the store, only those of its blocks of addresses are parsed. */
  *leasesOn(node: string): Iterable<LeaseRecord> {
    if (!this.isShared) {
      for (const lease of this.tables.lease.walk()) if (lease.node === node) yield lease
      return
    }
    for (const { segment, ...address } of this.addresses.besides(node)) {
      const lease = this.tables.lease.peek(leaseKey({ segment, address: formatAddress(address) }))
      if (lease?.node === node) yield lease
    }
  }
}

/** Of the key of a lease; undefined where it is not as ipkeeper writes it. */
function addressOf(key: string): LeaseKey | undefined {
  try {
    const [segment, address] = JSON.parse(key) as [unknown, unknown]
    if (typeof segment !== 'string' || typeof address !== 'string' || !parseAddress(address)) return undefined
    return { segment, address }
  } catch {
    return undefined
  }
}
