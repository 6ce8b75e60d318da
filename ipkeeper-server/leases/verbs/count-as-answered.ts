import {
  attachmentKey,
  type AttachmentKey,
  type AttachmentRecord,
  type Change,
} from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from './service.ts'

/**
 * Remembers durably that the answers of these ADDs have arrived, in one commit; those of which that is known already cost
 * nothing. An undo for the same answer stays possible (`answered` of the record is left as it is).
 *
 * @param isMeant whether the record under the key is still that of the ADD; asked when the commit is made
 */
export async function countAsAnswered(
  { ledger }: LeaseService,
  keys: readonly AttachmentKey[],
  isMeant: (attachment: AttachmentRecord) => boolean = () => true,
): Promise<void> {
  const arrived = (key: AttachmentKey): Change => {
    const present = ledger.attachment(key)
    if (!present) return []
    const { unanswered, ...rest } = present
    if (!unanswered || !isMeant(present)) return []
    const record = { ...rest, generation: present.generation + 1 }
    return [{ kind: 'attachment', key: attachmentKey(key), expect: present.generation, record }]
  }
  // Nearly every ADD that nobody confirms: not even a turn of the event loop.
  if (!keys.some(key => ledger.attachment(key)?.unanswered)) return
  await commitPlan(ledger, () => ({ change: keys.flatMap(arrived) }))
}
