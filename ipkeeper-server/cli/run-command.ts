import { version } from '../../shared/build-info.ts'
import { defaultPaths } from '../../shared/paths.ts'
import { Problem, toProblem } from '../../shared/problem/problem.ts'
import { nearestWord } from '../../shared/text/nearest-word.ts'
import type { Command } from './command.ts'
import { commands } from './commands.ts'
import { connectDaemon } from './daemon-client.ts'
import { readWords } from './read-words.ts'
import type { Terminal } from './terminal.ts'

const usualExits = '0 done, 1 refused or failed'

const outputHelp = (formats: readonly string[]): string =>
  `  -o json|table     how to print${formats.length === 0 ? '' : `; also ${formats.join(', ')}`} (default: table)`

const commonHelp = (exits = usualExits, formats: readonly string[] = []): string => `Common options:
  --socket PATH     the daemon's socket (default: $IPKEEPER_SOCKET, else ${defaultPaths.socket})
${outputHelp(formats)}
  -h, --help        this text, or that of a command

Exit codes: ${exits}, 2 called wrongly.
`

/** Of the longest option: all texts of a help begin in one column, those of the common options as well. */
const optionWidth = '--max-conf-num N '.length

function overview(): string {
  const width = Math.max(...commands.map(command => `${command.name} ${command.arguments}`.length))
  const rows = commands.map(
    command => `  ${`${command.name} ${command.arguments}`.padEnd(width)}  ${command.summary}\n`,
  )
  return `ipkeeperctl ${version}: look at and steer the ipkeeper daemon of this node

Usage: ipkeeperctl COMMAND [ARGUMENTS] [OPTIONS]   (or: ipkeeper-server ctl COMMAND ...)

Commands:
${rows.join('')}
${commonHelp()}
Example: ${commands[0]?.example ?? ''}
`
}

function helpOf(command: Command): string {
  const options = [
    ...Object.entries(command.options).map(([name, [value, text]]) => [`--${name} ${value}`, text] as const),
    ...Object.entries(command.flags ?? {}).map(([name, text]) => [`--${name}`, text] as const),
  ].map(([option, text]) => `  ${option.padEnd(optionWidth)} ${text}\n`)
  return `ipkeeperctl ${`${command.name} ${command.arguments}`.trim()}: ${command.summary}

${options.length > 0 ? `Options:\n${options.join('')}\n` : ''}${commonHelp(command.exits, Object.keys(command.formats ?? {}))}
Example: ${command.example}
`
}

/** Of "cache": the commands that begin with this word. */
function helpOfGroup(group: string): string {
  const rows = wordsAfter(group).map(word => findCommand(`${group} ${word}`))
  const width = Math.max(...rows.map(({ name }) => name.length))
  return `${rows.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).join('')}
${commonHelp()}
Example: ipkeeperctl ${rows[0]?.name ?? ''} --help
`
}

function findCommand(name: string): Command {
  const command = commands.find(candidate => candidate.name === name)
  if (command) return command
  const meant = nearestWord(
    name,
    commands.map(candidate => candidate.name),
  )
  throw new Problem('IPK_USAGE', `unknown command "${name}"${meant ? `; did you mean ${meant}?` : ''}`)
}

interface Call {
  readonly help: boolean
  readonly output: string
  readonly socket: string | undefined
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly flags: ReadonlySet<string>
}

function parseCall(
  argv: readonly string[],
  { options: own, flags: ownFlags = {}, joined = [], formats = {} }: Command,
): Call {
  const { values, flags, positionals } = readWords(argv, {
    valued: [...Object.keys(own), 'output', 'socket'],
    flags: [...Object.keys(ownFlags), 'help'],
    joined,
    letters: { h: 'help', o: 'output' },
  })
  const { output = 'table', socket, ...options } = values
  const known = ['json', 'table', ...Object.keys(formats)]
  if (!known.includes(output)) {
    const which = known.length === 2 ? 'neither json nor table' : `none of ${known.join(', ')}`
    throw new Problem('IPK_USAGE', `-o ${output} is ${which}`)
  }
  return { help: flags.has('help'), output, socket, positionals, options, flags }
}

/** JSON leaves DEL and the C1 controls as they are, and a terminal would obey them. */
function showJson(data: unknown): string {
  return JSON.stringify(data, null, 2).replaceAll(
    /[\u007f-\u009f]/g,
    found => `\\u00${found.charCodeAt(0).toString(16)}`,
  )
}

/** The words after "cache" in the names of commands such as "cache scan". */
const wordsAfter = (group: string): string[] =>
  commands.filter(({ name }) => name.startsWith(`${group} `)).map(({ name }) => name.slice(group.length + 1))

/** Joins the two words of a command of a group: `cache scan`. What is left is for the command. Throws IPK_USAGE. */
function joinWords(name: string, rest: readonly string[]): { name: string; rest: readonly string[] } {
  const seconds = wordsAfter(name)
  if (seconds.length === 0) return { name, rest }
  const [second, ...others] = rest
  if (second !== undefined && !second.startsWith('-')) return { name: `${name} ${second}`, rest: others }
  throw new Problem('IPK_USAGE', `"${name}" needs a second word: ${seconds.join(', ')}`)
}

/** Common options may stand before the command as well: `ipkeeperctl -o json leases`, `--socket=PATH leases`. */
function commandFirst(argv: readonly string[]): { name: string | undefined; rest: readonly string[] } {
  let options = 0
  for (let word = argv[0]; word !== undefined; word = argv[options]) {
    if (['--socket', '-o', '--output'].includes(word)) options += 2
    else if (/^(--socket=|--output=|-o.)/.test(word)) options += 1
    else break
  }
  return { name: argv[options], rest: [...argv.slice(options + 1), ...argv.slice(0, options)] }
}

/** Runs one call of ipkeeperctl and returns its exit code. Errors go to stderr: one line, then what to do. */
export async function runCommand(argv: readonly string[], terminal: Terminal): Promise<0 | 1 | 2> {
  const { name, rest } = commandFirst(argv)
  let command: Command | undefined
  try {
    if (name === undefined) {
      terminal.err(overview())
      return 2
    }
    if (name === '-h' || name === '--help' || name === 'help') {
      const topic = rest[0]
      if (name !== 'help' || topic === undefined) terminal.out(overview())
      else if (wordsAfter(topic).length > 0 && rest.length === 1) terminal.out(helpOfGroup(topic))
      else terminal.out(helpOf(findCommand(joinWords(topic, rest.slice(1)).name)))
      return 0
    }
    if (name === '--version' || name === 'version') {
      terminal.out(`ipkeeperctl ${version}\n`)
      return 0
    }
    if (wordsAfter(name).length > 0 && ['-h', '--help'].includes(rest[0] ?? '')) {
      terminal.out(helpOfGroup(name))
      return 0
    }
    const words = joinWords(name, rest)
    command = findCommand(words.name)
    const call = parseCall(words.rest, command)
    if (call.help) {
      terminal.out(helpOf(command))
      return 0
    }
    const daemon = connectDaemon(call.socket ?? (terminal.env['IPKEEPER_SOCKET'] || defaultPaths.socket))
    try {
      const tell = call.output === 'table' ? terminal.out : (): void => undefined
      const data = await command.run(daemon, call, terminal, tell)
      const format = command.formats?.[call.output] ?? command.print
      terminal.out(call.output === 'json' ? `${showJson(data)}\n` : format(data))
      return command.exitCode(data)
    } finally {
      await daemon.close()
    }
  } catch (error) {
    const problem = toProblem(error)
    const details = problem.details === '' ? '' : `  ${problem.details}\n`
    const usage = problem.code === 'IPK_USAGE'
    const hint = usage && command ? `see: ipkeeperctl ${command.name} --help` : problem.hint
    terminal.err(`error: ${problem.message} [${problem.code}]\n${details}hint: ${hint}\n`)
    return usage ? 2 : 1
  }
}
