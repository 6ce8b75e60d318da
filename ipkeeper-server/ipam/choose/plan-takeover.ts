import { type AddRequest, type AddTerms, requestedMac } from '../request/add-request.ts'
import { type AddressBook, currentAttachment } from '../pools/address-book.ts'
import { claimProblem } from './claim-problems.ts'
import { describeContactAge, type ContactAge } from '../records/last-contact.ts'
import { leavesNode, type MainConfig } from '../request/main-config.ts'
import { retains } from '../records/retention.ts'
import { standingOf, unjudged, type Standing, type Witness } from '../records/standing.ts'
import {
  holderKey,
  leaseKey,
  sameAttachment,
  type AttachmentRecord,
  type LeaseRecord,
  type Change,
} from '../records/records.ts'

/** What proves that sandboxes are gone. */
type TakeoverTerms = Pick<AddTerms, 'liveness' | 'lostNode' | 'isForgotten' | 'contactAgeOf'>

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
 * Whether an ADD may take addresses from a sandbox of another node that has not been heard of: where they stand on a link that
 * both nodes have, so that a pod that still has one can answer, and where this ADD probes before it uses them.
 */
export interface TakeoverByTime {
  readonly allowed: boolean
  /** For people: how it stands; undefined where takeover by time does not apply. */
  readonly says: string | undefined
}

const notApplicable: TakeoverByTime = { allowed: false, says: undefined }

/**
 * @param leases what the sandbox has
 * @param main of the ADD; undefined in the IPAM role
 * @param contact with the sandbox's node
 */
export function judgeTakeover(
  node: string,
  leases: readonly Pick<LeaseRecord, 'carried'>[],
  main: Pick<MainConfig, 'mode' | 'duplicateProbe'> | undefined,
  contact: ContactAge,
): TakeoverByTime {
  if (contact.kind === 'off') return notApplicable
  const onLink = leases.length > 0 && leases.every(({ carried }) => carried === 'link')
  if (!onLink || main === undefined || !leavesNode(main.mode)) {
    const says = 'takeover by time is for modes underlay and macvlan only'
    return { allowed: false, says }
  }
  if (!main.duplicateProbe)
    return {
      allowed: false,
      says: 'no takeover by time: "duplicateProbe" is false in the network\'s configuration',
    }
  return { allowed: contact.kind === 'over', says: describeContactAge(node, contact) }
}

/** What can be proved of the sandboxes that have the holder's addresses, or those of its workload. */
class SandboxEvidence {
  readonly #book: AddressBook
  readonly #request: AddRequest
  readonly #terms: TakeoverTerms
  readonly #witness: Witness

  constructor(book: AddressBook, request: AddRequest, terms: TakeoverTerms) {
    const { liveness, lostNode, isForgotten } = terms
    this.#book = book
    this.#request = request
    this.#terms = terms
    this.#witness = { node: request.node, liveness, lostNode, isForgotten }
  }

  of(lease: LeaseRecord): AttachmentRecord | undefined {
    return lease.attachment ? this.#book.attachment(lease.attachment) : undefined
  }

  isDead(attachment: AttachmentRecord): boolean {
    return this.#terms.liveness(attachment) === 'dead'
  }

  standing(attachment: AttachmentRecord): Standing {
    return standingOf(attachment, this.#witness)
  }

  byTime(attachment: AttachmentRecord): TakeoverByTime {
    const { node } = attachment
    const { contactAgeOf } = this.#terms
    if (node === this.#request.node || !contactAgeOf) return notApplicable
    return judgeTakeover(node, this.#book.leasesOf(attachment), this.#request.main, contactAgeOf(node))
  }

  /** What proves that the attachment cannot use its addresses any more; undefined when nothing does. */
  proof(attachment: AttachmentRecord): string | undefined {
    if (this.isDead(attachment)) return 'the old sandbox is dead'
    const { allowed, says } = this.byTime(attachment)
    return allowed ? says : undefined
  }

  /** Why the attachment has to give its addresses up to this ADD; undefined when it need not. */
  yields(attachment: AttachmentRecord): string | undefined {
    return attachment.podUid !== null && attachment.podUid === this.#request.podUid
      ? 'a new sandbox of the same pod'
      : this.proof(attachment)
  }
}

/** Whether the pod insists on an address: by a request, or because what it has was requested, retained or reserved. */
function insistsOn(book: AddressBook, request: AddRequest, leases: readonly LeaseRecord[]): boolean {
  const mac = requestedMac(request)?.mac
  return (
    request.pod.addresses.length + request.pod.candidates.length > 0 ||
    (mac !== undefined && leases.some(lease => lease.mac === mac)) ||
    leases.some(lease => lease.named || retains(lease.retain) || book.reservation(lease) !== undefined)
  )
}

/**
 * What becomes of the holder's earlier leases (DESIGN.md, rule 5). They may move to the same pod, from a sandbox that is
 * proved dead, from one of a node whose last contact is long ago (last-contact.ts), or when retention kept them without one.
 * Otherwise a pod that insists on an address has to wait (IPK_HOLDER_LIVE); a purely dynamic one gets a fresh address.
 */
export function planTakeover(book: AddressBook, request: AddRequest, terms: TakeoverTerms): Takeover {
  const evidence = new SandboxEvidence(book, request, terms)
  const isOwn = (lease: LeaseRecord): boolean => holderKey(lease.holder) === holderKey(request.holder)
  const holder = book.holder(request.holder)
  const old = holder && currentAttachment(book, holder)
  // A kept address whose time is over may have gone to another holder since.
  const leases = (holder?.leases ?? [])
    .flatMap(key => book.lease(key) ?? [])
    .filter(lease => lease.state !== 'cooling' && isOwn(lease))

  const own = !old || sameAttachment(request.key, old)
  const reason = own ? undefined : evidence.yields(old)
  const free = own || reason !== undefined
  if (!free && insistsOn(book, request, leases)) {
    const judged = { standing: evidence.standing(old), byTime: evidence.byTime(old).says }
    throw claimProblem.holderLive(request, old, leases, judged)
  }
  const movable = free ? leases : []
  const moving = new Set(movable.map(leaseKey))
  const sandbox = old?.containerId.slice(0, 13) ?? ''
  /** Asks about the sandbox that has a lease; `none` where it has none. */
  const about =
    <T>(ask: (attachment: AttachmentRecord) => T, none: (lease: LeaseRecord) => T) =>
    (lease: LeaseRecord): T => {
      const attachment = evidence.of(lease)
      return attachment ? ask(attachment) : none(lease)
    }
  const mayLeave = about(
    attachment => evidence.yields(attachment) !== undefined,
    () => true,
  )
  return {
    movable,
    mayTake: lease => moving.has(leaseKey(lease)) || (isOwn(lease) && mayLeave(lease)),
    left: about(
      attachment => evidence.proof(attachment),
      () => undefined,
    ),
    inUse: about(
      attachment => !evidence.isDead(attachment),
      () => false,
    ),
    standing: about(attachment => evidence.standing(attachment), unjudged),
    byTime: about(
      attachment => evidence.byTime(attachment).says,
      () => undefined,
    ),
    reasons: !free
      ? [`older sandbox ${sandbox} of the same name may still be running: a new address`]
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
