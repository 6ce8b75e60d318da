import { setTimeout as delay } from 'node:timers/promises'
import { planDel, planUndo } from '../../ipam/plan/plan-del.ts'
import type { EndedBy } from '../../ipam/records/history-entry.ts'
import { anotherMayRun } from '../../ipam/records/node-record.ts'
import {
  attachmentKey,
  sameAttachment,
  type AttachmentKey,
  type AttachmentRecord,
  type Began,
  type Change,
  type LeaseKey,
} from '../../ipam/records/records.ts'
import { workloadOf } from '../../ipam/records/workload.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import { invocationStart, type Invocation } from './invocation.ts'
import type { LeaseService } from './service.ts'
import { inTurnOfHolder } from './turns.ts'
import type { Giver } from './recent-verbs.ts'
import type { LateDel } from './verb-observer.ts'

export interface DelOutcome {
  /** The attachment that the DEL ended; undefined when there was none, or none that it means. */
  readonly ended?: AttachmentRecord
  /** The fallback that has to release its addresses; null where they were ours, undefined when it is not known. */
  readonly delegatedTo?: string | null
  /** Absent when it ended the newest sandbox of its pod, as a DEL is meant to. */
  readonly late?: LateDel
  /** The answer of its ADD had never arrived: all is as it was before, and an older sandbox has its addresses again. */
  readonly undone?: true
}

/** What else there is to say of a DEL. */
export interface DelOptions {
  /** Where the main role may have leftover links of an attachment without a record. */
  readonly netns?: string
  /** What an attachment has to be, besides, in its turn. */
  readonly isMeant?: (attachment: AttachmentRecord) => boolean
  /** An operator releases this address of it by force: the sandbox, which may live, is cut off before anything is ended. */
  readonly released?: LeaseKey
  /** For the history. Default: an operator where something is released by force, else a DEL. */
  readonly by?: EndedBy
}

/** Serves the DEL of a runtime. `bootId`: the present one, or for a queued request that in its file. */
export async function serveDel(
  service: LeaseService,
  { request, network, key }: Invocation,
  bootId: string | undefined,
): Promise<DelOutcome> {
  const began = invocationStart(request, bootId)
  return await delAttachment(service, key, began, network.mainRole ? { netns: request.netns } : {})
}

/** How an attachment is ended: what is written, and what it was. */
interface EndPlan {
  readonly change: Change
  readonly present: AttachmentRecord | undefined
  /** A newer sandbox of its holder is there. */
  readonly superseded: boolean
}

/** `undoes`: what its ADD took from an older sandbox goes back to that, because its answer never arrived. */
function planEnd(
  { ledger, bootId, pools, now, ownerOf }: LeaseService,
  key: AttachmentKey,
  {
    began,
    isMeant,
    undoes,
    released: byForce,
  }: Required<Pick<DelOptions, 'isMeant'>> & {
    readonly released?: LeaseKey | undefined
    readonly began: Began | undefined
    readonly undoes: boolean
  },
): EndPlan {
  const present = ledger.attachment(key)
  const terms = { began, bootId, pools: pools(), now: now() }
  if (!present)
    return { change: planDel(ledger, key, { ...terms, workload: null }), present, superseded: false }
  if (!isMeant(present)) return { change: [], present, superseded: false }
  const { holder, podUid, answered } = present
  const owner = ownerOf(holder, podUid)
  const workload = owner === undefined ? null : workloadOf(holder, podUid, owner)
  const released = planDel(ledger, key, { ...terms, workload, released: byForce })
  return {
    change: undoes && released.length > 0 ? planUndo(ledger, key, answered, terms) : released,
    present,
    superseded: !sameAttachment(ledger.holder(holder)?.attachment ?? null, present),
  }
}

/**
 * Ends an attachment; durable before it resolves. `began` says when the run of the DEL began, where the caller knows: what
 * was added later is left alone, and an ADD that began earlier and comes later is refused.
 */
export async function delAttachment(
  service: LeaseService,
  key: AttachmentKey,
  began: Began | undefined,
  { netns, isMeant = () => true, released, by = released ? 'operator' : 'del' }: DelOptions = {},
): Promise<DelOutcome> {
  const { ledger, network, tombstones } = service
  return await service.serial.run(attachmentKey(key), async () => {
    const attachment = ledger.attachment(key)
    // Not remembered as a DEL, either: nothing has ended here.
    const isByRuntime = by === 'del' || by === 'gc'
    if (isByRuntime && attachment && mayBeOfAnotherMachine(service, attachment)) return { late: 'unknown' }
    const willEnd = (): boolean => planEnd(service, key, { began, isMeant, undoes: false }).change.length > 0
    const undoes =
      released === undefined &&
      attachment?.unanswered !== undefined &&
      willEnd() &&
      !(await service.wasAnswered(attachment))
    // The kernel first: once its addresses may go to another pod, nothing may answer for them any more.
    const end = async (): Promise<EndPlan> => {
      if (released && attachment && isRecordedHere(service, attachment) && willEnd())
        await network.cutOff(attachment)
      if (attachment?.wiring && willEnd()) await network.unwire(attachment, ledger.leasesOf(key))
      else if (!attachment && netns !== undefined) await network.unwireUnknown(key, netns)
      const plan = (): EndPlan => planEnd(service, key, { began, isMeant, undoes, released })
      return await commitPlan(ledger, () => ({ ...plan(), by }))
    }
    const { present, change, superseded } = attachment?.wiring
      ? await inTurnOfHolder(service, attachment.holder, end)
      : await end()
    const giver = present && (present.delegatedTo ?? null)
    if (began) tombstones.bury(key, began, service.monotonic(), giver)
    if (!present) return { late: 'unknown', ...whoGave(tombstones.giver(key)) }
    // A younger one was left alone, and so must be what the fallback gave it.
    if (change.length === 0) return { delegatedTo: null, late: 'overtaken' }
    return {
      ended: present,
      ...whoGave(giver),
      ...(superseded && { late: 'superseded' }),
      ...(undoes && { undone: true }),
    }
  })
}

/**
 * Whether another machine may run a sandbox: a runtime knows nothing of that, though it has one of the same ID on its list where its disk is a
 * copy of that machine's. Only a node's own runtime says that its sandboxes have ended (DESIGN.md, promise 5).
 */
function mayBeOfAnotherMachine(
  { ledger, node: here, lostNode, isForgotten }: LeaseService,
  { node, generation, ...key }: AttachmentRecord,
): boolean {
  if (!ledger.isShared || generation > 0 || ledger.hasEnded(key)) return false
  if (node !== here) return lostNode?.(node) === undefined && isForgotten?.(node) !== true
  return anotherMayRun(ledger.node(here) ?? {})
}

/** Generation 0: nothing is known here of its namespace. */
export const isRecordedHere = ({ node }: Pick<LeaseService, 'node'>, attachment: AttachmentRecord): boolean =>
  attachment.node === node && attachment.generation > 0

const whoGave = (giver: Giver): Pick<DelOutcome, 'delegatedTo'> =>
  giver === undefined ? {} : { delegatedTo: giver }

/** Milliseconds until the next try when the store refuses. */
const pauseAfterFailure = 5000

/**
 * Ends each attachment that has ended here and appears again, now or later: an engine may carry out a second copy of its ADD
 * after its record has gone, another node may give its lease back, or its DEL came when the journal was lost and the engine
 * away. So does each that is in use under this node's name by a machine which had that before, and was declared gone for good. Another one
 * that is not known to have ended here is left alone: another daemon of the same name may have it.
 */
export function endStrays(
  service: LeaseService,
  onError: (error: unknown, key: AttachmentKey) => void,
): void {
  const { ledger } = service
  const end = (key: AttachmentKey): void => {
    void endStray(service, key, error => {
      onError(error, key)
    })
  }
  ledger.subscribe({ stray: end })
  for (const key of [...ledger.strays()]) end(key)
}

export async function endStray(
  service: LeaseService,
  key: AttachmentKey,
  onError: (error: unknown) => void,
): Promise<void> {
  while (service.tombstones.has(key) || service.ledger.isOver(key)) {
    try {
      // One that has a record was added again while this one waited.
      await delAttachment(service, key, undefined, {
        isMeant: ({ generation }) => generation === 0,
      })
      return
    } catch (error) {
      onError(error)
      await delay(pauseAfterFailure, undefined, { ref: false })
    }
  }
}
