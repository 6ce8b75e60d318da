import type { AddRequest } from '../../ipam/request/add-request.ts'
import type { AddPlan } from '../../ipam/plan/plan-add.ts'
import type { AttachmentRecord } from '../../ipam/records/records.ts'
import { withIntent } from './intent.ts'

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
  return withIntent(plan, key, record => ({
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
