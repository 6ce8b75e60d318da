import { version, versionText } from '../../../shared/build-info.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import { catalogue } from '../../../shared/problem/catalogue.ts'
import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import type { Command } from './command.ts'
import { readCall, type ReadCall } from './command-row.ts'
import { commands } from '../commands/commands.ts'
import { completeCall } from '../completion/complete-call.ts'
import { completeWord } from '../completion/shell-scripts.ts'
import { connectDaemon } from './daemon-client.ts'
import { commonOptions, countLeadingOptions, formatsOf } from './options.ts'
import { helpOf, overviewOf } from './render-help.ts'
import { choosePaint, colorWords, type ColorWord } from './paint.ts'
import type { Terminal } from './terminal.ts'
import { watchCommand } from './watch-command.ts'

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
  if (name.startsWith('-')) throw new Problem('IPK_USAGE', `unknown option ${name}`)
  // Of "cache skan" the second word alone is in question; with the first in common everything of the group looks near.
  const [group = '', second] = name.split(' ')
  const near =
    second === undefined
      ? nearestWord(
          name,
          commands.map(candidate => candidate.name),
        )
      : nearestWord(second, wordsAfter(group))
  const meant =
    near === undefined ? '' : `; did you mean ${second === undefined ? near : `${group} ${near}`}?`
  throw new Problem('IPK_USAGE', `unknown command "${name}"${meant}`, {
    ...(second !== undefined && { hint: `see: ipkeeperctl ${group} --help` }),
  })
}

interface Call extends ReadCall {
  readonly output: string
  readonly color: ColorWord
  /** Seconds between two looks; undefined: one look. */
  readonly interval: number | undefined
  readonly socket: string | undefined
}

function parseCall(argv: readonly string[], command: Command): Call {
  const row = { ...command, options: { ...command.options, ...commonOptions(command) } }
  const { options: given, ...call } = readCall(row, argv)
  const { output = 'table', socket, color: word = 'auto', interval, ...options } = given
  const known = formatsOf(command)
  if (!known.includes(output)) {
    const which = known.length === 2 ? 'neither json nor table' : `none of ${known.join(', ')}`
    throw new Problem('IPK_USAGE', `-o ${output} is ${which}`)
  }
  const color = colorWords.find(one => one === word)
  if (!color) throw new Problem('IPK_USAGE', `--color ${word} is none of ${colorWords.join(', ')}`)
  const watched = call.flags.has('watch')
  if (interval !== undefined && !watched) throw new Problem('IPK_USAGE', '--interval goes with --watch')
  return { ...call, output, color, socket, options, interval: watched ? readInterval(interval) : undefined }
}

/** Throws IPK_USAGE. */
function readInterval(text = '2'): number {
  const seconds = Number(text)
  if (/^[0-9]+(\.[0-9]+)?$/.test(text) && seconds >= 0.1 && seconds <= 3600) return seconds
  throw new Problem('IPK_USAGE', `--interval ${text} is not a number of seconds from 0.1 to 3600`)
}

/** JSON leaves DEL and the C1 controls as they are, and a terminal would obey them. */
function showJson(data: unknown, indent = 2): string {
  return JSON.stringify(data, null, indent).replaceAll(
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

/** What to type next: a line that works, and where the others are. */
const usageHint = ({ name, examples: [{ line }] }: Command): string =>
  `for example: ${line}; see: ipkeeperctl ${name} --help`

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
      const { run, formats, print } = command
      const paint = choosePaint(call.color, terminal.isTerminal?.out === true, terminal.env)
      const format = formats?.[call.output] ?? (data => print(data, paint))
      const show = (data: unknown, indent?: number): string =>
        call.output === 'json' ? `${showJson(data, indent)}\n` : format(data)
      if (call.interval !== undefined) {
        await watchCommand({
          look: () => run(daemon, call, { ...terminal, progress: () => undefined }, () => undefined),
          show: data => show(data, 0),
          screen: terminal.isTerminal?.out === true && call.output === 'table',
          out: terminal.out,
          err: terminal.err,
          readerGone: terminal.readerGone ?? (() => false),
          interruption: terminal.interruption?.() ?? new AbortController().signal,
          every: call.interval * 1000,
          title: paint('faint', `every ${call.interval} s: ${shellLine(['ipkeeperctl', ...argv])}`),
        })
        return 0
      }
      const data = await run(daemon, call, terminal, tell)
      terminal.out(show(data))
      return command.exitCode(data)
    } finally {
      await daemon.close()
    }
  } catch (error) {
    const problem = toProblem(error)
    const details = problem.details === '' ? '' : `  ${problem.details}\n`
    const usage = problem.code === 'IPK_USAGE'
    const hint =
      usage && command && problem.hint === catalogue.IPK_USAGE.hint ? usageHint(command) : problem.hint
    const paint = choosePaint('auto', terminal.isTerminal?.err === true, terminal.env)
    terminal.err(
      `${paint('bad', 'error:')} ${problem.message} [${problem.code}]\n${details}${paint('strong', 'hint:')} ${hint}\n`,
    )
    return usage ? 2 : 1
  }
}
