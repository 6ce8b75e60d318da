import type { AuditReply, Finding } from '../../../../shared/api/audit.schema.ts'
import { timeText } from './time-text.ts'

export interface FindingRow {
  readonly severity: Finding['severity']
  readonly says: string
  readonly why: string
  readonly remedy: string
  /** What the daemon does about it. */
  readonly state: string
}

export interface FindingsView {
  readonly rows: readonly FindingRow[]
  readonly says: string
  readonly witnesses: readonly string[]
}

const severities: readonly Finding['severity'][] = ['error', 'warning', 'note']

const stateTexts: Readonly<Record<Finding['state'], string>> = {
  due: 'is repaired in the next pass, where the mode says so',
  waiting: 'is not certain enough yet to be acted on',
  reported: 'is reported only',
}

/** The worst first. */
export function findingsView({
  node,
  mode,
  takenAt,
  attachments,
  findings,
  witnesses,
}: AuditReply): FindingsView {
  const rows = findings
    .map(({ severity, says, why, remedy, state }) => ({
      severity,
      says,
      why,
      remedy,
      state: stateTexts[state],
    }))
    .sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  const found = rows.length === 0 ? 'nothing found' : `${rows.length} found`
  return {
    rows,
    says: `Node ${node}, ${timeText(takenAt)}: ${found} with ${attachments} attachments. Mode: ${mode}.`,
    witnesses: witnesses.map(({ name, state, says }) => `${name}: ${state}${says === '' ? '' : `, ${says}`}`),
  }
}
