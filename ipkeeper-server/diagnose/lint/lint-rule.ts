import type { Severity } from '../../../shared/findings.ts'
import type { Fix } from './json/syntax-fault.ts'
import type { Site, Spot } from './site.ts'

/** What a rule has to say of a place. `fix` is in places of the file. */
export interface Diagnostic {
  readonly at: Spot
  /** One line: what is wrong, with the value. */
  readonly message: string
  /** One line: what to do. */
  readonly remedy: string
  /** Where it differs from that of the rule. */
  readonly severity?: Severity
  readonly fix?: Fix
}

/** A row of the table in lint/rules.ts. */
export interface LintRule {
  /** In kebab case; does not change, as people switch on it. */
  readonly id: string
  readonly severity: Severity
  /** For the reference: what it finds, and why that matters. */
  readonly summary: string
  /** Says nothing where an error of another rule stands in the same place: it would be the same mistake. */
  readonly onlyIfAlone?: true
  readonly check: (site: Site) => Iterable<Diagnostic>
}
