import { version, versionText } from '../../../shared/build-info.ts'
import { catalogue } from '../../../shared/problem/catalogue.ts'
import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import { type CommandRow, type Example, type Option, type ReadCall } from './command.ts'
import { meantWord, type OtherWords } from './meant-word.ts'
import { OptionProblem } from './option-problem.ts'
import { readCall } from './read-call.ts'
import { choosePaint } from './terminal-text.ts'
import { helpOf, overviewOf } from './render-help.ts'
import type { Terminal } from './terminal.ts'

/** What a program is called with: its help, its completion and the reading of its words are all made from this. */
export interface CommandProgram<Row extends CommandRow = CommandRow> {
  readonly name: string
  /** What it is, for the first line of the overview. */
  readonly title: string
  readonly usage: string
  /** In the order of the overview. */
  readonly rows: readonly Row[]
  /** Commands whose first examples stand in the overview. */
  readonly shown: readonly string[]
  /** Options that a command has beside its own. */
  common(row: Row): Readonly<Record<string, Option>>
  /** By command: words of other tools that mean it. */
  readonly otherWords: OtherWords
  /** Options that may stand before the command. */
  readonly leading: Readonly<Record<string, Option>>
}

export type CommandExit = 0 | 1 | 2

/** How the commands of a program are run. */
export interface Runner<Row extends CommandRow> {
  /** @param line the whole command line, for titles */
  readonly run: (row: Row, call: ReadCall, line: readonly string[]) => Promise<CommandExit>
  /** First words that take the rest of the line as it is: "ctl" hands it to another program. */
  readonly passOn?: Readonly<Record<string, (rest: readonly string[]) => Promise<CommandExit>>>
}

const overview = <Row extends CommandRow>({ rows, shown, ...program }: CommandProgram<Row>): string =>
  overviewOf(
    `${program.name} ${version}: ${program.title}`,
    program.usage,
    rows,
    program.leading,
    rows.filter(({ name }) => shown.includes(name)).flatMap(({ examples }) => examples.slice(0, 1)),
  )

/** The second words of commands such as "cache scan". */
const wordsAfter = ({ rows }: { readonly rows: readonly CommandRow[] }, group: string): string[] =>
  rows.filter(({ name }) => name.startsWith(`${group} `)).map(({ name }) => name.slice(group.length + 1))

const helpOfRow = <Row extends CommandRow>(program: CommandProgram<Row>, row: Row): string =>
  helpOf(program.name, row, program.common(row))

/** Of "cache": the commands that begin with this word. */
function helpOfGroup<Row extends CommandRow>(
  { name, rows, leading }: CommandProgram<Row>,
  group: string,
): string {
  const members = rows.filter(row => row.name.startsWith(`${group} `))
  const more: Example = {
    line: `${name} ${members[0]?.name ?? ''} --help`,
    does: 'Show the help of one of them',
  }
  return overviewOf(`${name} ${group}`, '', members, leading, [more])
}

/** The command that a word means in another tool, or is nearly written as. */
function nearestCommand<Row extends CommandRow>(
  { rows, otherWords }: CommandProgram<Row>,
  word: string,
): string | undefined {
  const names = rows.map(({ name }) => name)
  return meantWord(word.toLowerCase(), otherWords) ?? nearestWord(word, names)
}

/** What stands before the command, and is no option of all commands. */
function unknownLeading<Row extends CommandRow>({ name, rows }: CommandProgram<Row>, word: string): Problem {
  const help = `see: ${name} --help`
  const isOf = ({ options }: Row): boolean =>
    Object.entries(options).some(([long, { letter }]) => word === `--${long}` || word === `-${letter ?? ''}`)
  const row = rows.find(isOf)
  return row
    ? new Problem('IPK_USAGE', `option ${word} stands before the command`, {
        hint: `type the command first: ${name} ${row.name} ${word} ...; ${help}`,
      })
    : new Problem('IPK_USAGE', `unknown option ${word}`, { hint: help })
}

function findRow<Row extends CommandRow>(program: CommandProgram<Row>, name: string): Row {
  const row = program.rows.find(candidate => candidate.name === name)
  if (row) return row
  const hint = `see: ${program.name} --help`
  if (name.startsWith('-')) throw unknownLeading(program, name)
  // Of "cache skan" only the second word is in question; with the first in common everything of the group looks near.
  const [group = '', second] = name.split(' ')
  const near =
    second === undefined ? nearestCommand(program, name) : nearestWord(second, wordsAfter(program, group))
  const meant =
    near === undefined ? '' : `; did you mean ${second === undefined ? near : `${group} ${near}`}?`
  throw new Problem('IPK_USAGE', `unknown command "${name}"${meant}`, {
    hint: second === undefined ? hint : `see: ${program.name} ${group} --help`,
  })
}

/** The command that words name, which may be two: `cache scan`. What is left is for the command. Throws IPK_USAGE. */
function nameCommand<Row extends CommandRow>(
  program: CommandProgram<Row>,
  [first = '', ...rest]: readonly string[],
): { readonly row: Row; readonly rest: readonly string[] } {
  const seconds = wordsAfter(program, first)
  if (seconds.length === 0) return { row: findRow(program, first), rest }
  const [second, ...others] = rest
  if (second !== undefined && !second.startsWith('-'))
    return { row: findRow(program, `${first} ${second}`), rest: others }
  throw new Problem('IPK_USAGE', `"${first}" needs a subcommand: ${seconds.join(', ')}`, {
    hint: `see: ${program.name} --help`,
  })
}

/** Options may stand before the command as well: `ipkeeperctl -o json leases`. Returns the words with the command first. */
function commandFirst(leading: CommandProgram['leading'], argv: readonly string[]): readonly string[] {
  const valued = Object.entries(leading).filter(([, { value }]) => value !== undefined)
  const letters = valued.flatMap(([, { letter }]) => (letter === undefined ? [] : [`-${letter}`]))
  const apart = [...valued.map(([name]) => `--${name}`), ...letters]
  const whole = [...valued.map(([name]) => `--${name}=`), ...letters]
  let count = 0
  for (;;) {
    const word = argv[count]
    if (word === undefined) return []
    if (apart.includes(word)) count += 2
    else if (whole.some(start => word.startsWith(start))) count += 1
    else return [word, ...argv.slice(count + 1), ...argv.slice(0, count)]
  }
}

/** What the words of every program say: help and version. undefined where a command is called. Throws IPK_USAGE. */
function ownText<Row extends CommandRow>(
  program: CommandProgram<Row>,
  [first = '', ...rest]: readonly string[],
): string | undefined {
  const [topic] = rest
  switch (first) {
    case 'version':
    case '--version':
      return `${program.name} ${versionText}\n`
    case '-h':
    case '--help':
      return overview(program)
    case 'help':
      if (topic === undefined) return overview(program)
      if (rest.length === 1 && wordsAfter(program, topic).length > 0) return helpOfGroup(program, topic)
      return helpOfRow(program, nameCommand(program, rest).row)
    default:
      if (!['-h', '--help'].includes(topic ?? '')) return undefined
      return wordsAfter(program, first).length > 0 ? helpOfGroup(program, first) : undefined
  }
}

/** What to type after a usage error of a command: what the option takes, or a whole line that works. */
function usageHint(
  problem: Problem,
  program: Pick<CommandProgram, 'name' | 'common'>,
  row: CommandRow,
): string {
  const help = `see: ${program.name} ${row.name} --help`
  if (!(problem instanceof OptionProblem)) return `for example: ${row.examples[0].line}; ${help}`
  const { option } = problem
  const found = Object.entries({ ...row.options, ...program.common(row) }).find(
    ([name, { letter }]) => option === `--${name}` || option === `-${letter ?? ''}`,
  )
  if (!found) return help
  const [, { value, text }] = found
  return `${option}${value === undefined ? '' : ` ${value}`}: ${text}; ${help}`
}

/** One line that says what is wrong, then what to do: of a command that was called, a line that works. */
function failureText(
  error: unknown,
  program: Pick<CommandProgram, 'name' | 'common'>,
  row: CommandRow | undefined,
  terminal: Terminal,
): string {
  const problem = toProblem(error)
  const details = problem.details === '' ? '' : `  ${problem.details.replaceAll('\n', '\n  ')}\n`
  const isOfCall = problem.code === 'IPK_USAGE' && problem.hint === catalogue.IPK_USAGE.hint
  const hint = row && isOfCall ? usageHint(problem, program, row) : problem.hint
  const paint = choosePaint('auto', terminal.isTerminal?.err === true, terminal.env)
  return `${paint('bad', 'error:')} ${problem.message} [${problem.code}]\n${details}${paint('strong', 'hint:')} ${hint}\n`
}

/** Runs one call of a program and returns its exit code. Errors go to stderr. */
export async function dispatch<Row extends CommandRow>(
  program: CommandProgram<Row>,
  argv: readonly string[],
  terminal: Terminal,
  { run, passOn = {} }: Runner<Row>,
): Promise<CommandExit> {
  let row: Row | undefined
  try {
    const words = commandFirst(program.leading, argv)
    const [first] = words
    if (first === undefined) {
      terminal.err(overview(program))
      return 2
    }
    if (Object.hasOwn(passOn, first)) return (await passOn[first]?.(words.slice(1))) ?? 0
    const text = ownText(program, words)
    if (text !== undefined) {
      terminal.out(text)
      return 0
    }
    const named = nameCommand(program, words)
    row = named.row
    const options = { ...row.options, ...program.common(row) }
    const call = readCall({ ...row, options }, named.rest, row.name)
    if (call.flags.has('help')) {
      terminal.out(helpOfRow(program, row))
      return 0
    }
    return await run(row, call, argv)
  } catch (error) {
    terminal.err(failureText(error, program, row, terminal))
    return toProblem(error).code === 'IPK_USAGE' ? 2 : 1
  }
}
