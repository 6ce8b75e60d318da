import { defaultPaths } from '../../../shared/paths.ts'
import { remedyHere, type Place } from '../../../shared/remedy/place.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import type { CtlCommand, ReadCall } from './command.ts'
import { connectDaemon, type DaemonClient } from './daemon-client.ts'
import { placeHere, problemHere, terminalHere } from './here.ts'
import { jsonText, yamlText } from './document-text.ts'
import { OptionProblem } from './option-problem.ts'
import { chooseWord, formatsOf } from './options.ts'
import { choosePaint, type ColorWord, colorWords } from './terminal-text.ts'
import type { Terminal } from './terminal.ts'
import { watchCommand } from './watch-command.ts'

/** A call whose common options have been read. */
interface ToolCall extends ReadCall {
  readonly output: string
  readonly color: ColorWord
  /** Seconds between two looks; undefined: one look. */
  readonly interval: number | undefined
  readonly socket: string | undefined
}

/** Throws IPK_USAGE. */
function readCommonOptions({ options: given, ...call }: ReadCall, command: CtlCommand): ToolCall {
  const { output: format = 'table', socket, color: word = 'auto', interval, ...options } = given
  if (socket === '') throw new OptionProblem('--socket', '--socket is empty')
  const output = chooseWord('-o', format, formatsOf(command))
  const color = chooseWord('--color', word, colorWords)
  const watched = call.flags.has('watch')
  if (interval !== undefined && !watched)
    throw new OptionProblem('--interval', '--interval goes with --watch')
  return { ...call, output, color, socket, options, interval: watched ? readInterval(interval) : undefined }
}

/** Throws IPK_USAGE. */
function readInterval(text = '2'): number {
  const seconds = Number(text)
  if (/^[0-9]+(\.[0-9]+)?$/.test(text) && seconds >= 0.1 && seconds <= 3600) return seconds
  throw new OptionProblem('--interval', `--interval ${text} is not a number of seconds from 0.1 to 3600`)
}

/** How data are printed: as one document, or as the command prints them for people; again and again where it is watched. */
function printer(
  command: CtlCommand,
  { output, color, flags, interval }: ToolCall,
  terminal: Terminal,
  place: Place,
) {
  const paint = choosePaint(color, terminal.isTerminal?.out === true, terminal.env)
  const watched = interval !== undefined
  const format = command.formats?.[output] ?? command.print
  const show = (data: unknown): string => {
    if (output === 'json') return jsonText(data, watched ? 0 : 2)
    if (output === 'yaml') return `${watched ? '---\n' : ''}${yamlText(data)}`
    const text = format(data, paint, !flags.has('no-headers'))
    return adviceHere(command, output, text, place)
  }
  return { paint, show }
}

/** What stands in the rows of a listing is data, and stays as it is: what it advises stands below them. */
function adviceHere({ keys }: CtlCommand, output: string, text: string, place: Place): string {
  if (keys === undefined) return remedyHere(text, place)
  if (!['table', 'wide'].includes(output)) return text
  return text.replaceAll(/^next: .*$/gm, line => remedyHere(line, place))
}

interface Watched {
  readonly command: CtlCommand
  readonly daemon: DaemonClient
  readonly call: ToolCall
  readonly title: string
  readonly place: Place
}

async function watch({ command, daemon, call, title, place }: Watched, terminal: Terminal, seconds: number) {
  const { paint, show } = printer(command, call, terminal, place)
  await watchCommand({
    look: async () => {
      try {
        return await command.run(daemon, call, { ...terminal, progress: () => undefined }, () => undefined)
      } catch (error) {
        throw problemHere(error, place)
      }
    },
    show,
    screen: terminal.isTerminal?.out === true && ['table', 'wide'].includes(call.output),
    out: terminal.out,
    err: terminal.err,
    readerGone: terminal.readerGone ?? (() => false),
    interruption: terminal.interruption?.() ?? new AbortController().signal,
    every: seconds * 1000,
    title: paint('faint', `every ${seconds} s: ${title}`),
  })
}

/**
 * Runs a command of ipkeeperctl once, or again and again, and prints what it returns.
 *
 * @param line the whole command line, for the title of a watched listing
 */
export async function runCommand(
  command: CtlCommand,
  given: ReadCall,
  { terminal, line }: { readonly terminal: Terminal; readonly line: readonly string[] },
): Promise<0 | 1> {
  const call = readCommonOptions(given, command)
  const place = placeHere({ socket: call.socket, stateDir: call.options['state-dir'] }, terminal)
  const daemon = connectDaemon(call.socket ?? (terminal.env['IPKEEPER_SOCKET'] || defaultPaths.socket))
  try {
    if (call.interval !== undefined) {
      const title = shellLine(['ipkeeperctl', ...line])
      await watch({ command, daemon, call, title, place }, terminal, call.interval)
      return 0
    }
    const printPart = (text: string): void => {
      if (call.output === 'table') terminal.out(remedyHere(text, place))
    }
    const data = await command.run(daemon, call, terminalHere(terminal, place), printPart)
    terminal.out(printer(command, call, terminal, place).show(data))
    return command.exitCode(data)
  } catch (error) {
    throw problemHere(error, place)
  } finally {
    await daemon.close()
  }
}
