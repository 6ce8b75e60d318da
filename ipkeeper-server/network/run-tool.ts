import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'
import { namespacePath } from './plan/namespace-path.ts'
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

const defaultTimeoutMs = 10_000
/** What is kept of each stream; the rest is read and dropped. */
const keptCharacters = 8 * 1024 * 1024
const systemFolders = ['/usr/sbin', '/sbin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/local/bin']

/** Paths of tools that were found; one that is missing is looked for again, since people install it then. */
const found = new Map<ToolName, string>()

/** The path of a tool; undefined when it is not installed. */
export function findTool(tool: ToolName): string | undefined {
  const known = found.get(tool)
  if (known !== undefined) return known
  const folders = [
    ...(process.env['PATH'] ?? '').split(':').filter(part => part.startsWith('/')),
    ...systemFolders,
  ]
  const path = folders.map(folder => join(folder, tool)).find(isExecutable)
  if (path !== undefined) found.set(tool, path)
  return path
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of a tool. Throws IPK_TOOL_MISSING, which names the package. */
export function mustFind(tool: ToolName): string {
  const path = findTool(tool)
  if (path !== undefined) return path
  throw new Problem('IPK_TOOL_MISSING', `${tool} is not installed where ipkeeper-server runs`, {
    hint: `apt-get install ${tools[tool]} (or add it to the image of the daemon)`,
  })
}

/** The one place that starts programs: an argument vector, never a shell, a clean environment, a time limit. */
export const runTool: RunTool = async ({
  tool,
  args,
  input = '',
  inside,
  beside,
  timeoutMs = defaultTimeoutMs,
}) => {
  const program = mustFind(tool)
  const [command, argv] =
    inside === undefined
      ? [program, args]
      : [mustFind('nsenter'), [`--net=${namespacePath}`, '--', program, ...args]]
  const namespace = inside ?? beside
  return await new Promise((resolve, reject) => {
    const child = spawn(command, argv, {
      stdio: ['pipe', 'pipe', 'pipe', ...(namespace === undefined ? [] : [namespace])],
      env: { LC_ALL: 'C', PATH: systemFolders.join(':') },
      cwd: '/',
    })
    const failed = (why: string, cause?: unknown): void => {
      reject(new Problem('IPK_WIRING_FAILED', `${tool} ${args.join(' ')}: ${why}`, { cause }))
    }
    child.on('error', error => {
      // It may have been removed since it was found.
      found.delete(tool)
      failed(`cannot be started (${error.message})`, error)
    })
    let [stdout, stderr] = ['', '']
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      failed(`no end within ${timeoutMs / 1000} s`)
    }, timeoutMs)
    child.on('close', (exit, signal) => {
      clearTimeout(timer)
      if (exit === null) failed(`ended by ${signal ?? 'a signal'}`)
      else resolve({ exit, stdout, stderr })
    })
    if (!child.stdin || !child.stdout || !child.stderr) return
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < keptCharacters) stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < keptCharacters) stderr += text
    })
    // One that ended before it read everything: its exit code tells why.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}
