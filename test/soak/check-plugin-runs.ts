/** Whether each run of the plugin kept the protocol: one document or nothing, the right exit code, in time. Pure. */
import type { Fault } from '../many-nodes/check-history.ts'

export type PluginVerb = 'ADD' | 'DEL' | 'CHECK' | 'GC' | 'STATUS'

export interface PluginRun {
  readonly verb: PluginVerb
  readonly node: string
  /** Empty for GC and STATUS. */
  readonly container: string
  readonly began: number
  readonly ended: number
  readonly exit: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  /** What was done to it from outside; caught: it was in the middle of a write when its file system froze (ADR 22). */
  readonly meddled: 'killed' | 'paused' | 'caught' | undefined
  /** Milliseconds of it in which the machine was late with everything. */
  readonly stalled: number
}

/** Milliseconds that a run may take: what the configuration and the plugin's own table grant. */
export type Limits = Readonly<Record<PluginVerb, number>>

/** What runtimes take for the success of a DEL. */
const swallowed = /not found|no such file or directory/i

export function faultsOfRuns(runs: readonly PluginRun[], limits: Limits): readonly Fault[] {
  return runs.flatMap(run => {
    const why = faultOf(run, limits)
    return why === undefined ? [] : [{ at: run.ended, text: `${nameOf(run)}: ${why}` }]
  })
}

const nameOf = ({ verb, container, node }: PluginRun): string =>
  `the plugin's ${verb}${container === '' ? '' : ` of ${container}`} on ${node}`

function faultOf(run: PluginRun, limits: Limits): string | undefined {
  const { verb, stdout, exit, signal, meddled, began, ended, stalled } = run
  const took = ended - began - stalled
  if (meddled !== 'paused' && meddled !== 'caught' && took > limits[verb])
    return `took ${(took / 1000).toFixed(1)} s, and has ${(limits[verb] / 1000).toFixed(1)} s`
  if (signal !== null) {
    if (meddled !== 'killed') return `ended by ${signal}, which nobody sent`
    return stdout === '' || documentOf(stdout) ? undefined : `half a document: ${shown(stdout)}`
  }
  const document = stdout === '' ? undefined : documentOf(stdout)
  if (stdout !== '' && !document) return `no document: ${shown(stdout)}`
  if (exit === 0) {
    if (verb !== 'ADD') return document ? `a document with its success: ${shown(stdout)}` : undefined
    return isResult(document) ? undefined : `success without a Result: ${shown(stdout)}`
  }
  if (exit !== 1) return `exit ${String(exit)}`
  if (!isError(document)) return `exit 1 without an error document: ${shown(stdout)}`
  if (verb === 'DEL' && swallowed.test(stdout)) return `runtimes take this for a success: ${shown(stdout)}`
  return undefined
}

type Document = Readonly<Record<string, unknown>>

function documentOf(text: string): Document | undefined {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Document)
      : undefined
  } catch {
    return undefined
  }
}

function isResult(document: Document | undefined): boolean {
  const ips = document?.['ips']
  return (
    document !== undefined &&
    document['cniVersion'] === '1.1.0' &&
    document['code'] === undefined &&
    Array.isArray(ips) &&
    ips.length > 0 &&
    ips.every(ip => /^[0-9a-f.:]+\/\d+$/.test(String((ip as Document | null)?.['address'])))
  )
}

function isError(document: Document | undefined): boolean {
  return (
    typeof document?.['code'] === 'number' && typeof document['msg'] === 'string' && document['msg'] !== ''
  )
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 300))
