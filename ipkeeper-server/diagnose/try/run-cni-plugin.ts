import { statSync } from 'node:fs'
import { judgeRun, type RunVerdict, type EndedRun } from './judge-run.ts'
import { type Attachment, pluginEnvironment } from './plugin-call.ts'
import { writeResult } from './plugin-result.ts'
import { type TryFinding, type TryStep, type TriedVerb, warning } from './report.ts'
import { runProgram } from '../../host/run-program.ts'
import type { JsonObject } from '../../../shared/json/fold.ts'
import { toProblem } from '../../../shared/problem/problem.ts'

export interface StepStart extends PluginStart {
  readonly cniVersion: string
  /** What else is to be said of it. */
  readonly judge: (verdict: RunVerdict) => Promise<readonly TryFinding[]>
}

/** Runs a plugin and judges what it did. Never rejects. */
export async function runStep(
  start: StepStart,
): Promise<{ readonly step: TryStep; readonly verdict: RunVerdict }> {
  const { verb, plugin, attachment, stdin, cniVersion, judge } = start
  const { path, run } = await runCniPlugin(start)
  const verdict = judgeRun(run, cniVersion)
  const more = await judge(verdict).catch((error: unknown) => [warning(toProblem(error).message)])
  const { result, runtimeSays } = verdict
  const step: TryStep = {
    ...{ verb, plugin, path, env: pluginEnvironment(verb, attachment), stdin },
    ...{ stdout: run.stdout, stderr: run.stderr, milliseconds: Math.round(run.milliseconds) },
    exit: run.end.kind === 'exit' ? run.end.exit : null,
    result: result === null ? null : writeResult(result, result.version),
    runtimeSays,
    findings: [...verdict.findings, ...more],
  }
  return { step, verdict }
}

export interface PluginStart {
  readonly verb: TriedVerb
  /** Its `type`: a plain name. */
  readonly plugin: string
  readonly attachment: Attachment
  readonly stdin: JsonObject
  /** Of ipkeeperctl: plugins get it whole, as from a runtime. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly timeoutMs: number
  /** Ends the run early: a plugin at work has some seconds to come to its end, and is killed then. */
  readonly signal?: AbortSignal
}

export interface PluginStarted {
  readonly path: string | null
  readonly run: EndedRun
}

/** The first regular file of that name; the executable bit is not looked at (cni:pkg/invoke/find.go). */
function findPlugin(type: string, folders: readonly string[]): string | undefined {
  return folders
    .filter(folder => folder !== '')
    .map(folder => `${folder}/${type}`)
    .find(path => {
      try {
        return statSync(path).isFile()
      } catch {
        return false
      }
    })
}

/**
 * What is killed in the middle may leave what no DEL knows of, such as half of its rules. Most plugins are done long
 * before.
 */
const graceMs = 3000

/** Aborted so long after another signal is; `stop` forgets about it. */
function delayed(signal: AbortSignal): { readonly late: AbortSignal; readonly stop: () => void } {
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const begin = (): void => {
    timer = setTimeout(() => {
      late.abort()
    }, graceMs)
  }
  signal.addEventListener('abort', begin, { once: true })
  return {
    late: late.signal,
    stop: () => {
      signal.removeEventListener('abort', begin)
      clearTimeout(timer)
    },
  }
}

/** Where plugins look for their tools when ipkeeperctl itself was given no PATH. */
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Runs one plugin as libcni does. It differs in one thing: when its time is up, what it started is killed with it, so that
 * nothing goes on behind the DEL that follows. Never rejects.
 */
export async function runCniPlugin(start: PluginStart): Promise<PluginStarted> {
  const { verb, plugin, attachment, stdin, timeoutMs, signal } = start
  const path = findPlugin(plugin, attachment.binDirs)
  const none = { stdout: '', stderr: '', milliseconds: 0, exitedAfter: undefined }
  const about = { verb, plugin, timeoutMs }
  if (path === undefined)
    return { path: null, run: { ...about, ...none, end: { kind: 'missing', folders: attachment.binDirs } } }
  if (signal?.aborted === true) return { path, run: { ...about, ...none, end: { kind: 'stopped' } } }
  const env: Record<string, string> = { PATH: usualPath }
  for (const [name, value] of Object.entries(start.env)) if (value !== undefined) env[name] = value
  const grace = signal && delayed(signal)
  const ended = await runProgram({
    ...{ path, args: [], timeoutMs, ownGroup: true },
    env: { ...env, ...pluginEnvironment(verb, attachment) },
    input: JSON.stringify(stdin),
    ...(grace && { signal: grace.late }),
  })
  grace?.stop()
  const { stdout, stderr, milliseconds, exitedAfter } = ended
  return {
    path,
    run: { ...about, stdout, stderr, milliseconds, exitedAfter, end: how(ended, grace?.late) },
  }
}

function how(ended: Awaited<ReturnType<typeof runProgram>>, signal?: AbortSignal): EndedRun['end'] {
  switch (ended.kind) {
    case 'not-started':
      return { kind: 'not-started', error: ended.error }
    case 'late':
      return { kind: signal?.aborted === true ? 'stopped' : 'late' }
    case 'ended':
      return ended.exit === null
        ? { kind: 'signal', signal: ended.signal ?? 'a signal' }
        : { kind: 'exit', exit: ended.exit }
  }
}
