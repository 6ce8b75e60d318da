import { toProblem, type Problem } from '../../shared/problem/problem.ts'
import { planGc, type ValidAttachment } from '../ipam/plan-gc.ts'
import type { AttachmentRecord } from '../ipam/records.ts'
import { delAttachment } from './del.ts'
import type { LeaseService } from './service.ts'

export interface GcOutcome {
  readonly ended: readonly AttachmentRecord[]
  readonly problems: readonly Problem[]
}

/**
 * Ends every attachment of the network that the runtime no longer knows; goes on after an error. One that was added again
 * since the list was looked at is left alone.
 */
export async function collectGarbage(
  service: LeaseService,
  network: string,
  valid: readonly ValidAttachment[],
): Promise<GcOutcome> {
  const stale = planGc(service.ledger, network, service.node, valid, service.now())
  const ended: AttachmentRecord[] = []
  const problems: Problem[] = []
  for (const attachment of stale) {
    try {
      const { bootId, startedAt } = attachment
      // A DEL as old as the attachment itself: whatever was added under its key since is younger.
      const began = startedAt === null || bootId === null ? undefined : { bootId, startedAt }
      const { ended: gone } = await delAttachment(service, attachment, began)
      if (gone) ended.push(gone)
    } catch (error) {
      problems.push(toProblem(error))
    }
  }
  return { ended, problems }
}
