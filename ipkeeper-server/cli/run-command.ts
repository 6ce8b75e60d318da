import { version, versionText } from '../../shared/build-info.ts'
import { defaultPaths } from '../../shared/paths.ts'
import { Problem, toProblem } from '../../shared/problem/problem.ts'
import { nearestWord } from '../../shared/text/nearest-word.ts'
import type { Command } from './command.ts'
import { readCall, type ReadCall } from './command-row.ts'
import { commands } from './commands.ts'
import { completeCall } from './completion/complete-call.ts'
import { completeWord } from './completion/shell-scripts.ts'
import { connectDaemon } from './daemon-client.ts'
import { commonOptions, countLeadingOptions, formatsOf } from './options.ts'
import { helpOf, overviewOf } from './render-help.ts'
import type { Terminal } from './terminal.ts'

/** Commands whose first examples stand in the overview. */
const shown = ['leases', 'who', 'explain', 'doctor']

const overview = (): string =>
  overviewOf(
    `ipkeeperctl ${version}: look at and steer the ipkeeper daemon of this node`,
    'ipkeeperctl COMMAND [ARGUMENTS] [OPTIONS]   (or: ipkeeper-server ctl COMMAND ...)',
    commands,
    commonOptions(),
    commands.filter(({ name }) => shown.includes(name)).flatMap(({ examples }) => examples.slice(0, 1)),
  )

const helpOfCommand = (command: Command): string => helpOf('ipkeeperctl', command, commonOptions(command))

/** Of "cache": the commands that begin with this word. */
function helpOfGroup(group: string): string {
  const rows = wordsAfter(group).map(word => findCommand(`${group} ${word}`))
  const more = { line: `ipkeeperctl ${rows[0]?.name ?? ''} --help`, does: 'tells more of one of them' }
  return overviewOf(`ipkeeperctl ${group}`, '', rows, commonOptions(), [more])
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

interface Call extends ReadCall {
  readonly output: string
  readonly socket: string | undefined
}

function parseCall(argv: readonly string[], command: Command): Call {
  const row = { ...command, options: { ...command.options, ...commonOptions(command) } }
  const { options: given, ...call } = readCall(row, argv)
  const { output = 'table', socket, ...options } = given
  const known = formatsOf(command)
  if (!known.includes(output)) {
    const which = known.length === 2 ? 'neither json nor table' : `none of ${known.join(', ')}`
    throw new Problem('IPK_USAGE', `-o ${output} is ${which}`)
  }
  return { ...call, output, socket, options }
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

function commandFirst(argv: readonly string[]): { name: string | undefined; rest: readonly string[] } {
  const options = countLeadingOptions(argv)
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
    if (name === completeWord) {
      await completeCall(rest, terminal)
      return 0
    }
    if (name === '-h' || name === '--help' || name === 'help') {
      const topic = rest[0]
      if (name !== 'help' || topic === undefined) terminal.out(overview())
      else if (wordsAfter(topic).length > 0 && rest.length === 1) terminal.out(helpOfGroup(topic))
      else terminal.out(helpOfCommand(findCommand(joinWords(topic, rest.slice(1)).name)))
      return 0
    }
    if (name === '--version' || name === 'version') {
      terminal.out(`ipkeeperctl ${versionText}\n`)
      return 0
    }
    if (wordsAfter(name).length > 0 && ['-h', '--help'].includes(rest[0] ?? '')) {
      terminal.out(helpOfGroup(name))
      return 0
    }
    const words = joinWords(name, rest)
    command = findCommand(words.name)
    const call = parseCall(words.rest, command)
    if (call.flags.has('help')) {
      terminal.out(helpOfCommand(command))
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
