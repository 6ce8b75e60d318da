import { counted } from '../../../shared/text/counted.ts'
import { CopyCheck, type CopiedHistory, type CopyReport } from '../../export/check-copy.ts'
import type { ReadCall } from '../framework/command.ts'
import { OptionProblem } from '../framework/option-problem.ts'
import { readLines } from '../framework/read-lines.ts'
import { toTheSecond } from './addresses.ts'
import { faultText, newestText, unlinkedLines, wholeText } from './chain-texts.ts'

export interface CheckedCopy extends CopyReport {
  readonly file: string
}

/** Cut lines whose numbers are shown; the rest is counted. */
const shownLines = 10

/** Whether a copy of histories, such as a file of a syslog receiver, is whole. Throws IPK_USAGE. */
export function checkHistoryCopy({
  positionals,
  options: { file = '', ...more },
  flags,
}: ReadCall): CheckedCopy {
  if (positionals.length > 0 || Object.keys(more).length > 0 || !flags.has('verify') || flags.size > 1)
    throw new OptionProblem('--file', '--file goes with --verify, and takes nothing else')
  if (file === '') throw new OptionProblem('--file', '--file is empty')
  const check = new CopyCheck()
  for (const line of readLines(file)) check.add(line)
  return { file, ...check.report() }
}

const momentOf = (at: number): string => new Date(at).toISOString()
const timeOf = (at: number): string => toTheSecond(momentOf(at))

function describeHistory(history: CopiedHistory): readonly string[] {
  const { recorder, entries, repeated, unlinked, pruned, first, last, begins, faults, moreFaults } = history
  const found = faults.length + moreFaults
  const earlier = first.id === 1 ? '' : '; earlier ones are not in it'
  return [
    `node ${recorder}: ${wholeText(entries, found)}`,
    ...faults.map(({ line, ...fault }) => `line ${line}: ${faultText({ ...fault, at: momentOf(fault.at) })}`),
    ...(moreFaults > 0 ? [`and ${counted(moreFaults, 'more fault')}`] : []),
    `begins with entry ${first.id} of ${timeOf(first.at)}${earlier}`,
    ...begins.map(
      ({ id, at }) => `begins again with entry ${id} of ${timeOf(at)}: the ledger of the node was replaced`,
    ),
    ...unlinkedLines(unlinked),
    ...(pruned > 0
      ? [`pruned by the node before they could be copied: ${counted(pruned, 'entry', 'entries')}`]
      : []),
    ...(repeated > 0 ? [`${counted(repeated, 'entry was', 'entries were')} sent more than once`] : []),
    newestText({ id: last.id, at: momentOf(last.at), link: last.link ?? null }),
  ]
}

export function describeCopy({ file, histories, otherLines, cutLines }: CheckedCopy): string {
  const shown = cutLines.slice(0, shownLines).join(', ')
  const more = cutLines.length - shownLines
  return [
    ...(histories.length === 0 ? [`${file}: no entry of a history in it`] : []),
    ...histories.flatMap(describeHistory),
    ...(cutLines.length > 0
      ? [
          `${counted(cutLines.length, 'line is', 'lines are')} cut, and cannot be checked: ${shown}${more > 0 ? ` and ${more} more` : ''}`,
        ]
      : []),
    ...(otherLines > 0 ? [`${counted(otherLines, 'other line')}, passed over`] : []),
    '',
  ].join('\n')
}

export const isCheckedCopy = (data: unknown): data is CheckedCopy =>
  typeof data === 'object' && data !== null && 'histories' in data

/** Whether all of it is there and as it was written. */
export const isWhole = ({ histories, cutLines }: CheckedCopy): boolean =>
  histories.length > 0 &&
  cutLines.length === 0 &&
  histories.every(({ faults, moreFaults }) => faults.length + moreFaults === 0)
