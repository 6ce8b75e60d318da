import { callText, type CommandRow, type Example, type Exits, type Option } from './command.ts'
import { helpOption, usageExit, usualExits } from './options.ts'

/** Columns that a help may take. */
const width = 110

/** Words in lines of at most so many characters; one that is longer has a line for itself. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** Two columns; what is too long for the right one goes on below it. */
function columns(rows: readonly (readonly [left: string, right: string])[], least = 0): string {
  const left = Math.max(least, ...rows.map(([text]) => text.length))
  return rows
    .map(([text, right]) => {
      const [first = '', ...more] = wrap(right, Math.max(30, width - left - 4))
      const below = more.map(line => `${' '.repeat(left + 4)}${line}\n`).join('')
      return `${`  ${text.padEnd(left)}  ${first}`.trimEnd()}\n${below}`
    })
    .join('')
}

/** "--limit N", "-n, --namespace NAMESPACE", "-h, --help": as a help lists it. */
const optionText = (name: string, { letter, value }: Option): string =>
  `${letter === undefined ? '' : `-${letter}, `}--${name}${value === undefined ? '' : ` ${value}`}`

const optionRows = (options: Readonly<Record<string, Option>>): [string, string][] =>
  Object.entries(options).map(([name, option]) => [optionText(name, option), option.text])

const exitLine = (exits: Exits): string =>
  wrap(`Exit codes: 0 ${exits[0]}, 1 ${exits[1]}, 2 ${usageExit}.`, width).join('\n')

function exampleLines(examples: readonly Example[]): string {
  const [only, ...more] = examples
  if (more.length === 0) return `Example: ${only?.line ?? ''}\n`
  return `Examples:\n${examples.map(({ line, does }) => `  ${line}\n      ${does}\n`).join('')}`
}

/** What one command is called with. */
export function helpOf(
  program: string,
  row: CommandRow,
  common: Readonly<Record<string, Option>> = { help: helpOption },
): string {
  const own = optionRows(row.options)
  const shared = optionRows(common)
  const least = Math.max(0, ...[...own, ...shared].map(([text]) => text.length))
  return [
    `${program} ${callText(row)}: ${row.summary}\n`,
    ...(row.arguments.length === 0
      ? []
      : [
          `Arguments:\n${columns(
            row.arguments.map(({ name, text }) => [name, text]),
            least,
          )}`,
        ]),
    ...(own.length === 0 ? [] : [`Options:\n${columns(own, least)}`]),
    ...(shared.length === 0 ? [] : [`Common options:\n${columns(shared, least)}`]),
    `${exitLine(row.exits ?? usualExits)}\n`,
    exampleLines(row.examples),
  ].join('\n')
}

/** Commands with their summaries, and what all of them take. */
export function overviewOf(
  title: string,
  usage: string,
  rows: readonly CommandRow[],
  common: Readonly<Record<string, Option>>,
  examples: readonly Example[],
): string {
  return [
    `${title}\n`,
    ...(usage === '' ? [] : [`Usage: ${usage}\n`]),
    `Commands:\n${columns(rows.map(row => [callText(row), row.summary]))}`,
    `Common options:\n${columns(optionRows(common))}`,
    `${exitLine(usualExits)}\n`,
    exampleLines(examples),
  ].join('\n')
}
