import type { FindingKind } from '../../shared/findings.ts'

/** repair: what is found is set right. report: it is told. off: nothing is looked for. */
export type RepairMode = 'repair' | 'report' | 'off'

/** When a finding is certain enough to act on. Milliseconds. */
export interface Limits {
  readonly mode: RepairMode
  /** Age of an attachment whose death is proved. */
  readonly minAge: number
  /** Age of one that only its runtime omits. */
  readonly minAgeUnproved: number
  /** In how many passes, one after another, it has to be found. */
  readonly passes: number
}

export interface ReconcileSettings extends Limits {
  /** Milliseconds between two passes. */
  readonly interval: number
  /** Names of links of other programs that may be removed; "*" stands for any characters. */
  readonly links: readonly string[]
  readonly kinds: Readonly<Partial<Record<FindingKind, Partial<Limits>>>>
}

/** The terms of a kind of finding. What is off altogether is off for each kind. */
export function limitsOf(terms: ReconcileSettings, kind: FindingKind): Limits {
  const { mode, minAge, minAgeUnproved, passes } = terms
  const own = { mode, minAge, minAgeUnproved, passes, ...terms.kinds[kind] }
  return mode === 'off' ? { ...own, mode } : own
}
