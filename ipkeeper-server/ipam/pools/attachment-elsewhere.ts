import type { AddressBook } from './address-book.ts'
import type { AttachmentKey, AttachmentRecord, HolderRecord, LeaseRecord } from '../records/records.ts'

/**
 * What is known here of an attachment that no record of this node tells of: it is another node's, or this node has lost
 * its journal. It proves nothing of its death.
 */
function known(
  key: AttachmentKey,
  about: Pick<AttachmentRecord, 'holder' | 'podUid' | 'node' | 'since'>,
): AttachmentRecord {
  const { network, containerId, ifname } = key
  const { holder, podUid, node, since } = about
  return {
    ...{ network, containerId, ifname, holder, podUid, node, since },
    generation: 0,
    answered: 0,
    bootId: null,
    netns: '',
    netnsInode: null,
    invocationId: null,
    startedAt: null,
    undo: { leases: [], attachment: null },
  }
}

/** The attachment that a lease is bound to, by the lease alone. */
export function attachmentByLease(lease: LeaseRecord): AttachmentRecord | undefined {
  return lease.attachment ? known(lease.attachment, lease) : undefined
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
  return book.attachment(attachment) ?? (sandbox && known(attachment, { holder, ...sandbox }))
}
