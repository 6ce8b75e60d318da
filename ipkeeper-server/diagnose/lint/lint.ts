import type { LintFinding, LintReply } from '../../../shared/api/lint.schema.ts'
import type { Severity } from '../../../shared/findings.ts'
import type { Diagnostic } from './lint-rule.ts'
import { rules } from './rules.ts'
import { reportFiles } from './runtime-choice.ts'
import { readSite, type LintInput, type LintedFile, type Site } from './site.ts'

/** Of one file; more are of no help. */
const mostPerFile = 200

const severityOrder: Readonly<Record<Severity, number>> = { error: 0, warning: 1, note: 2 }

/** A message is one line of a terminal or log, whatever stands in the file. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ')

interface Found {
  readonly diagnostic: Diagnostic
  readonly rule: string
  readonly severity: Severity
}

function overlaps(a: Diagnostic['at'], b: Diagnostic['at']): boolean {
  return a.file === b.file && a.start <= b.end && b.start <= a.end
}

function findAll(site: Site): Found[] {
  const found: Found[] = []
  for (const { id, severity, onlyIfAlone, check } of rules) {
    const errors = onlyIfAlone ? found.filter(other => other.severity === 'error') : []
    for (const diagnostic of check(site)) {
      if (errors.some(other => overlaps(other.diagnostic.at, diagnostic.at))) continue
      found.push({ diagnostic, rule: id, severity: diagnostic.severity ?? severity })
    }
  }
  return found
}

function toFinding({ diagnostic, rule, severity }: Found): LintFinding {
  const { at, message, remedy, fix } = diagnostic
  const { path, lines } = at.file
  const span = (
    start: number,
    end: number,
  ): Pick<LintFinding, 'line' | 'column' | 'endLine' | 'endColumn'> => {
    const [from, to] = [lines.placeOf(start), lines.placeOf(end)]
    return { line: from.line, column: from.column, endLine: to.line, endColumn: to.column }
  }
  return {
    ...{ file: path, ...span(at.start, at.end), severity, rule },
    ...{ message: oneLine(message), remedy: oneLine(remedy) },
    fix: fix
      ? { title: fix.title, edits: fix.edits.map(({ start, end, text }) => ({ ...span(start, end), text })) }
      : null,
  }
}

function inOrder(files: readonly LintedFile[]): (a: Found, b: Found) => number {
  const order = new Map(files.map((file, index) => [file, index]))
  return (a, b) =>
    (order.get(a.diagnostic.at.file) ?? 0) - (order.get(b.diagnostic.at.file) ?? 0) ||
    a.diagnostic.at.start - b.diagnostic.at.start ||
    severityOrder[a.severity] - severityOrder[b.severity]
}

/** What a look at configurations gave. */
export interface Linted extends LintReply {
  /** By the path of the finding's file: what stands in a line, for excerpts. */
  readonly lineText: (file: string, line: number) => string
}

/**
 * Looks at network configurations and says what is wrong with them, in the order of the files and of their text. The same
 * input gives the same findings; never throws, whatever the texts are.
 */
export function lint(input: LintInput): Linted {
  const site = readSite(input)
  const counts = new Map<LintedFile, number>()
  // Errors go before: what is left out must not change the verdict.
  const kept = findAll(site)
    .toSorted((a, b) => severityOrder[a.severity] - severityOrder[b.severity])
    .filter(({ diagnostic: { at } }) => {
      const count = (counts.get(at.file) ?? 0) + 1
      counts.set(at.file, count)
      return count <= mostPerFile
    })
    .toSorted(inOrder(site.files))
  const byPath = new Map(site.files.map(file => [file.path, file]))
  return {
    findings: kept.map(toFinding),
    files: reportFiles(site),
    lineText: (file, line) => byPath.get(file)?.lines.lineText(line) ?? '',
  }
}
