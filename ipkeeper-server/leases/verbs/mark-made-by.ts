import {
  attachmentKey,
  incarnationOf,
  type AttachmentRecord,
  type Change,
} from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from './service.ts'

/** So many records are written at once, that ADDs need not wait for long. */
const batch = 500

/**
 * Remembers durably which runtime was seen to have these sandboxes. One that was added anew meanwhile is left for the next
 * time.
 */
export async function markMadeBy(
  { ledger }: LeaseService,
  seen: readonly { readonly record: AttachmentRecord; readonly madeBy: string }[],
): Promise<void> {
  for (let first = 0; first < seen.length; first += batch) {
    const some = seen.slice(first, first + batch)
    await commitPlan(ledger, (): { readonly change: Change } => ({
      change: some.flatMap(({ record, madeBy }): Change => {
        const present = ledger.attachment(record)
        if (!present || incarnationOf(present) !== incarnationOf(record)) return []
        const next = { ...present, generation: present.generation + 1, madeBy }
        return [{ kind: 'attachment', key: attachmentKey(present), expect: present.generation, record: next }]
      }),
    }))
  }
}
