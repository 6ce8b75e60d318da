import type { LintFinding } from '../../../../shared/api/lint.schema.ts'

const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

const commands = { error: 'error', warning: 'warning', note: 'notice' } as const

/** A finding as a workflow command of GitHub Actions, which shows it beside the line of a change. */
export function githubCommand(finding: LintFinding): string {
  const { file, line, column, endLine, endColumn, severity, rule, message, remedy } = finding
  const place = { file, line, col: column, endLine, endColumn, title: rule }
  const properties = Object.entries(place).map(([key, value]) => `${key}=${property(String(value))}`)
  return `::${commands[severity]} ${properties.join(',')}::${data(`${message}; ${remedy}`)}`
}
