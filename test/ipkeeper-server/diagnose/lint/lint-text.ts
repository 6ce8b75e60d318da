import { lint } from '../../../../ipkeeper-server/diagnose/lint/lint.ts'
import type { LintInput } from '../../../../ipkeeper-server/diagnose/lint/site.ts'
import type { LintFinding, LintReply } from '../../../../shared/api/lint.schema.ts'

/** Files by name, as if they stood in one folder. */
export type Files = Readonly<Record<string, string>>

/** What the linter says of files. */
export function lintFiles(files: Files, more: Omit<LintInput, 'files'> = {}): LintReply {
  const sources = Object.entries(files).map(([name, text]) => ({ path: `/net.d/${name}`, name, text }))
  return lint({ files: sources, ...more })
}

/** What stands between two places of a text. */
function covered(text: string, { line, column, endLine, endColumn }: LintFinding): string {
  const lines = text.split('\n').map(each => Array.from(each))
  const [first = [], last = []] = [lines[line - 1], lines[endLine - 1]]
  if (line === endLine) return first.slice(column - 1, endColumn - 1).join('')
  return `${first.slice(column - 1).join('')} ... ${last.slice(0, endColumn - 1).join('')}`
}

/**
 * Findings of one rule, each as "FILE[:LINE] SEVERITY TEXT" with the text that it points to; the line is left out where it
 * is the first.
 */
export function placesOf(rule: string, files: Files, { findings }: LintReply): string[] {
  return findings
    .filter(finding => finding.rule === rule)
    .map(finding => {
      const name = finding.file.slice('/net.d/'.length)
      const line = finding.line === 1 ? '' : `:${finding.line}`
      return `${name}${line} ${finding.severity} ${covered(files[name] ?? '', finding)}`.trimEnd()
    })
}

/** A list of plugins on one line. */
export function listOf(plugins: string, name = 'net', cniVersion = '1.0.0'): string {
  return `{ "cniVersion": "${cniVersion}", "name": "${name}", "plugins": [ ${plugins} ] }`
}

/** What the linter says of one file that may not have been read. */
export function lintOne(file: LintInput['files'][number]): LintReply {
  return lint({ files: [file] })
}
