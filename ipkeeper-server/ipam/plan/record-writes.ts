import type { AddressBook } from '../pools/address-book.ts'
import { newHolder, ofSandbox, type HolderAttachment } from '../records/new-records.ts'
import {
  attachmentKey,
  holderKey,
  leaseKey,
  mustStay,
  sameAttachment,
  type AttachmentKey,
  type AttachmentRecord,
  type Holder,
  type HolderRecord,
  type LeaseKey,
  type LeaseRecord,
  type Write,
} from '../records/records.ts'

/** Conditional writes of leases, holders and attachments: each expects the record that its plan has seen. */

/** Puts a lease in place of the one that was seen; null deletes it. */
export function replaceLease(seen: LeaseRecord, record: LeaseRecord | null): Write {
  return { kind: 'lease', key: leaseKey(seen), expect: seen.generation, record }
}

/** Puts a lease in place of the present one, if there is one. */
export function writeLease(book: Pick<AddressBook, 'lease'>, record: LeaseRecord): Write {
  return { kind: 'lease', key: leaseKey(record), expect: book.lease(record)?.generation ?? null, record }
}

/** Puts a holder in place of the one that was seen; it ends when it has neither leases nor an attachment. */
export function writeHolder(
  seen: HolderRecord | undefined,
  holder: Holder,
  attachment: HolderAttachment,
  leases: readonly LeaseKey[],
): Write {
  const ends = leases.length === 0 && attachment.attachment === null
  return {
    kind: 'holder',
    key: holderKey(holder),
    expect: seen?.generation ?? null,
    record: ends ? null : newHolder(seen, holder, attachment, leases),
  }
}

/**
 * The condition that a holder is still what a plan has seen, where the plan leaves it alone because it has moved on: the ADD
 * that it moved on with may be on its way, and be taken back. Only a store that nodes share takes anything back.
 */
export function holderMustStay(book: AddressBook, holder: Holder): Write[] {
  return book.isShared ? [mustStay('holder', holderKey(holder), book.holder(holder))] : []
}

/**
 * The condition that leases are still what a plan has seen, where it puts them into the list of a holder and leaves them as they
 * are: their sandbox may end elsewhere meanwhile, and leaves a holder alone that has moved on.
 */
export function leasesMustStay(book: AddressBook, leases: readonly LeaseKey[]): Write[] {
  return book.isShared ? leases.map(lease => mustStay('lease', leaseKey(lease), book.lease(lease))) : []
}

/** Puts an attachment in place of the one that was seen; null deletes it. */
export function writeAttachment(
  seen: AttachmentRecord | undefined,
  key: AttachmentKey,
  record: AttachmentRecord | null,
): Write {
  // Of generation 0 there is no record here.
  const expect = seen === undefined || seen.generation === 0 ? null : seen.generation
  return { kind: 'attachment', key: attachmentKey(key), expect, record }
}

/**
 * Takes addresses out of a holder's list; it goes with its last one, unless a sandbox of it is there that others may hear
 * of: one that these addresses were taken from is proved gone.
 */
export function withdrawFromHolder(
  book: AddressBook,
  holder: Holder,
  lost: readonly (LeaseKey & Partial<Pick<LeaseRecord, 'attachment'>>)[],
): Write[] {
  const present = book.holder(holder)
  const gone = new Set(lost.map(leaseKey))
  const leases = present?.leases.filter(own => !gone.has(leaseKey(own))) ?? []
  if (!present || leases.length === present.leases.length) return []
  const { attachment } = present
  const isLeft =
    attachment !== null &&
    leases.length === 0 &&
    lost.some(lease => sameAttachment(lease.attachment ?? null, attachment))
  return [writeHolder(present, holder, isLeft ? ofSandbox(null) : present, leases)]
}

/** Leases by whose they are; each group has at least the one that it was made for. */
export function byHolder(leases: readonly LeaseRecord[]): (readonly [LeaseRecord, ...LeaseRecord[]])[] {
  const groups = Map.groupBy(leases, lease => holderKey(lease.holder))
  return [...groups.values()] as [LeaseRecord, ...LeaseRecord[]][]
}

/**
 * Holders that lose an address to these leases: one that is kept for them, or of a sandbox that is proved gone. Where one
 * cools down although a sandbox is said to have it, an engine without transactions has carried out half of a DEL. The node of
 * that DEL ends the holder, and would take any other text for somebody's later change.
 */
export function dropFormerHolders(book: AddressBook, taken: readonly LeaseRecord[]): Write[] {
  const lost = taken.flatMap(lease => {
    const before = book.lease(lease)
    if (!before || holderKey(before.holder) === holderKey(lease.holder)) return []
    return before.state === 'cooling' && book.holder(before.holder)?.attachment ? [] : [before]
  })
  return byHolder(lost).flatMap(leases => withdrawFromHolder(book, leases[0].holder, leases))
}
