import { Problem } from '../../shared/problem/problem.ts'
import { findProgram, systemFolders } from '../host/find-program.ts'
import { runProgram } from '../host/run-program.ts'
import { inheritedNamespace } from './plan/command.ts'
import { tools, type ToolName } from './plan/tools.ts'

export interface ToolRun {
  readonly tool: ToolName
  readonly args: readonly string[]
  readonly input?: string
  /** File descriptor of a network namespace: the program runs in it. */
  readonly inside?: number
  /** File descriptor of a network namespace that `args` or `input` name as namespacePath. */
  readonly beside?: number
  /** Default: 10 s. */
  readonly timeoutMs?: number
}

export interface ToolEnd {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** Rejects with IPK_TOOL_MISSING or IPK_WIRING_FAILED (late, killed); any exit code resolves. */
export type RunTool = (run: ToolRun) => Promise<ToolEnd>

export const defaultTimeoutMs = 10_000

/** Paths of tools that were found; one that is missing is looked for again, since people install it then. */
const found = new Map<ToolName, string>()

/** The path of a tool; undefined when it is not installed. */
export function findTool(tool: ToolName): string | undefined {
  const known = found.get(tool)
  if (known !== undefined) return known
  const path = findProgram(tool, process.env['PATH'])
  if (path !== undefined) found.set(tool, path)
  return path
}

/** The path of a tool. Throws IPK_TOOL_MISSING, which names the package. */
export function mustFind(tool: ToolName): string {
  const path = findTool(tool)
  if (path !== undefined) return path
  throw new Problem('IPK_TOOL_MISSING', `${tool} is not installed where ipkeeper-server runs`, {
    hint: `apt-get install ${tools[tool]} (or add it to the image of the daemon)`,
  })
}

/** Runs a tool by its argument vector, with a clean environment and a time limit. */
export const runTool: RunTool = async ({
  tool,
  args,
  input = '',
  inside,
  beside,
  timeoutMs = defaultTimeoutMs,
}) => {
  const program = mustFind(tool)
  const [path, argv] =
    inside === undefined
      ? [program, args]
      : [mustFind('nsenter'), [`--net=${inheritedNamespace}`, '--', program, ...args]]
  const namespace = inside ?? beside
  const end = await runProgram({
    path,
    args: argv,
    env: { LC_ALL: 'C', PATH: systemFolders.join(':') },
    input,
    descriptors: namespace === undefined ? [] : [namespace],
    timeoutMs,
  })
  const failed = (why: string, cause?: unknown): Problem =>
    new Problem('IPK_WIRING_FAILED', `${tool} ${args.join(' ')}: ${why}`, { cause })
  switch (end.kind) {
    case 'not-started':
      // It may have been removed since it was found.
      found.delete(tool)
      throw failed(`cannot be started (${end.error.message})`, end.error)
    case 'late':
      throw failed(`no end within ${timeoutMs / 1000} s`)
    case 'ended':
      if (end.exit === null) throw failed(`ended by ${end.signal ?? 'a signal'}`)
      return { exit: end.exit, stdout: end.stdout, stderr: end.stderr }
  }
}

/**
 * Waits for all, also when one fails: whoever hears of the fault undoes what they did, or closes what they use, and must not
 * meet them at it. Then rejects with the fault of the first in the list.
 */
export async function whenAllEnded<T>(steps: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(steps)
  const results: T[] = []
  for (const step of steps) results.push(await step)
  return results
}
