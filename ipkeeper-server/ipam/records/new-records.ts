import type {
  AttachmentKey,
  AttachmentRecord,
  Holder,
  HolderRecord,
  LeaseKey,
  LeaseRecord,
  UndoRecord,
  Workload,
} from './records.ts'
import type { Retention } from './retention.ts'

/**
 * How leases, holders and attachments are made: by ADD, by an import, and from what other nodes say. The order of keys is
 * that of what is stored.
 */

/** Which address it is, and the range set that it was given from. */
export interface LeasePlace
  extends LeaseKey, Pick<LeaseRecord, 'pool' | 'rangeSet' | 'prefixLength' | 'gateway'> {}

/** Whose an address or an attachment is, and on which node. */
export interface Recipient {
  readonly holder: Holder
  readonly podUid: string | null
  readonly node: string
}

/** How an address is given; without an attachment it is kept for its holder. */
export interface LeaseGrant
  extends
    Recipient,
    Pick<
      LeaseRecord,
      'attachment' | 'named' | 'source' | 'retain' | 'mac' | 'carried' | 'ownLink' | 'since'
    > {
  readonly workload: Workload | null
}

/** When a kept address becomes free; null for never. */
export function keptUntil(retain: Retention, since: number): number | null {
  return typeof retain === 'object' ? since + retain.milliseconds : null
}

/** @param before the record of the address that this one replaces */
export function newLease(
  before: LeaseRecord | undefined,
  { segment, address, pool, rangeSet, prefixLength, gateway }: LeasePlace,
  {
    holder,
    podUid,
    node,
    workload,
    attachment,
    named,
    source,
    retain,
    mac,
    carried,
    ownLink,
    since,
  }: LeaseGrant,
): LeaseRecord {
  return {
    segment,
    address,
    generation: (before?.generation ?? 0) + 1,
    state: attachment ? 'bound' : 'held',
    pool,
    network: holder.network,
    rangeSet,
    prefixLength,
    gateway,
    holder,
    podUid,
    ...(workload && { workload }),
    attachment,
    node,
    named,
    source,
    retain,
    mac,
    ...(carried && { carried }),
    ...(ownLink && { ownLink }),
    since,
    until: attachment ? null : keptUntil(retain, since),
  }
}

/** A sandbox, as its holder's record has it for other nodes. */
export type HolderSandbox = AttachmentKey & Pick<AttachmentRecord, 'node' | 'podUid' | 'since'>

/** What a holder's record says of its attachment; of one without a sandbox an earlier version wrote the key alone. */
export type HolderAttachment = Pick<HolderRecord, 'attachment' | 'sandbox'>

export function ofSandbox(sandbox: HolderSandbox | null): HolderAttachment {
  if (!sandbox) return { attachment: null }
  const { network, containerId, ifname, node, podUid, since } = sandbox
  return { attachment: { network, containerId, ifname }, sandbox: { node, podUid, since } }
}

/** @param before the record that this one replaces */
export function newHolder(
  before: HolderRecord | undefined,
  holder: Holder,
  { attachment, sandbox }: HolderAttachment,
  leases: readonly LeaseKey[],
): HolderRecord {
  return {
    generation: (before?.generation ?? 0) + 1,
    holder,
    attachment,
    ...(sandbox && { sandbox }),
    leases: leases.map(({ segment, address }) => ({ segment, address })),
  }
}

/** How an attachment was made, as far as it is known. */
export interface AttachmentOrigin
  extends
    Recipient,
    Pick<
      AttachmentRecord,
      | 'bootId'
      | 'netns'
      | 'netnsInode'
      | 'invocationId'
      | 'startedAt'
      | 'answeredAt'
      | 'since'
      | 'delegatedTo'
      | 'wiring'
      | 'madeBy'
      | 'undo'
    > {}

/** @param generation 0 where no record of this node tells of it */
export function newAttachment(
  generation: number,
  { network, containerId, ifname }: AttachmentKey,
  origin: AttachmentOrigin,
): AttachmentRecord {
  const { holder, podUid, node, bootId, netns, netnsInode, invocationId, startedAt, answeredAt, since } =
    origin
  const { delegatedTo, wiring, madeBy, undo } = origin
  return {
    ...{ network, containerId, ifname, generation, answered: generation },
    ...{ holder, podUid, node, bootId, netns, netnsInode, invocationId, startedAt },
    ...(answeredAt !== undefined && { answeredAt }),
    since,
    ...(delegatedTo !== undefined && { delegatedTo }),
    ...(wiring && { wiring }),
    ...(madeBy !== undefined && { madeBy }),
    undo,
  }
}

/** An attachment of another node, or of a journal that was lost: known by a lease or a holder alone. It proves no death. */
export function attachmentElsewhere(
  key: AttachmentKey,
  { holder, podUid, node, since }: Recipient & Pick<AttachmentRecord, 'since'>,
): AttachmentRecord {
  return newAttachment(0, key, {
    ...{ holder, podUid, node, since },
    bootId: null,
    netns: '',
    netnsInode: null,
    invocationId: null,
    startedAt: null,
    undo: { leases: [], attachment: null },
  })
}

/** The attachment that a lease is bound to, by the lease alone. */
export function attachmentByLease(lease: LeaseRecord): AttachmentRecord | undefined {
  return lease.attachment ? attachmentElsewhere(lease.attachment, lease) : undefined
}

/** One entry of an undo: what a written lease replaced. */
export function undoEntry(
  { segment, address, generation: wrote }: LeaseRecord,
  before: LeaseRecord | null,
): UndoRecord['leases'][number] {
  return { segment, address, wrote, before }
}
