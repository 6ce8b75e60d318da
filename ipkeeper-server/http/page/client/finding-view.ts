import type { AuditReply, Finding } from '../../../../shared/api/audit.schema.ts'
import { timeText } from './time-text.ts'

export interface FindingRow {
  readonly says: string
  readonly why: string
  readonly remedy: string
  /** What the daemon does about it. */
  readonly state: string
}

/** Findings of one kind. */
export interface FindingGroup {
  readonly kind: Finding['kind']
  readonly severity: Finding['severity']
  readonly title: string
  readonly rows: readonly FindingRow[]
}

export interface FindingsView {
  readonly groups: readonly FindingGroup[]
  readonly says: string
  readonly witnesses: readonly string[]
}

const severities: readonly Finding['severity'][] = ['error', 'warning', 'note']

const stateTexts: Readonly<Record<Finding['state'], string>> = {
  due: 'is repaired in the next pass if the mode is "repair"',
  waiting: 'is not certain enough yet to be acted on',
  reported: 'is reported only',
}

/** The worst kinds first, and of those the ones with the most findings. */
function groupsOf(findings: readonly Finding[]): FindingGroup[] {
  const groups = [...Map.groupBy(findings, ({ severity, kind }) => `${severity} ${kind}`).values()]
  return groups
    .flatMap(of => {
      const [first] = of
      if (!first) return []
      const { kind, severity } = first
      const rows = of.map(({ says, why, remedy, state }) => ({ says, why, remedy, state: stateTexts[state] }))
      return [{ kind, severity, title: `${kind.replaceAll('-', ' ')} (${rows.length})`, rows }]
    })
    .sort(
      (a, b) =>
        severities.indexOf(a.severity) - severities.indexOf(b.severity) || b.rows.length - a.rows.length,
    )
}

export function findingsView(audit: AuditReply): FindingsView {
  const { node, mode, takenAt, attachments, findings, witnesses } = audit
  const found = findings.length === 0 ? 'nothing found' : `${findings.length} found`
  return {
    groups: groupsOf(findings),
    says: `Node ${node}, ${timeText(takenAt)}: ${found} with ${attachments} attachments. Mode: ${mode}.`,
    witnesses: witnesses.map(({ name, state, says }) => `${name}: ${state}${says === '' ? '' : `, ${says}`}`),
  }
}
