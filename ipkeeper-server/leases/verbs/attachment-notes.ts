import type { AddPlan } from '../../ipam/plan/plan-add.ts'
import {
  attachmentKey,
  type AttachmentKey,
  type AttachmentRecord,
  type Change,
  incarnationOf,
} from '../../ipam/records/records.ts'
import type { AddRequest } from '../../ipam/request/add-request.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from './service.ts'

/** Records that are written at once: few enough that ADDs do not wait for long. */
const batch = 500

/** The plan with another record of its attachment: what is written with the leases, before anything is done. */
export function withNote(
  plan: AddPlan,
  key: AttachmentKey,
  note: (record: AttachmentRecord) => AttachmentRecord,
): AddPlan {
  const own = attachmentKey(key)
  const change = plan.change.map(write =>
    write.kind === 'attachment' && write.key === own && write.record
      ? { ...write, record: note(write.record) }
      : write,
  )
  return { ...plan, change }
}

/**
 * The plan of an ADD with what is known of its answer, in the same change as its leases. What has to be answered still:
 *
 * - in the IPAM role the ADD of a caller that confirms; for any other it counts as answered once it is committed;
 * - in the main role every one, because until the pod is wired there is nothing to answer with.
 *
 * The answer of an ADD that was sent again says nothing new of one that is known to have arrived; and where its caller
 * does not confirm it counts like any other answer.
 *
 * @param answeredAt microseconds of CLOCK_MONOTONIC
 */
export function recordUnanswered(
  plan: AddPlan,
  { key, confirms = false }: Pick<AddRequest, 'key' | 'confirms'>,
  answeredAt: number,
): AddPlan {
  return withNote(plan, key, record => ({
    ...withAnswer(record, confirms, plan.repeated === true),
    answeredAt,
  }))
}

function withAnswer(
  { unanswered: before, ...record }: AttachmentRecord,
  confirms: boolean,
  repeated: boolean,
): AttachmentRecord {
  const answered = (repeated && before === undefined) || !(confirms || record.wiring !== undefined)
  return answered ? record : { ...record, unanswered: { confirms } }
}

/**
 * Remembers durably that the answers of these ADDs have arrived, in one commit; those of which that is known already cost
 * nothing. An undo for the same answer stays possible (`answered` of the record is left as it is).
 *
 * @param isMeant whether the record under the key is still that of the ADD; asked when the commit is made
 */
export async function countAsAnswered(
  { answers, ledger, monotonic }: LeaseService,
  keys: readonly AttachmentKey[],
  isMeant: (attachment: AttachmentRecord) => boolean = () => true,
): Promise<void> {
  const arrived = (key: AttachmentKey): Change => {
    const present = ledger.attachment(key)
    if (!present) return []
    const { unanswered, ...rest } = present
    if (!unanswered || !isMeant(present)) return []
    // An earlier daemon may have sent it after the record was written, and no later than now.
    const sent = Math.floor((answers.of(key) ?? monotonic()) * 1000)
    const answeredAt = Math.max(present.answeredAt ?? 0, sent)
    const record = { ...rest, answeredAt, generation: present.generation + 1 }
    return [{ kind: 'attachment', key: attachmentKey(key), expect: present.generation, record }]
  }
  // Nearly every ADD without a confirmation: it costs not even a turn of the event loop.
  if (!keys.some(key => ledger.attachment(key)?.unanswered)) return
  await commitPlan(ledger, () => ({ change: keys.flatMap(arrived) }))
}

/**
 * Remembers durably which runtime was seen to have these sandboxes. One that was added again meanwhile is left for the next
 * time.
 */
export async function markMadeBy(
  { ledger }: LeaseService,
  found: readonly { readonly seen: { readonly record: AttachmentRecord }; readonly madeBy: string }[],
): Promise<void> {
  for (let first = 0; first < found.length; first += batch) {
    const some = found.slice(first, first + batch)
    await commitPlan(ledger, (): { readonly change: Change } => ({
      change: some.flatMap(({ seen: { record }, madeBy }): Change => {
        const present = ledger.attachment(record)
        if (!present || incarnationOf(present) !== incarnationOf(record)) return []
        const next = { ...present, generation: present.generation + 1, madeBy }
        return [{ kind: 'attachment', key: attachmentKey(present), expect: present.generation, record: next }]
      }),
    }))
  }
}
