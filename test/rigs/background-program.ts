import { readdirSync, readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { atProcessEnd } from './finish.ts'

/** A program that runs until it is stopped, or this process ends: the kernel sees to that even after a SIGKILL. */
export interface BackgroundProgram {
  readonly pid: number
  /** All that it has written so far. */
  log(): string
  /** Waits until something holds, and fails when the program ends first or the time is over; errors mean "not yet". */
  until(what: string, met: () => Promise<boolean>, timeoutMs?: number): Promise<void>
  signal(name: NodeJS.Signals): void
  /** Sends a signal and waits for the end; nothing when it has ended already. */
  stop(name: NodeJS.Signals): Promise<void>
}

/** The last lines of a log say why; a server's first ones say only what it was started with. */
const shownOfLog = 4000

/** Returns when no thread of a process runs any more, which on another processor takes a moment. */
function untilStopped(pid: number): void {
  const deadline = performance.now() + 1000
  const isStopped = (thread: string): boolean =>
    /\) [TtZX] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8'))
  try {
    while (!readdirSync(`/proc/${pid}/task`).every(isStopped) && performance.now() < deadline);
  } catch {
    // It has ended.
  }
}

/** Starts a program with the environment of this process, and not more of it than PATH. */
export function startInBackground(program: string, args: readonly string[], cwd: string): BackgroundProgram {
  // setpriv becomes the program: same process, and it dies with this one.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: cwd },
  })
  const name = basename(program)
  let log = ''
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  const closed = once(child, 'close').catch((error: unknown) => (log += String(error)))
  const signal = (wanted: NodeJS.Signals): void => {
    if (hasEnded() || !child.kill(wanted)) return
    // Until then it may go on to answer.
    if (wanted === 'SIGSTOP') untilStopped(child.pid ?? 0)
  }
  const withdraw = atProcessEnd(() => {
    signal('SIGKILL')
  })
  return {
    pid: child.pid ?? 0,
    log: () => log,
    until: async (what, met, timeoutMs = 60_000) => {
      const deadline = performance.now() + timeoutMs
      let reason: unknown = 'no'
      while (!(await met().catch((error: unknown) => ((reason = error), false)))) {
        const late = performance.now() > deadline
        if (late || hasEnded() || child.pid === undefined) {
          const how = late ? `not in time (${String(reason)})` : `${name} ended`
          throw new Error(`${name}: ${what}: ${how}\n${log.slice(-shownOfLog)}`)
        }
        await delay(20)
      }
    },
    signal,
    stop: async wanted => {
      signal(wanted)
      await closed
      withdraw()
    },
  }
}
