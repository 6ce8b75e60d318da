import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { once } from 'node:events'
import type { PluginRun } from './plugin-runner.ts'
import { WaitingInput } from '../scripts/waiting-input.ts'

/** How one run of a plugin ended. */
export interface PluginEnd {
  readonly ms: number
  /** What it answered when it failed; undefined when it did not. */
  readonly failure: string | undefined
}

const longestMs = 180_000

/** Plugins that are run as processes of this machine, as its runtime would; a failure is an answer like another. */
export class PluginSlot {
  readonly #input: WaitingInput

  /** @param fifo path for a pipe; one program at a time reads from it */
  constructor(fifo: string) {
    this.#input = new WaitingInput(fifo)
  }

  async run({ program, env, input }: PluginRun): Promise<PluginEnd> {
    const stdin = this.#input.open(input)
    const started = performance.now()
    const child = spawn(program, [], { env, stdio: [stdin, 'pipe', 'pipe'], timeout: longestMs })
    let stdout = ''
    child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr?.resume()
    const [exit] = (await once(child, 'close')) as [number | null]
    const ms = performance.now() - started
    closeSync(stdin)
    return { ms, failure: exit === 0 ? undefined : `exit ${String(exit)}: ${stdout.trim()}` }
  }
}
