import type { ImportVerdict } from '../../../shared/api/import.schema.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import type { ReadCall } from '../framework/command.ts'

export interface ImportOutcome {
  readonly counts: Readonly<Record<ImportVerdict | 'unreadable', number>>
  readonly applied: boolean
  /** Stopped before everything was done. */
  readonly interrupted: boolean
}

/** The command that was typed, but for `--apply`. */
export const importLine = (source: string, { options }: ReadCall): string =>
  [
    `ipkeeperctl import ${source}`,
    ...Object.entries(options).map(([name, value]) => `--${name} ${shellWord(value)}`),
  ].join(' ')

/**
 * What to do after an import. The network is switched over only when nothing that is in use is missing in the ledger: what is would be
 * given to the next pod.
 *
 * @param line the command that was typed, without `--apply`
 */
export function nextAfterImport({ counts, applied, interrupted }: ImportOutcome, line: string): string {
  const { adopt, ours, conflict, unreadable } = counts
  if (interrupted) return `interrupted: what was adopted stays adopted; to resume: ${line} --apply`
  if (!applied && adopt > 0) return `next: ${line} --apply`
  // What fits no pool is never given to another pod.
  const left = conflict + unreadable
  if (left > 0) {
    const those = left === 1 ? 'an address above' : `${left} addresses above`
    return `next: leave "ipam.type" in the conflist as it is, because ${those} could be given to another pod; resolve what is reported there, then: ${line}${applied ? ' --apply' : ''}`
  }
  if (adopt + ours === 0)
    return 'nothing to adopt: check that this is where allocations are kept before you change the conflist'
  return 'next: change "ipam.type" in the conflist to "ipkeeper", then run this again; see: ipkeeperctl leases'
}
