import { planDel, planUndo } from '../../ipam/plan/plan-del.ts'
import {
  attachmentKey,
  sameAttachment,
  type AttachmentKey,
  type AttachmentRecord,
  type Began,
  type Change,
} from '../../ipam/records/records.ts'
import { workloadOf } from '../../ipam/records/workload.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import { invocationStart, type Invocation } from './invocation.ts'
import type { LeaseService } from './service.ts'
import { inTurnOfHolder } from './turn-of-holder.ts'
import type { Giver } from './tombstones.ts'
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
export interface DelTerms {
  /** Where the main role may have leftover links of an attachment without a record. */
  readonly netns?: string
  /** What an attachment has to be, besides, in its turn. */
  readonly isMeant?: (attachment: AttachmentRecord) => boolean
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

/**
 * Ends an attachment; durable before it resolves. `began` says when the run of the DEL began, where the caller knows: what
 * was added later is left alone, and an ADD that began earlier and comes later is refused.
 */
export async function delAttachment(
  service: LeaseService,
  key: AttachmentKey,
  began: Began | undefined,
  { netns, isMeant = () => true }: DelTerms = {},
): Promise<DelOutcome> {
  return await service.serial.run(attachmentKey(key), async () => {
    const { ledger, bootId, pools, now, network } = service
    interface Plan {
      readonly change: Change
      readonly present: AttachmentRecord | undefined
      readonly superseded: boolean
    }
    // What an ADD that nobody has the answer of had taken from an older sandbox is that one's again.
    let undoes = false
    const plan = (): Plan => {
      const attachment = ledger.attachment(key)
      if (attachment && !isMeant(attachment)) return { change: [], present: attachment, superseded: false }
      const owner = attachment && service.ownerOf(attachment.holder, attachment.podUid)
      const workload =
        attachment && owner !== undefined ? workloadOf(attachment.holder, attachment.podUid, owner) : null
      const current = attachment && ledger.holder(attachment.holder)?.attachment
      const terms = { pools: pools(), now: now() }
      const released = planDel(ledger, key, { began, bootId, workload, ...terms })
      const undo = undoes && attachment !== undefined && released.length > 0
      return {
        superseded: attachment !== undefined && !sameAttachment(current ?? null, attachment),
        change: undo ? planUndo(ledger, key, attachment.answered, terms) : released,
        present: attachment,
      }
    }
    const attachment = ledger.attachment(key)
    if (attachment?.unanswered && plan().change.length > 0) undoes = !(await service.wasAnswered(attachment))
    // Before its addresses are anybody else's, nothing may answer for them any more.
    const end = async (): Promise<Plan> => {
      if (attachment?.wiring && plan().change.length > 0)
        await network.unwire(attachment, ledger.leasesOf(key))
      else if (!attachment && netns !== undefined) await network.unwireUnknown(key, netns)
      return await commitPlan(ledger, plan)
    }
    const { present, change, superseded } = attachment?.wiring
      ? await inTurnOfHolder(service, attachment.holder, end)
      : await end()
    const giver = present && (present.delegatedTo ?? null)
    if (began) service.tombstones.bury(key, began, service.monotonic(), giver)
    if (!present) return { late: 'unknown', ...whoGave(service.tombstones.giver(key)) }
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

const whoGave = (giver: Giver): Pick<DelOutcome, 'delegatedTo'> =>
  giver === undefined ? {} : { delegatedTo: giver }
