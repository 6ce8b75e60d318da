import { spawn } from 'node:child_process'
import { Socket } from 'node:net'

/** The one place that starts programs. */

export interface ProgramRun {
  /** Absolute path of the program. */
  readonly path: string
  readonly args: readonly string[]
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly input?: string
  /** Open files that the program gets as 3, 4, ... */
  readonly descriptors?: readonly number[]
  readonly timeoutMs: number
  /** Ends the program as a timeout does. */
  readonly signal?: AbortSignal
  /**
   * Gives it a process group of its own: Ctrl-C at a terminal does not reach it, and when its time is up everything that
   * it started and left in the group is killed with it.
   */
  readonly ownGroup?: boolean
}

/** `ended`: exit is null when a signal ended it. `late`: it was killed at its time limit, or by the caller's signal. */
export type ProgramEnd = ProgramOutput &
  (
    | { readonly kind: 'ended'; readonly exit: number | null; readonly signal: NodeJS.Signals | null }
    | { readonly kind: 'late' }
    | { readonly kind: 'not-started'; readonly error: Error }
  )

export interface ProgramOutput {
  readonly stdout: string
  readonly stderr: string
  /** From its start to its end, which is when nobody holds its output open any more. */
  readonly milliseconds: number
  /** From its start until the process itself ended; absent when it did not. */
  readonly exitedAfter?: number
}

/** What is kept of each stream, in characters; the rest is read and dropped. */
export const keptCharacters = 8 * 1024 * 1024

/**
 * Runs a program to its end: an argument vector, never a shell, an environment of its own, a time limit. Never rejects.
 */
export async function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  const began = performance.now()
  return await new Promise(resolve => {
    let [stdout, stderr] = ['', '']
    let exitedAfter: number | undefined
    const output = (): ProgramOutput => ({
      ...{ stdout, stderr, milliseconds: performance.now() - began },
      ...(exitedAfter !== undefined && { exitedAfter }),
    })
    const child = spawn(run.path, run.args, {
      stdio: ['pipe', 'pipe', 'pipe', ...(run.descriptors ?? [])],
      env: run.env,
      cwd: '/',
      detached: run.ownGroup === true,
    })
    const kill = (): void => {
      child.kill('SIGKILL')
      if (run.ownGroup === true && child.pid !== undefined) killGroup(child.pid)
      end({ kind: 'late', ...output() })
    }
    const timer = setTimeout(kill, run.timeoutMs)
    run.signal?.addEventListener('abort', kill, { once: true })
    const end = (how: ProgramEnd): void => {
      clearTimeout(timer)
      run.signal?.removeEventListener('abort', kill)
      resolve(how)
    }
    child.on('error', error => {
      end({ kind: 'not-started', error, ...output() })
    })
    child.on('exit', () => {
      exitedAfter = performance.now() - began
    })
    child.on('close', (exit, signal) => {
      end({ kind: 'ended', exit, signal, ...output() })
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
    child.stdin.end(run.input ?? '')
  })
}

/** A program that goes on until it is ended. */
export interface FollowedProgram {
  /** undefined when it could not be started. */
  readonly pid: number | undefined
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<void>
  readonly end: () => void
}

export interface ProgramFollower {
  /** Each line of its stdout, as soon as it is whole. */
  readonly onLine: (line: string) => void
  /** It has written something to stderr. */
  readonly onComplaint: (text: string) => void
}

/** Starts a program and hears what it says, line by line; it does not keep this process alive. Never throws. */
export function followProgram(
  { path, args, env }: Pick<ProgramRun, 'path' | 'args' | 'env'>,
  { onLine, onComplaint }: ProgramFollower,
): FollowedProgram {
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd: '/' })
  const ended = new Promise<void>(resolve => {
    child.on('error', error => {
      onComplaint(error.message)
      resolve()
    })
    child.on('close', () => {
      resolve()
    })
  })
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
  child.stderr.setEncoding('utf8').on('data', onComplaint)
  child.unref()
  for (const output of [child.stdout, child.stderr]) if (output instanceof Socket) output.unref()
  return { pid: child.pid, ended, end: () => child.kill('SIGKILL') }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // Nobody is left in it.
  }
}
