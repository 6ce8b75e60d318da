import { attachmentElsewhere } from '../records/new-records.ts'
import type { Address } from '../../../shared/net/address.ts'
import type { Interval, Pool, RangeSet } from './pool.ts'
import type {
  AttachmentKey,
  AttachmentRecord,
  Holder,
  HolderRecord,
  LeaseKey,
  LeaseOutline,
  LeaseRecord,
  MacRecord,
  NodeRecord,
  PoolRecord,
  QuotaRecord,
  ReservationRecord,
} from '../records/records.ts'

/**
 * What planning may look at: one consistent view of all records, including changes that are on their way to the store.
 * Plans only read it.
 */
export interface AddressBook {
  /** Whether other nodes have the same leases: of their attachments only so much is known as leases and holders tell. */
  readonly isShared: boolean
  lease(key: LeaseKey): LeaseRecord | undefined
  holder(holder: Holder): HolderRecord | undefined
  /** Of an attachment of another node, what its leases tell (attachmentElsewhere). */
  attachment(key: AttachmentKey): AttachmentRecord | undefined
  /** Leases bound to an attachment, in the order of their range sets. */
  leasesOf(key: AttachmentKey): readonly LeaseRecord[]
  attachmentsOf(network: string): Iterable<AttachmentRecord>
  reservation(key: LeaseKey): ReservationRecord | undefined
  /** Kept leases of a workload by the name of it, and bound ones that would be kept after the DEL of their pods, which do not come back; oldest first. */
  leasesKeptFor(namespace: string, workload: string): Iterable<LeaseRecord>
  /** Cooling and remembered leases that a pool gave, the longest rested first. */
  resting(pool: string): Iterable<LeaseRecord>
  /** The same, in the order in which they are to be used again; in a ledger that nodes share each has another. */
  restingToReuse(pool: string): Iterable<LeaseRecord>
  restingCount(pool: string): number
  /** How many addresses of a family pods of the namespace have from the pool, or keep and their time is not over. */
  liveIn(pool: string, namespace: string, family: Address['family'], now: number): number
  /** Reservations of a pod or workload of this name, in any segment. */
  reservationsFor(namespace: string, name: string): readonly ReservationRecord[]
  quota(key: Pick<QuotaRecord, 'pool' | 'namespace' | 'family'>): QuotaRecord | undefined
  /** Leases with a MAC that was asked for, in any state and segment. */
  leasesWithMac(mac: string): Iterable<LeaseRecord>
  macGuard(key: Pick<MacRecord, 'segment' | 'lastOctet'>): MacRecord | undefined
  /** What nodes have told of themselves; none where nodes share nothing. */
  nodes(): Iterable<NodeRecord>
  pool(name: string): PoolRecord | undefined
  pools(): Iterable<PoolRecord>
  /**
   * Lowest address of the run that nobody has, keeps, reserves or lets rest; undefined when there is none. In a ledger
   * that nodes share: the lowest of a block that this node prefers (block-affinity.ts).
   */
  lowestFree(segment: string, family: Address['family'], run: Interval): Address | undefined
  /** Leases, of all pools, whose address lies in the range set; only for counting, since there may be very many. */
  leasesWithin(segment: string, set: RangeSet): Iterable<LeaseKey & LeaseOutline>
  reservationsWithin(segment: string, set: RangeSet): Iterable<ReservationRecord>
  /** Whether any address of the pool is bound or held. */
  hasLiveLease(pool: Pick<Pool, 'name'>): boolean
}

/**
 * The holder's current attachment. Of another node's it is known as soon as its ADD has begun there, before it has any
 * lease: the holder's record is written first.
 */
export function currentAttachment(
  book: Pick<AddressBook, 'attachment'>,
  record: HolderRecord,
): AttachmentRecord | undefined {
  const { attachment, holder, sandbox } = record
  if (!attachment) return undefined
  return book.attachment(attachment) ?? (sandbox && attachmentElsewhere(attachment, { holder, ...sandbox }))
}
