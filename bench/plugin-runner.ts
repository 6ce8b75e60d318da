import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { PrivateHost } from '../test/rigs/private-host.ts'

/** One run of a plugin. */
export interface PluginRun {
  readonly program: string
  readonly env: Readonly<Record<string, string>>
  readonly input: string
}

export interface CallBatch {
  readonly runs: readonly PluginRun[]
  /** How many run at a time. */
  readonly atOnce: number
}

/** Milliseconds of whole processes, in the order of the runs, and of all together. */
export interface CallTimes {
  readonly each: readonly number[]
  readonly wholeMs: number
}

/** Runs plugins inside a host. */
export interface PluginRunner {
  /** Rejects when one of them fails. */
  run(batch: CallBatch): Promise<CallTimes>
  close(): Promise<void>
}

/** Starts the program that runs them; see plugin-calls.ts. One batch at a time. */
export function startPluginRunner(host: PrivateHost, folder: string): PluginRunner {
  const program = join(import.meta.dirname, 'plugin-calls.ts')
  const [command, args] = host.command(process.execPath, [program, folder])
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    run: async batch => {
      child.stdin.write(`${JSON.stringify(batch)}\n`)
      const answer = await lines.next()
      if (answer.done === true) throw new Error(`the plugins could not be measured: ${complaint}`)
      return JSON.parse(answer.value) as CallTimes
    },
    close: async () => {
      child.stdin.end()
      await ended
    },
  }
}
