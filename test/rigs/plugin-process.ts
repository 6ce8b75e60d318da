import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { environmentOf, plugin, type RunOptions } from './plugin-under-fault.ts'
import { hangMs } from './poll.ts'
import type { Finished } from './run-program.ts'

/** A run of the plugin that a test can signal, feed and read as it likes. */
export interface PluginProcess {
  readonly child: ChildProcess
  readonly pid: number
  /** How it ended; stdout and stderr where they are pipes that nobody else reads. */
  readonly finished: Promise<Finished>
}

export interface ProcessOptions extends RunOptions {
  /** Default: three pipes. What is read from stdout is the test's business when it says so. */
  readonly stdio?: StdioOptions
  readonly readStdout?: boolean
}

/** Starts the plugin; without a configuration stdin stays open, and the test may write to it. */
export function startProcess(command: string, config?: unknown, options: ProcessOptions = {}): PluginProcess {
  const [program, ...args] = options.by ? [...options.by, plugin] : [plugin]
  const started = performance.now()
  const child = spawn(program, args, {
    stdio: options.stdio ?? ['pipe', 'pipe', 'pipe'],
    env: { ...environmentOf(command), ...options.env },
    timeout: 3 * hangMs,
    killSignal: 'SIGKILL',
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  })
  child.stdin?.on('error', () => undefined)
  if (config !== undefined) child.stdin?.end(typeof config === 'string' ? config : JSON.stringify(config))
  const stdout = options.readStdout === false ? Promise.resolve('') : collect(child.stdout)
  const stderr = collect(child.stderr)
  const event = options.readStdout === false ? 'exit' : 'close'
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on('error', reject)
    child.on(event, (code: number | null, signal: NodeJS.Signals | null) => {
      resolve([code, signal])
    })
  })
  const finished = (async () => {
    const [exit, signal] = await ended
    return { exit, signal, stdout: await stdout, stderr: await stderr, ms: performance.now() - started }
  })()
  return { child, pid: child.pid ?? 0, finished }
}

async function collect(stream: Readable | null): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream ?? []) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Resolves once the process handles a signal (its number), as SigCgt of /proc says. */
export async function untilItHandles(pid: number, signal: number): Promise<void> {
  for (;;) {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
    if ((caught & (1n << BigInt(signal - 1))) !== 0n) return
    await delay(2)
  }
}
