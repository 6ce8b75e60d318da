import { Problem } from '../../shared/problem/problem.ts'
import { writeBatch, type Command, escapeIpJson } from './plan/command.ts'
import type { RunTool, ToolEnd } from './run-tool.ts'

/** A command of a batch that the kernel refused, with its words: "RTNETLINK answers: File exists". */
export class CommandRefused extends Problem {
  readonly command: Command
  readonly answer: string

  constructor(command: Command, answer: string) {
    super('IPK_WIRING_FAILED', `cannot ${command.about}: ${answer}`)
    this.command = command
    this.answer = answer
  }
}

const failedLine = /^Command failed -:(\d+)$/m

const existsText = /File exists|already assigned/
const missingText =
  /Cannot find device|No such process|No such file or directory|does not exist|No such device|Cannot assign requested|address not found/i
const unsupportedText = /not supported|Unknown argument|IPv6 is disabled on/i
/** nsenter could not enter, or not start the program: what it says is no answer of the kernel's about a link. */
const unenteredText = /^nsenter: /m

/** What the kernel or `ip` said, in one line. */
function answerOf({ stderr }: ToolEnd): string {
  const lines = stderr.split('\n').filter(line => line.trim() !== '' && !failedLine.test(line))
  return lines.join('; ').replace(/^RTNETLINK answers: /, '') || 'ip gave no reason'
}

/**
 * Runs commands in their order, each run of one place and program as one `ip -batch`. A refusal that the command calls
 * fine is passed over; any other one ends it.
 *
 * @param fd the pod's namespace; undefined where no command is for the pod or names its namespace
 * @throws CommandRefused; IPK_TOOL_MISSING, IPK_WIRING_FAILED
 */
export async function runCommands(
  run: RunTool,
  commands: readonly Command[],
  fd: number | undefined,
): Promise<void> {
  let rest = commands
  for (let [first] = rest; first; [first] = rest) {
    const { place, tool } = first
    const end = rest.findIndex(command => command.place !== place || command.tool !== tool)
    const batch = end < 0 ? rest : rest.slice(0, end)
    rest = rest.slice(await runBatch(run, batch, first, fd))
  }
}

/** Resolves to the number of commands that are done with. */
async function runBatch(
  run: RunTool,
  batch: readonly Command[],
  kind: Pick<Command, 'place' | 'tool'>,
  fd: number | undefined,
): Promise<number> {
  const { place, tool } = kind
  const namespace = fd === undefined ? {} : place === 'pod' ? { inside: fd } : { beside: fd }
  const ended = await run({
    tool: tool ?? 'ip',
    args: ['-batch', '-'],
    input: writeBatch(batch),
    ...namespace,
  })
  if (ended.exit === 0) return batch.length
  const answer = answerOf(ended)
  if (unenteredText.test(ended.stderr)) throw unentered(tool ?? 'ip', answer)
  const line = failedLine.test(ended.stderr) ? Number(failedLine.exec(ended.stderr)?.[1]) : undefined
  // `ip neighbour` ends the whole program, and does not say at which line; what was before the first one is done. None of
  // what stands between such commands minds to be run twice.
  const first = batch.findIndex(({ words }) => words[0] === 'neighbour')
  if (line === undefined && batch.length > 1 && first >= 0) {
    for (const one of batch.slice(first)) await runBatch(run, [one], kind, fd)
    return batch.length
  }
  const command = batch[line === undefined ? batch.length - 1 : line - 1]
  if (!command || (line === undefined && batch.length > 1))
    throw new Problem('IPK_WIRING_FAILED', `${tool ?? 'ip'} -batch failed: ${answer}`)
  const fine =
    (command.existing === 'fine' && existsText.test(answer)) ||
    (command.missing === 'fine' && missingText.test(answer)) ||
    (command.unsupported === 'fine' && unsupportedText.test(answer))
  if (fine) return line ?? batch.length
  if (command.needs && unsupportedText.test(answer)) throw unsupported(command, answer)
  throw new CommandRefused(command, answer)
}

function unentered(tool: string, answer: string): Problem {
  return new Problem('IPK_WIRING_FAILED', `cannot run ${tool} in the namespace of the pod: ${answer}`)
}

function unsupported({ about }: Command, answer: string): Problem {
  return new Problem('IPK_UNSUPPORTED', `"vlan": this kernel cannot ${about}: ${answer}`, {
    hint: 'take "vlan" out, or run a kernel that is built with CONFIG_BRIDGE_VLAN_FILTERING',
  })
}

/** What `ip -json ARGS` shows, whatever links are called; an empty list where the thing is not there. */
export async function ipJson(
  run: RunTool,
  args: readonly string[],
  inside?: number,
): Promise<readonly unknown[]> {
  const ended = await run({
    tool: 'ip',
    args: ['-json', ...args],
    ...(inside !== undefined && { inside }),
  })
  if (ended.exit !== 0) {
    const answer = answerOf(ended)
    if (unenteredText.test(ended.stderr)) throw unentered('ip', answer)
    if (missingText.test(answer)) return []
    throw new Problem('IPK_WIRING_FAILED', `ip ${args.join(' ')}: ${answer}`)
  }
  if (ended.stdout.trim() === '') return []
  const value: unknown = JSON.parse(escapeIpJson(ended.stdout))
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

/** Whether the kernel refused because the name is taken. */
export function isTaken(error: unknown): error is CommandRefused {
  return error instanceof CommandRefused && existsText.test(error.answer)
}
