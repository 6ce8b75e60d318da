import type { AddressBook } from '../pools/address-book.ts'
import { attachmentByLease, ofSandbox } from '../records/new-records.ts'
import {
  holderKey,
  leaseKey,
  sameAttachment,
  type AttachmentKey,
  type AttachmentRecord,
  type Began,
  type Change,
  type Holder,
  type HolderRecord,
  type LeaseKey,
  type LeaseRecord,
  type Workload,
  type Write,
} from '../records/records.ts'
import { withinSpan } from '../records/times.ts'
import { forgetOldest, releasedLease, type ReleaseTerms } from './plan-release.ts'
import {
  byHolder,
  holderMustStay,
  leasesMustStay,
  replaceLease,
  writeAttachment,
  writeHolder,
  writeLease,
} from './record-writes.ts'

/** The holder, if this is its current attachment; undefined once the holder has moved on. */
function currentHolder(book: AddressBook, attachment: AttachmentRecord): HolderRecord | undefined {
  const holder = book.holder(attachment.holder)
  return holder && sameAttachment(holder.attachment, attachment) ? holder : undefined
}

/**
 * The holder after a DEL of this attachment that ended half-way, as an engine without transactions has it: its record says
 * already what it keeps, and the lease is still bound.
 */
function holderOfHalfDel(book: AddressBook, attachment: AttachmentRecord): HolderRecord | undefined {
  const holder = book.holder(attachment.holder)
  if (holder?.attachment !== null) return undefined
  const kept = new Set(holder.leases.map(leaseKey))
  return book.leasesOf(attachment).some(lease => kept.has(leaseKey(lease))) ? holder : undefined
}

/** Like releasedLease; but what an older sandbox still had is kept for nobody, because its holder has other addresses. */
function endedLease(lease: LeaseRecord, current: boolean, terms: ReleaseTerms): LeaseRecord {
  return releasedLease(current ? lease : { ...lease, retain: 'release' }, terms)
}

/** What is known when a DEL is carried out. */
export interface DelTerms extends ReleaseTerms {
  /** When the run of its plugin began; undefined where the caller does not say. */
  readonly began: Began | undefined
  /** The present boot. */
  readonly bootId: string
  /** Of the pod, as it is known by now: the API may have told it since the ADD. */
  readonly workload: Workload | null
  /** An address of it that an operator releases: it is kept for nobody, whatever its retention. */
  readonly released?: LeaseKey | undefined
}

/**
 * Whether an attachment is younger than a DEL: it was added by a run of the plugin that began after the DEL's. Such a DEL
 * meant an earlier sandbox of the same ID (nerdctl sends a DEL before every ADD), or lay in the queue over a reboot.
 */
function isYounger(attachment: AttachmentRecord, del: Began, bootId: string): boolean {
  if (attachment.bootId !== del.bootId) return attachment.bootId === bootId
  return attachment.startedAt !== null && attachment.startedAt > del.startedAt
}

/**
 * What DEL of an attachment changes. Only leases bound to this very attachment are touched, so that a late DEL of an old
 * sandbox leaves the new one alone (DESIGN.md, rule 4). An unknown attachment is an empty change: DEL succeeds.
 */
export function planDel(book: AddressBook, key: AttachmentKey, terms: DelTerms): Change {
  const { began, bootId, workload, released: byForce } = terms
  const attachment = book.attachment(key)
  if (!attachment || (began && isYounger(attachment, began, bootId))) return []
  const holder = currentHolder(book, attachment) ?? holderOfHalfDel(book, attachment)
  const isKept = (lease: LeaseRecord): boolean =>
    holder !== undefined && (byForce === undefined || leaseKey(lease) !== leaseKey(byForce))
  const released = book
    .leasesOf(key)
    .map(lease => endedLease({ ...lease, ...(workload && { workload }) }, isKept(lease), terms))
  const kept = released.filter(lease => lease.state === 'held')
  return [
    ...released.map(lease => writeLease(book, lease)),
    ...(holder
      ? [writeHolder(holder, holder.holder, ofSandbox(null), kept)]
      : holderMustStay(book, attachment.holder)),
    ...forgetOldest(book, released),
    writeAttachment(attachment, attachment, null),
  ]
}

/** Ends the sandbox that a holder has on this node where nothing else is left of it: no record, and no lease. */
export function planHalfDeleted(book: AddressBook, holder: Holder, node: string): Change {
  const present = book.holder(holder)
  if (!present?.attachment || present.sandbox?.node !== node) return []
  if (book.attachment(present.attachment) || book.leasesOf(present.attachment).length > 0) return []
  const isKept = (key: LeaseKey): boolean => {
    const lease = book.lease(key)
    return lease?.state === 'held' && holderKey(lease.holder) === holderKey(holder)
  }
  return [writeHolder(present, holder, ofSandbox(null), present.leases.filter(isKept))]
}

/**
 * Whether a lease is as the ADD of an attachment left it: bound to it (under a later generation when a sandbox that had
 * taken it over was undone), or freed. A generation alone tells too little: that of a lease that came free and was given
 * to somebody else began anew.
 */
function isStillWritten(
  present: LeaseRecord,
  key: AttachmentKey,
  wrote: number,
  before: LeaseRecord | null,
): boolean {
  if (present.attachment !== null) return sameAttachment(present.attachment, key)
  return (
    present.generation === wrote && before !== null && holderKey(present.holder) === holderKey(before.holder)
  )
}

/** Whether the attachment that a lease names is there, and is the one that was given it: its ADD wrote the lease. */
function stillHas(book: AddressBook, lease: LeaseRecord): boolean {
  const attachment = lease.attachment && book.attachment(lease.attachment)
  return attachment?.undo.leases.some(own => leaseKey(own) === leaseKey(lease)) === true
}

/**
 * What undoing an abandoned ADD changes: every lease it wrote goes back to what it was, unless somebody has changed it
 * since; one that it took from an older sandbox goes back to that, or is released as by that sandbox's DEL when the DEL
 * has come meanwhile. Empty when another ADD was answered from the attachment since (`answered`).
 */
export function planUndo(
  book: AddressBook,
  key: AttachmentKey,
  answered: number,
  terms: ReleaseTerms,
): Change {
  const attachment = book.attachment(key)
  if (attachment?.answered !== answered) return []
  const holder = currentHolder(book, attachment)
  const restored: LeaseRecord[] = []
  const writes: Write[] = []
  for (const { wrote, before, ...lease } of attachment.undo.leases) {
    const present = book.lease(lease)
    if (!present || !isStillWritten(present, key, wrote, before)) continue
    if (before === null) {
      writes.push(replaceLease(present, null))
      continue
    }
    const record = restoredLease(book, { attachment, holder, present, before }, terms)
    restored.push(record)
    writes.push(writeLease(book, record))
  }
  writes.push(
    ...(holder
      ? restoredHolder(book, attachment, holder, restored)
      : holderMustStay(book, attachment.holder)),
  )
  return [
    ...writes,
    ...giveBack(book, attachment, restored),
    ...bequeathUndo(book, attachment),
    writeAttachment(attachment, attachment, null),
  ]
}

/** A lease that an ADD wrote, of an attachment whose holder has or has not moved on. */
interface Undone {
  readonly attachment: AttachmentRecord
  readonly holder: HolderRecord | undefined
  readonly present: LeaseRecord
  /** What it was before. */
  readonly before: LeaseRecord
}

/** What a lease becomes by the undo: what it was, or ended where nobody is there to have it. */
function restoredLease(
  book: AddressBook,
  { attachment, holder, present, before }: Undone,
  terms: ReleaseTerms,
): LeaseRecord {
  // What another node's sandbox had is its own again where nodes share a store: whether it still lives, that node knows.
  // Of one that is known here, its attachment was deleted or added anew meanwhile, or was a dead one that this ADD
  // replaced under the same key.
  const orphaned =
    before.attachment !== null &&
    (before.node === attachment.node || !book.isShared) &&
    (sameAttachment(before.attachment, attachment) || !stillHas(book, before))
  const again = { ...withinSpan(before, terms.now), generation: present.generation }
  const current = before.attachment === null || sameAttachment(attachment.undo.attachment, before.attachment)
  const isOwn = holderKey(before.holder) === holderKey(attachment.holder)
  const isStillOurs = isOwn && holder !== undefined
  const movedOn =
    !isStillOurs &&
    // What its sandbox has no more would be kept for it.
    (before.state === 'held' || orphaned ? isOwn || hasAnother(book, before) : hasOtherByNow(book, before))
  // Taken from another pod of the workload, it is released as by that pod's DEL.
  const isLast = isOwn ? current && isStillOurs : true
  return orphaned || movedOn
    ? endedLease(again, isLast && !movedOn, terms)
    : { ...again, generation: present.generation + 1 }
}

/** The holder has what its older sandbox has: what this ADD had taken from it, and what it had left with it. */
function restoredHolder(
  book: AddressBook,
  attachment: AttachmentRecord,
  holder: HolderRecord,
  restored: readonly LeaseRecord[],
): Change {
  const { attachment: before } = attachment.undo
  const older = before !== null && !sameAttachment(before, attachment) ? book.attachment(before) : undefined
  const back = older ?? backElsewhere(before, restored)
  const isOwn = (lease: LeaseRecord): boolean =>
    holderKey(lease.holder) === holderKey(attachment.holder) &&
    (lease.state === 'held' || (back !== null && sameAttachment(lease.attachment, back)))
  const left = (back ? book.leasesOf(back) : []).filter(isOwn)
  const own = [...left, ...restored.filter(isOwn)]
  return [writeHolder(holder, holder.holder, ofSandbox(back), own), ...leasesMustStay(book, left)]
}

/** The sandbox of another node that has its addresses back: until this change only they would tell of it. */
function backElsewhere(
  before: AttachmentKey | null,
  restored: readonly LeaseRecord[],
): AttachmentRecord | null {
  const [lease] = restored.filter(({ attachment }) => before !== null && sameAttachment(attachment, before))
  return (lease && attachmentByLease(lease)) ?? null
}

/** Whether the sandbox that had an address was added again since under the same key, and given another one of its family. */
function hasOtherByNow(book: AddressBook, { holder, attachment, ...lease }: LeaseRecord): boolean {
  const present = book.holder(holder)
  if (!attachment || !sameAttachment(present?.attachment ?? null, attachment)) return false
  return (
    present?.leases.some(own => isIpv6(own) === isIpv6(lease) && leaseKey(own) !== leaseKey(lease)) === true
  )
}

const isIpv6 = ({ address }: LeaseKey): boolean => address.includes(':')

/** Whether the one an inherited address was kept for has come back since, or keeps another one of its family. */
function hasAnother(book: AddressBook, kept: LeaseRecord): boolean {
  const holder = book.holder(kept.holder)
  return (
    holder !== undefined &&
    (holder.attachment !== null || holder.leases.some(own => isIpv6(own) === isIpv6(kept)))
  )
}

/**
 * What an undone ADD had inherited is again whose it was: kept for it, or in its sandbox (see dropFormerHolders). What an
 * older sandbox of a holder has is not the holder's: its DEL ends it.
 */
function giveBack(
  book: AddressBook,
  attachment: AttachmentRecord,
  restored: readonly LeaseRecord[],
): Write[] {
  const inherited = restored.filter(
    lease => lease.state !== 'cooling' && holderKey(lease.holder) !== holderKey(attachment.holder),
  )
  return byHolder(inherited).flatMap(leases => {
    const [first] = leases
    const present = book.holder(first.holder)
    // One that keeps other addresses had moved on; with its last one its record went (withdrawFromHolder).
    const newest = present ?? ofSandbox(attachmentByLease(first) ?? null)
    const own = leases.filter(
      lease =>
        lease.state === 'held' || (lease.attachment && sameAttachment(newest.attachment, lease.attachment)),
    )
    if (own.length === 0) return holderMustStay(book, first.holder)
    return [writeHolder(present, first.holder, newest, [...(present?.leases ?? []), ...own])]
  })
}

/**
 * An attachment that took over from this one would, by its own undo, give the addresses back to it. It is to give them to
 * whom this one had them from.
 */
function bequeathUndo(book: AddressBook, attachment: AttachmentRecord): Write[] {
  const origin = new Map(attachment.undo.leases.map(entry => [leaseKey(entry), entry.before]))
  return [...book.attachmentsOf(attachment.network)].flatMap((heir): Write[] => {
    if (sameAttachment(heir, attachment)) return []
    const inherits = (key: AttachmentKey | null): boolean => sameAttachment(key, attachment)
    const leases = heir.undo.leases.map(entry =>
      inherits(entry.before?.attachment ?? null)
        ? { ...entry, before: origin.get(leaseKey(entry)) ?? null }
        : entry,
    )
    const holderFrom = inherits(heir.undo.attachment) ? attachment.undo.attachment : heir.undo.attachment
    const same =
      holderFrom === heir.undo.attachment && leases.every((entry, index) => entry === heir.undo.leases[index])
    if (same) return []
    const record = { ...heir, generation: heir.generation + 1, undo: { leases, attachment: holderFrom } }
    return [writeAttachment(heir, heir, record)]
  })
}
