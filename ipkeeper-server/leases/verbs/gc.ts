import { toProblem, type Problem } from '../../../shared/problem/problem.ts'
import { isOlderThanList, planGc, type GcRequest, type GcTerms } from '../../ipam/plan/plan-gc.ts'
import type { AttachmentRecord } from '../../ipam/records/records.ts'
import { delAttachment } from './del.ts'
import { ageClock, type LeaseService } from './service.ts'

export interface GcOutcome {
  readonly ended: readonly AttachmentRecord[]
  readonly problems: readonly Problem[]
}

/**
 * Ends every attachment of the network that the runtime no longer knows; goes on after an error. What came after the
 * runtime's list is left alone, also what comes while this one waits for its turn.
 *
 * @param minAgeUnproved milliseconds; as configured for the sweeper
 */
export async function collectGarbage(
  service: LeaseService,
  request: Omit<GcRequest, 'node'>,
  minAgeUnproved: number,
): Promise<GcOutcome> {
  const terms = (): GcTerms => ({
    liveness: service.liveness,
    clock: ageClock(service),
    minAgeUnproved,
    answeredAt: attachment => service.answers.of(attachment),
  })
  const stale = planGc(service.ledger, { ...request, node: service.node }, terms())
  const ended: AttachmentRecord[] = []
  const problems: Problem[] = []
  for (const attachment of stale) {
    try {
      const { bootId, startedAt } = attachment
      // A DEL as old as the attachment itself: whatever was added under its key since is younger.
      const began = startedAt === null || bootId === null ? undefined : { bootId, startedAt }
      // In its turn it may be another one, or have been answered once more.
      const isMeant = (present: AttachmentRecord): boolean => isOlderThanList(present, request.began, terms())
      const { ended: gone } = await delAttachment(service, attachment, began, { isMeant, by: 'gc' })
      if (gone) ended.push(gone)
    } catch (error) {
      problems.push(toProblem(error))
    }
  }
  return { ended, problems }
}
