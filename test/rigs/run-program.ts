import { spawn } from 'node:child_process'
import { hangMs } from './poll.ts'

export interface Finished {
  /** Exit code; null when a signal ended it. */
  readonly exit: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** Whole life of the process, start to last byte, in milliseconds. */
  readonly ms: number
}

export interface ProgramOptions {
  readonly input?: string | Uint8Array
  /** The whole environment; that of this process when absent. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Ends the program with SIGKILL after this long. Default: longer than any timeout of its own. */
  readonly timeoutMs?: number
  /** Is given the process id, for who has to end it before that. */
  readonly started?: (pid: number) => void
}

/** Runs a program to its end. Never rejects for what the program did, only when it cannot be started. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: options.timeoutMs ?? 3 * hangMs,
      killSignal: 'SIGKILL',
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    })
    if (child.pid !== undefined) options.started?.(child.pid)
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
    // A program may well end without reading what it was given.
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input)
    child.on('error', reject)
    child.on('close', (exit, signal) => {
      resolve({
        exit,
        signal,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
        ms: performance.now() - started,
      })
    })
  })
}

/** The same for a step that must succeed: its stdout, or an error that says what it printed. */
export async function mustRun(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<string> {
  const finished = await runProgram(program, args, options)
  if (finished.exit === 0) return finished.stdout
  const how = finished.exit === null ? `signal ${finished.signal ?? 'unknown'}` : `exit ${finished.exit}`
  throw new Error(`${program} ${args.join(' ')}: ${how}\n${finished.stderr}${finished.stdout}`.trimEnd())
}
