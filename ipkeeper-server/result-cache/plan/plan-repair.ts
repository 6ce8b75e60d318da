import { cacheReasons } from '../../../shared/cache-reasons.ts'
import type { Judgement } from './judge-file.ts'

/** rewrite: whole, from the records. quarantine: moved aside, with a way back. report: told, left alone. */
export type CachePlan = 'rewrite' | 'quarantine' | 'report'

export interface PlannedRepair {
  readonly plan: CachePlan
  /** Why this and nothing else. */
  readonly because: string
}

export interface RepairTerms {
  /** What becomes of bad files of networks that are not ours. unlike: reported, since they may be no cache's at all. */
  readonly others: 'report' | 'quarantine' | 'unlike'
  /** Whether a whole conflist of that network is known, and the records of the attachment can be had. */
  readonly canRewrite: (network: string) => boolean
  readonly recordsKnown: boolean
}

const planned = (plan: CachePlan, because: string): PlannedRepair => ({ plan, because })

const othersPlans: Readonly<Record<RepairTerms['others'], PlannedRepair>> = {
  quarantine: planned('quarantine', "another plugin's network, quarantined as configured"),
  report: planned('report', "another plugin's network"),
  unlike: planned('report', 'neither its name nor its folder is of a result cache'),
}

/** What is to be done about a file; DESIGN.md, "Result caches", says why. */
export function planRepair(
  { reason, own, attachment }: Pick<Judgement, 'reason' | 'own' | 'attachment'>,
  { others, canRewrite, recordsKnown }: RepairTerms,
): PlannedRepair {
  const { fault } = cacheReasons[reason]
  if (fault === 'odd') return planned('report', 'only a person can tell what it is')
  // To move a whole file aside, somebody has to have been asked for its sandbox.
  if (fault === 'left-over' && !recordsKnown)
    return planned('report', 'the records of the daemon are not known')
  if (!own) return othersPlans[others]
  if (fault === 'left-over') return planned('quarantine', 'it is no longer needed')
  if (attachment && canRewrite(attachment.network))
    return planned('rewrite', 'rewritten from the lease record')
  if (attachment) return planned('quarantine', 'its conflist is not known, so it cannot be rewritten')
  return planned('quarantine', recordsKnown ? 'no attachment of ipkeeper' : 'rewriting needs the daemon')
}
