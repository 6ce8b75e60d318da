import { type AddressBook, attachmentByLease } from '../pools/address-book.ts'
import { withinSpan } from '../records/times.ts'
import { forgetOldest } from './remembered-addresses.ts'
import { policyOf, type PoolBook } from '../pools/pool-settings.ts'
import {
  attachmentKey,
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

/** What becomes of a lease whose attachment is gone: kept for its holder, or resting. */
export function releasedLease(lease: LeaseRecord, pools: PoolBook, now: number): LeaseRecord {
  const policy = policyOf(pools, lease.pool)
  const base = { ...lease, generation: lease.generation + 1, attachment: null, since: now }
  if (lease.retain === 'release') {
    const rest = lease.named ? policy.preferFor : policy.cooldown
    const remembered = policy.strategy === 'least-recently-used' && { remembered: true as const }
    return { ...base, state: 'cooling', until: now + rest, ...remembered }
  }
  const until = typeof lease.retain === 'object' ? now + lease.retain.milliseconds : null
  return { ...base, state: 'held', until }
}

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
function endedLease(lease: LeaseRecord, current: boolean, pools: PoolBook, now: number): LeaseRecord {
  return releasedLease(current ? lease : { ...lease, retain: 'release' }, pools, now)
}

/** The write that puts a lease record in place of the present one. */
export function writeLease(book: AddressBook, record: LeaseRecord): Write {
  return { kind: 'lease', key: leaseKey(record), expect: book.lease(record)?.generation ?? null, record }
}

/** What a holder's record says of its attachment; nothing where there is none. */
export function ofAttachment(
  attachment: (AttachmentKey & Pick<AttachmentRecord, 'node' | 'podUid' | 'since'>) | null,
): Pick<HolderRecord, 'attachment' | 'sandbox'> {
  if (!attachment) return { attachment: null }
  const { network, containerId, ifname, node, podUid, since } = attachment
  return { attachment: { network, containerId, ifname }, sandbox: { node, podUid, since } }
}

/** The holder with these leases and this attachment; it ends when it has neither. */
function writeHolder(
  present: HolderRecord,
  has: Pick<HolderRecord, 'attachment' | 'sandbox'>,
  leases: readonly LeaseKey[],
): Write {
  const generation = present.generation + 1
  const record =
    leases.length === 0 && has.attachment === null
      ? null
      : {
          generation,
          holder: present.holder,
          attachment: has.attachment,
          ...(has.sandbox && { sandbox: has.sandbox }),
          leases: leases.map(({ segment, address }) => ({ segment, address })),
        }
  return { kind: 'holder', key: holderKey(present.holder), expect: present.generation, record }
}

function deleteAttachment(attachment: AttachmentRecord): Write {
  const { generation } = attachment
  // Of generation 0 there is no record here.
  const expect = generation === 0 ? null : generation
  return { kind: 'attachment', key: attachmentKey(attachment), expect, record: null }
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
 * `bootId` is the present boot. `workload`: what is known of the pod's by now; the API may have told it since the ADD.
 */
export function planDel(
  book: AddressBook,
  key: AttachmentKey,
  began: Began | undefined,
  bootId: string,
  workload: Workload | null,
  pools: PoolBook,
  now: number,
): Change {
  const attachment = book.attachment(key)
  if (!attachment || (began && isYounger(attachment, began, bootId))) return []
  const holder = currentHolder(book, attachment) ?? holderOfHalfDel(book, attachment)
  const released = book
    .leasesOf(key)
    .map(lease => endedLease({ ...lease, ...(workload && { workload }) }, holder !== undefined, pools, now))
  const kept = released.filter(lease => lease.state === 'held')
  return [
    ...released.map(lease => writeLease(book, lease)),
    ...(holder ? [writeHolder(holder, ofAttachment(null), kept)] : []),
    ...forgetOldest(book, released),
    deleteAttachment(attachment),
  ]
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
  pools: PoolBook,
  now: number,
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
      writes.push({ kind: 'lease', key: leaseKey(lease), expect: present.generation, record: null })
      continue
    }
    // What another node's sandbox had is its own again where nodes share a store: whether it still lives, that node knows.
    // Of one that is known here, its attachment was deleted or added anew meanwhile, or was a dead one that this ADD
    // replaced under the same key.
    const orphaned =
      before.attachment !== null &&
      (before.node === attachment.node || !book.isShared) &&
      (sameAttachment(before.attachment, key) || !stillHas(book, before))
    const again = { ...withinSpan(before, now), generation: present.generation }
    const current =
      before.attachment === null || sameAttachment(attachment.undo.attachment, before.attachment)
    const isOwn = holderKey(before.holder) === holderKey(attachment.holder)
    const movedOn = before.state === 'held' && (isOwn ? !holder : hasAnother(book, before))
    // Taken from another pod of the workload, it is released as by that pod's DEL.
    const isLast = isOwn ? current && holder !== undefined : true
    const record =
      orphaned || movedOn
        ? endedLease(again, isLast && !movedOn, pools, now)
        : { ...again, generation: present.generation + 1 }
    restored.push(record)
    writes.push(writeLease(book, record))
  }
  if (holder) {
    const { attachment: before } = attachment.undo
    const older = before !== null && !sameAttachment(before, key) ? book.attachment(before) : undefined
    const back = older ?? backElsewhere(before, restored)
    // What the older sandbox has: what this ADD had taken from it, and what it had left with it.
    const own = [...(back ? book.leasesOf(back) : []), ...restored].filter(
      lease =>
        holderKey(lease.holder) === holderKey(attachment.holder) &&
        (lease.state === 'held' || (back !== null && sameAttachment(lease.attachment, back))),
    )
    writes.push(writeHolder(holder, ofAttachment(back), own))
  }
  return [
    ...writes,
    ...giveBack(book, attachment, restored),
    ...bequeathUndo(book, attachment),
    deleteAttachment(attachment),
  ]
}

/** The sandbox of another node that has its addresses back: until this change only they would tell of it. */
function backElsewhere(
  before: AttachmentKey | null,
  restored: readonly LeaseRecord[],
): AttachmentRecord | null {
  const [lease] = restored.filter(({ attachment }) => before !== null && sameAttachment(attachment, before))
  return (lease && attachmentByLease(lease)) ?? null
}

/** Whether the one an inherited address was kept for has come back since, or keeps another one of its family. */
function hasAnother(book: AddressBook, kept: LeaseRecord): boolean {
  const holder = book.holder(kept.holder)
  const isIpv6 = (key: LeaseKey): boolean => key.address.includes(':')
  return (
    holder !== undefined &&
    (holder.attachment !== null || holder.leases.some(own => isIpv6(own) === isIpv6(kept)))
  )
}

/** What an undone ADD had inherited is again whose it was: kept for it, or in its sandbox (see dropFormerHolders). */
function giveBack(
  book: AddressBook,
  attachment: AttachmentRecord,
  restored: readonly LeaseRecord[],
): Write[] {
  const inherited = restored.filter(
    lease => lease.state !== 'cooling' && holderKey(lease.holder) !== holderKey(attachment.holder),
  )
  return [...Map.groupBy(inherited, lease => holderKey(lease.holder)).values()].flatMap(leases => {
    const [first] = leases
    if (!first) return []
    const { holder } = first
    const present = book.holder(holder)
    const sandbox = attachmentByLease(first) ?? null
    const record: HolderRecord = {
      holder,
      ...(present?.attachment ? writtenSandbox(present) : ofAttachment(sandbox)),
      generation: (present?.generation ?? 0) + 1,
      leases: [...(present?.leases ?? []), ...leases.map(({ segment, address }) => ({ segment, address }))],
    }
    return [{ kind: 'holder', key: holderKey(holder), expect: present?.generation ?? null, record }]
  })
}

/** What a holder's record says of its attachment. */
function writtenSandbox({ attachment, sandbox }: HolderRecord): Pick<HolderRecord, 'attachment' | 'sandbox'> {
  return { attachment, ...(sandbox && { sandbox }) }
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
  return [writeHolder(present, isLeft ? ofAttachment(null) : present, leases)]
}

/** Holders that lose an address to these leases: one that is kept for them, or of a sandbox that is proved gone. */
export function dropFormerHolders(book: AddressBook, taken: readonly LeaseRecord[]): Write[] {
  const lost = taken.flatMap(lease => {
    const before = book.lease(lease)
    return before && holderKey(before.holder) !== holderKey(lease.holder) ? [before] : []
  })
  const byHolder = Map.groupBy(lost, before => holderKey(before.holder))
  return [...byHolder.values()].flatMap(leases =>
    leases[0] ? withdrawFromHolder(book, leases[0].holder, leases) : [],
  )
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
    return [{ kind: 'attachment', key: attachmentKey(heir), expect: heir.generation, record }]
  })
}
