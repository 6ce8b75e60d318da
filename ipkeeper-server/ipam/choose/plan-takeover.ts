import type { AddRequest, AddTerms } from '../request/add-request.ts'
import { type AddressBook, currentAttachment } from '../pools/address-book.ts'
import { claimProblem } from './claim-problems.ts'
import { requestedMac } from '../request/mac-request.ts'
import { judgeTakeover, type TakeoverByTime } from '../records/last-contact.ts'
import { retains } from '../records/retention.ts'
import { standingOf, unjudged, type Standing } from '../records/standing.ts'
import {
  holderKey,
  leaseKey,
  sameAttachment,
  type AttachmentRecord,
  type LeaseRecord,
  type Change,
} from '../records/records.ts'

/** What of its own an ADD may take, and from whom. */
export interface Takeover {
  /** The holder's own leases that this ADD may move, in the order of their range sets. */
  readonly movable: readonly LeaseRecord[]
  /** Whether a lease may be taken: it is movable, or of this holder and no sandbox that may live has it. */
  readonly mayTake: (lease: LeaseRecord) => boolean
  /** Why the sandbox that has a lease has to give it up to whoever may inherit it; undefined when it need not. */
  readonly left: (lease: LeaseRecord) => string | undefined
  /** Whether a sandbox that is not proved dead has the lease. */
  readonly inUse: (lease: LeaseRecord) => boolean
  /** How it stands with what a sandbox has. */
  readonly standing: (lease: LeaseRecord) => Standing
  /** How it stands with a takeover of what a sandbox of another node has, for people. */
  readonly byTime: (lease: LeaseRecord) => string | undefined
  readonly reasons: readonly string[]
}

/**
 * What becomes of the holder's earlier leases (DESIGN.md, rule 5). They may move to the same pod, from a sandbox
 * that is proved dead, from one of a node that has been silent for long (takeover-by-time.ts), or when retention kept them without one. Otherwise a pod that insists on an address, by request or
 * because the old one was requested, retained or reserved, has to wait (IPK_HOLDER_LIVE); a purely dynamic one gets a fresh
 * address.
 */
export function planTakeover(
  book: AddressBook,
  request: AddRequest,
  {
    liveness,
    lostNode,
    isForgotten,
    silenceOf,
  }: Pick<AddTerms, 'liveness' | 'lostNode' | 'isForgotten' | 'silenceOf'>,
): Takeover {
  const witness = { node: request.node, liveness, lostNode, isForgotten }
  const holder = book.holder(request.holder)
  const old = holder && currentAttachment(book, holder)
  // A kept address whose time is over may have gone to another holder since.
  const leases = (holder?.leases ?? [])
    .flatMap(key => book.lease(key) ?? [])
    .filter(lease => lease.state !== 'cooling' && isOwn(lease))

  function isOwn(lease: LeaseRecord): boolean {
    return holderKey(lease.holder) === holderKey(request.holder)
  }
  const attachmentOf = (lease: LeaseRecord): AttachmentRecord | undefined =>
    lease.attachment ? book.attachment(lease.attachment) : undefined
  const byTime = (attachment: AttachmentRecord): TakeoverByTime =>
    attachment.node === request.node || !silenceOf
      ? { allowed: false, says: undefined }
      : judgeTakeover(attachment.node, book.leasesOf(attachment), request.main, silenceOf(attachment.node))
  /** What proves that the attachment cannot use its addresses any more; undefined when nothing does. */
  const proof = (attachment: AttachmentRecord): string | undefined => {
    if (liveness(attachment) === 'dead') return 'the old sandbox is dead'
    const { allowed, says } = byTime(attachment)
    return allowed ? says : undefined
  }
  /** Why the attachment has to give its addresses up to this ADD; undefined when it need not. */
  const yields = (attachment: AttachmentRecord): string | undefined =>
    attachment.podUid !== null && attachment.podUid === request.podUid
      ? 'a new sandbox of the same pod'
      : proof(attachment)

  const own = !old || sameAttachment(request.key, old)
  const reason = own ? undefined : yields(old)
  const free = own || reason !== undefined
  const mac = requestedMac(request)?.mac
  const insists =
    request.pod.addresses.length + request.pod.candidates.length > 0 ||
    (mac !== undefined && leases.some(lease => lease.mac === mac)) ||
    leases.some(lease => lease.named || retains(lease.retain) || book.reservation(lease) !== undefined)
  if (!free && insists)
    throw claimProblem.holderLive(request, old, leases, standingOf(old, witness), byTime(old).says)

  const movable = free ? leases : []
  const moving = new Set(movable.map(leaseKey))
  const sandbox = old?.containerId.slice(0, 13) ?? ''
  return {
    movable,
    mayTake: lease => {
      const attachment = attachmentOf(lease)
      return (
        moving.has(leaseKey(lease)) || (isOwn(lease) && (!attachment || yields(attachment) !== undefined))
      )
    },
    left: lease => {
      const attachment = attachmentOf(lease)
      return attachment && proof(attachment)
    },
    inUse: lease => {
      const attachment = attachmentOf(lease)
      return attachment !== undefined && liveness(attachment) !== 'dead'
    },
    standing: lease => {
      const attachment = attachmentOf(lease)
      return attachment ? standingOf(attachment, witness) : unjudged(lease)
    },
    byTime: lease => {
      const attachment = attachmentOf(lease)
      return attachment && byTime(attachment).says
    },
    reasons: !free
      ? [`older sandbox ${sandbox} of the same name may live: a fresh address`]
      : reason !== undefined && leases.length > 0
        ? [`takes over from container ${sandbox}: ${reason}`]
        : [],
  }
}

/** Whose sandbox an ADD took addresses from: one of the same pod, or one of another pod of that name or workload, proved dead. */
export type FormerSandbox = 'same_pod' | 'other_pod'

/** Whether the change of an ADD takes addresses from an older sandbox; its undo knows from which. */
export function tookOver(change: Change): FormerSandbox | undefined {
  for (const write of change) {
    if (write.kind !== 'attachment' || !write.record) continue
    const { podUid, undo, ...key } = write.record
    for (const { before } of undo.leases) {
      if (!before?.attachment || sameAttachment(before.attachment, key)) continue
      return podUid !== null && before.podUid === podUid ? 'same_pod' : 'other_pod'
    }
  }
  return undefined
}
