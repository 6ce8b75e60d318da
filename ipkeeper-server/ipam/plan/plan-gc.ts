import type { Liveness } from '../records/standing.ts'
import type { AddressBook } from '../pools/address-book.ts'
import { ageOf, type AgeClock } from '../records/times.ts'
import type { AttachmentRecord, Began } from '../records/records.ts'
import type { ValidAttachment } from '../request/network-config.ts'

/** A GC, whose list was made before its plugin was started. */
export interface GcRequest {
  readonly network: string
  /** This one. */
  readonly node: string
  readonly valid: readonly ValidAttachment[]
  /** When its run began; undefined where the caller does not say. */
  readonly began: Began | undefined
}

/** What is known at the moment at which a GC is carried out, which may be long after it began. */
export interface GcTerms {
  readonly liveness: (attachment: AttachmentRecord) => Liveness
  readonly clock: AgeClock
  /** Milliseconds after which one counts as older than a list whose age nobody knows (reconcile.minAgeUnproved). */
  readonly minAgeUnproved: number
  /** When the answer to its last ADD was sent, in milliseconds of the same clock; undefined where this daemon sent none of late. */
  readonly answeredAt: (attachment: AttachmentRecord) => number | undefined
}

/** Milliseconds; no runtime lets an ADD run for longer. */
const longestAdd = 10 * 60_000

/** The attachments that a GC may end now: of its network and this node, not in the runtime's list, and older than that. */
export function planGc(book: AddressBook, request: GcRequest, terms: GcTerms): readonly AttachmentRecord[] {
  const ours = [...book.attachmentsOf(request.network)].filter(({ node }) => node === request.node)
  // A list may be a thousand times as long as what there is here: only containers that are here are remembered of it.
  const known = new Map(ours.map(({ containerId }) => [containerId, new Set<string>()]))
  for (const entry of request.valid) known.get(entry.containerId)?.add(entry.ifname)
  return ours.filter(
    attachment =>
      known.get(attachment.containerId)?.has(attachment.ifname) !== true &&
      isOlderThanList(attachment, request.began, terms),
  )
}

/**
 * Whether an attachment was there before the list of a GC was made. A list lets nobody down that came after it: the run of
 * the ADD began before that of the GC, and it was answered before, however long either waited for the daemon or its turn.
 * Where one of the two does not say when it began, only what is proved dead is older, or what is older by as much as an
 * absence has to last for the sweeper.
 */
export function isOlderThanList(
  attachment: AttachmentRecord,
  began: Began | undefined,
  { liveness, clock, minAgeUnproved, answeredAt }: GcTerms,
): boolean {
  const { bootId, startedAt } = attachment
  // What another boot dates says nothing of the order in this one.
  const dated = began?.bootId === clock.bootId
  if (dated && bootId !== null && bootId !== clock.bootId) return true
  if (!dated || startedAt === null) {
    return liveness(attachment) === 'dead' || ageOf(attachment, clock) >= minAgeUnproved
  }
  if (startedAt >= began.startedAt) return false
  const sent = answeredAt(attachment)
  // Of an earlier daemon, which may have answered it after the list was made; whether it has is found out soon.
  if (attachment.unanswered && sent === undefined) return liveness(attachment) === 'dead'
  const told = Math.max(attachment.answeredAt ?? startedAt, (sent ?? 0) * 1000)
  // A plugin in a time namespace of its own dates its runs by another clock than this daemon; then theirs has to do.
  const isOneClock = told >= startedAt && told - startedAt <= longestAdd * 1000
  return !isOneClock || told < began.startedAt
}
