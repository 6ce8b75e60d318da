import type { LintFinding } from '../../../shared/api/lint.schema.ts'

/** What a terminal would obey, or show in another order than it is written. */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** Characters of a line that are shown, at most. */
const widest = 160
/** How many of them before the place that is meant. */
const before = 60

/** A foreign text on a terminal. */
export function visibleText(text: string): string {
  return text.replaceAll(unsafe, '?')
}

/**
 * The line of a finding with a caret below, as compilers show it. Tabs are kept in both lines, so that the caret stands
 * right however wide the terminal makes them.
 */
function excerpt({ line, column, endLine, endColumn }: LintFinding, text: string): string[] {
  const characters = Array.from(text, character => (character === '\t' ? character : visibleText(character)))
  const from = characters.length > widest ? Math.max(0, column - 1 - before) : 0
  const shown = characters.slice(from, from + widest)
  if (shown.join('').trim() === '') return []
  const start = column - 1 - from
  const end = endLine === line ? endColumn - 1 - from : shown.length
  const number = String(line)
  const pad = ' '.repeat(number.length)
  const lead = from > 0 ? '... ' : ''
  const indent = shown.slice(0, start).map(character => (character === '\t' ? '\t' : ' '))
  const marks = Math.max(1, Math.min(end, shown.length) - start)
  return [
    ` ${number} | ${lead}${shown.join('')}${from + widest < characters.length ? ' ...' : ''}`,
    ` ${pad} | ${' '.repeat(lead.length)}${indent.join('')}${'^'.repeat(marks)}`,
  ]
}

/** A finding in the way of compilers: place, severity, message and rule; the line with a caret; what to do. */
export function compilerText(finding: LintFinding, lineText: string): string {
  const { file, line, column, severity, message, rule, remedy } = finding
  return [
    `${visibleText(file)}:${line}:${column}: ${severity}: ${visibleText(message)} [${rule}]`,
    ...excerpt(finding, lineText),
    ` = ${visibleText(remedy)}`,
    '',
  ].join('\n')
}

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
