import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { compilerFor } from '../scripts/c-compiler.ts'
import { hostArchitecture } from '../scripts/fetch-node.ts'
import type { PrivateHost } from '../test/rigs/private-host.ts'
import { makeTempFolder } from '../test/rigs/temp-folder.ts'

/** One run of a plugin. */
export interface PluginRun {
  readonly program: string
  readonly env: Readonly<Record<string, string>>
  /** At most 64 KiB. */
  readonly input: string
}

export interface CallBatch {
  readonly runs: readonly PluginRun[]
  /** How many run at a time. */
  readonly atOnce: number
}

/** What a whole process took, with the processes that it waited for. */
export interface RunFigures {
  /** From before its start until its end and that of its output are known. */
  readonly ms: number
  /** User and system time. */
  readonly processorMs: number
  readonly pageFaults: number
  /** Of the largest of its processes. */
  readonly peakMebibytes: number
  /** How it ended and what it wrote, when that was not with 0. */
  readonly failure?: string
}

/** In the order of the runs, and the time of all together. */
export interface BatchFigures {
  readonly each: readonly RunFigures[]
  readonly wholeMs: number
}

/** Runs plugins, one batch at a time. */
export interface PluginRunner {
  /** Rejects when one of them fails. */
  run(batch: CallBatch): Promise<BatchFigures>
  /** The same where a failure is an answer like another. */
  attempt(batch: CallBatch): Promise<BatchFigures>
  close(): Promise<void>
}

/** What starter.c reads. */
export function encodeBatch({ runs, atOnce }: CallBatch): string {
  const texts = runs.flatMap(({ program, env, input }) => [
    ...[program, input],
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    '',
  ])
  return [atOnce, runs.length, ...texts, ''].join('\0')
}

/** What it answers: figures and output of each run in turns. */
export function decodeFigures({ runs }: CallBatch, texts: readonly string[]): BatchFigures {
  const ends: number[] = []
  const each = runs.map(({ program, env }, index): RunFigures => {
    const [exit = NaN, started = NaN, ended = NaN, processorMs = NaN, pageFaults = NaN, kibibytes = NaN] = (
      texts[index * 2] ?? ''
    )
      .split(' ')
      .map(Number)
    ends.push(ended)
    const what = `${program} ${env['CNI_COMMAND'] ?? ''}: ${exit < 0 ? `signal ${-exit}` : `exit ${exit}`}`
    return {
      ...{ ms: ended - started, processorMs, pageFaults, peakMebibytes: kibibytes / 1024 },
      ...(exit !== 0 && { failure: `${what}\n${texts[index * 2 + 1] ?? ''}` }),
    }
  })
  return { each, wholeMs: Math.max(...ends) }
}

let built: string | undefined

/** Builds it once for this process. */
function starter(): string {
  if (built !== undefined) return built
  const { program, packages } = compilerFor(hostArchitecture)
  const path = makeTempFolder().file('starter')
  const source = join(import.meta.dirname, 'starter.c')
  const words = ['-std=gnu17', '-D_GNU_SOURCE', '-O2', '-Wall', '-Wextra', '-Werror', source, '-o', path]
  const { status, error } = spawnSync(program, words, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0)
    throw new Error(
      `${program} failed (Debian packages ${packages}): ${error?.message ?? `exit status ${status}`}`,
    )
  return (built = path)
}

/**
 * Starts the program that runs them, inside a host where one is given: entering its namespaces anew for each call would be
 * added to both sides of every ratio and make it look better.
 */
export function startPluginRunner(host?: PrivateHost): PluginRunner {
  const [command, args] = host?.command(starter(), []) ?? [starter(), []]
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  // Writing to one that has ended; reading says so.
  child.stdin.on('error', () => undefined)
  const chunks = child.stdout.setEncoding('utf8')[Symbol.asyncIterator]()
  const attempt = async (batch: CallBatch): Promise<BatchFigures> => {
    if (batch.runs.length === 0) return { each: [], wholeMs: 0 }
    child.stdin.write(encodeBatch(batch))
    const texts: string[] = []
    let rest = ''
    while (texts.length < batch.runs.length * 2) {
      const chunk = (await chunks.next()) as IteratorResult<string, undefined>
      if (chunk.done === true) {
        await ended
        throw new Error(`the plugins could not be measured: ${complaint}`)
      }
      const parts = (rest + chunk.value).split('\0')
      rest = parts.pop() ?? ''
      texts.push(...parts)
    }
    return decodeFigures(batch, texts)
  }
  return {
    attempt,
    run: async batch => {
      const figures = await attempt(batch)
      const failure = figures.each.find(run => run.failure !== undefined)?.failure
      if (failure !== undefined) throw new Error(failure)
      return figures
    },
    close: async () => {
      child.stdin.end()
      await ended
    },
  }
}
