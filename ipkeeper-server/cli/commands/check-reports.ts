import type { CheckReport, CheckState } from '../../diagnose/doctor/check-result.ts'
import { commandHere, remedyHere, type Place } from '../../../shared/remedy/place.ts'
import { counted } from '../../../shared/text/counted.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import type { Paint, Tone } from '../framework/terminal-text.ts'

const marks: Readonly<Record<CheckState, string>> = { ok: 'ok', warn: 'warn', fail: 'FAIL', skip: 'skip' }

const tones = { ok: 'good', warn: 'warn', fail: 'bad', skip: 'faint' } as const satisfies Readonly<
  Record<CheckState, Tone>
>

/** A line for a shell is typed as it is. */
const lineOf = (mend: readonly string[]): string =>
  mend[0] === 'sh' && mend[1] === '-c' && mend.length === 3 ? (mend[2] ?? '') : shellLine(mend)

function checkLines({ id, state, says, why, mend }: CheckReport, width: number): string[] {
  const told = [`${marks[state].padEnd(4)}  ${id.padEnd(width)}  ${says}`]
  if (state === 'ok' || state === 'skip') return told
  const indent = ' '.repeat(width + 8)
  return [
    ...told,
    `${indent}impact  ${why}`,
    ...(mend.length === 0 ? [] : [`${indent}fix     ${lineOf(mend)}`]),
  ]
}

/** A line for each check, what to do below those that did not pass, and a count. */
export function printChecks(reports: readonly CheckReport[]): string[] {
  const width = Math.max(...reports.map(({ id }) => id.length))
  const count = (state: CheckState): number => reports.filter(report => report.state === state).length
  return [
    ...reports.flatMap(report => checkLines(report, width)),
    `${reports.length} checks: ${count('ok')} ok, ${counted(count('warn'), 'warning')}, ${count('fail')} failed, ${count('skip')} skipped`,
  ]
}

/** The mark in front of a check. */
export function paintMark(line: string, paint: Paint): string {
  const state = (Object.keys(marks) as CheckState[]).find(one => line.startsWith(`${marks[one].padEnd(4)}  `))
  return state ? `${paint(tones[state], marks[state])}${line.slice(marks[state].length)}` : line
}

/** What is advised, as it works on this node: a command, or where there is none words. */
export function checkHere(report: CheckReport, place: Place): CheckReport {
  const { argv, words } = commandHere(report.mend, shellLine(report.mend), place)
  const says = remedyHere(report.says, place)
  return { ...report, says: words === undefined ? says : `${says}; ${words}`, mend: argv }
}
