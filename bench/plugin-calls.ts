/**
 * Runs plugins inside the host where this program runs, and times them: entering the host's namespaces anew for each
 * call would be added to both sides of every ratio and make it look better.
 *
 *   node bench/plugin-calls.ts FOLDER    reads one CallBatch as JSON from each line of stdin, answers each with one CallTimes
 */
import { spawn, spawnSync } from 'node:child_process'
import { closeSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { CallBatch, CallTimes, PluginRun } from './plugin-runner.ts'
import { WaitingInput } from '../scripts/waiting-input.ts'

const folder = process.argv[2] ?? '.'
const inputs: WaitingInput[] = []

function inputOf(slot: number): WaitingInput {
  return (inputs[slot] ??= new WaitingInput(join(folder, `stdin-${slot}`)))
}

function checkEnd(run: PluginRun, exit: number | null, stdout: string): void {
  if (exit === 0) return
  throw new Error(`${run.program} ${run.env['CNI_COMMAND'] ?? ''}: exit ${String(exit)}\n${stdout}`)
}

/** One after the other; spawnSync waits in one system call, so nothing of this process delays the end that it sees. */
function runOne(run: PluginRun): number {
  const stdin = inputOf(0).open(run.input)
  const started = performance.now()
  const { status, stdout } = spawnSync(run.program, [], {
    env: run.env,
    stdio: [stdin, 'pipe', 'inherit'],
    timeout: 60_000,
  })
  const ms = performance.now() - started
  closeSync(stdin)
  checkEnd(run, status, stdout.toString())
  return ms
}

async function runBeside(run: PluginRun, slot: number): Promise<number> {
  const stdin = inputOf(slot).open(run.input)
  const started = performance.now()
  const child = spawn(run.program, [], { env: run.env, stdio: [stdin, 'pipe', 'inherit'], timeout: 60_000 })
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const [exit] = (await once(child, 'close')) as [number | null]
  const ms = performance.now() - started
  closeSync(stdin)
  checkEnd(run, exit, text)
  return ms
}

async function runBatch({ runs, atOnce }: CallBatch): Promise<CallTimes> {
  const started = performance.now()
  if (atOnce === 1) {
    const each = runs.map(runOne)
    return { each, wholeMs: performance.now() - started }
  }
  const each: number[] = []
  const waiting = [...runs.entries()]
  const work = async (slot: number): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      each[next[0]] = await runBeside(next[1], slot)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, runs.length) }, (_, slot) => work(slot)))
  return { each, wholeMs: performance.now() - started }
}

for await (const line of createInterface({ input: process.stdin })) {
  const times = await runBatch(JSON.parse(line) as CallBatch)
  process.stdout.write(`${JSON.stringify(times)}\n`)
}
