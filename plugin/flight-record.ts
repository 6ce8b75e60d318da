import type { AddResult } from '../shared/api/cni.schema.ts'
import type { Flight } from '../shared/api/flight.schema.ts'
import { version } from '../shared/build-info.ts'
import type { Environment } from '../shared/cni/environment.ts'
import { pluginSettings } from '../shared/cni/netconf.ts'
import { field, type JsonObject } from '../shared/json/fold.ts'
import { defaultPaths } from '../shared/paths.ts'
import { addressesOf } from './result-fault.ts'

/** What is known of a run when it ends; a run that fails early knows little. */
export interface FlightFacts {
  readonly env: Environment
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly durationMs: number
  readonly pid: number
  readonly config?: JsonObject
  readonly requestId?: string
  readonly invocationId?: string
}

/** How a run ended, and what stdout took of it. */
export interface RunEnding {
  readonly exit: 0 | 1
  /** What was to be printed: a result, or an error object; nothing when absent. */
  readonly document?: object
  /** Bytes that stdout took; 0 unless it took all. */
  readonly printed: number
  /** Why stdout did not take the document. */
  readonly fault?: string
  /** Our own code of the error. */
  readonly code?: string
  /** Why a DEL is in the queue. */
  readonly queued?: string | undefined
  /** The fallback that gave the addresses. */
  readonly delegatedTo?: string | undefined
}

/** Runtimes poll these two, and a success says nothing. */
const polled = ['STATUS', 'VERSION']

/** Whether a run is worth a line. One without CNI_COMMAND is a person who looks what this is. */
export function isRecorded(env: Environment, { exit }: RunEnding): boolean {
  const command = env['CNI_COMMAND'] ?? ''
  return command !== '' && (exit !== 0 || !polled.includes(command))
}

/** Bytes. An append that small to a local file lands whole. */
const longestLine = 4096
/** To what a line that would be longer is cut: bytes of JSON in a text, and addresses. */
const longestMessage = 1000
const longestText = 100
const mostAddresses = 12

/** The line of a run, without its newline. */
export function formatFlight(facts: FlightFacts, ending: RunEnding): string {
  const { env, config } = facts
  const { exit, code, printed, fault, queued, delegatedTo } = ending
  const document = (ending.document ?? {}) as PrintedDocument
  const { code: cniCode, msg } = document
  const name = config && field(config, 'name')
  const addresses = addressesOf(document)
  // JSON.stringify leaves out what is undefined.
  const line: { readonly [K in keyof Required<Flight>]: Flight[K] | undefined } = {
    at: quickIsoTime(facts.startedAt),
    verb: env['CNI_COMMAND'],
    network: typeof name === 'string' && name !== '' ? name : undefined,
    containerId: env['CNI_CONTAINERID'] || undefined,
    ifname: env['CNI_IFNAME'] || undefined,
    netns: env['CNI_NETNS'] || undefined,
    pod: podOf(env['CNI_ARGS'] ?? ''),
    exit,
    code,
    cniCode,
    message: fault ?? msg ?? queued,
    printed,
    addresses: exit === 0 && addresses.length > 0 ? addresses : undefined,
    delegatedTo,
    queued: queued === undefined ? undefined : true,
    durationMs: Math.round(facts.durationMs * 10) / 10,
    requestId: facts.requestId,
    invocationId: facts.invocationId,
    pid: facts.pid,
    pluginVersion: version,
  }
  const text = JSON.stringify(line)
  return Buffer.byteLength(text) < longestLine ? text : JSON.stringify(line, shorten)
}

function shorten(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, mostAddresses)
  return typeof value === 'string' ? cut(value, key === 'message' ? longestMessage : longestText) : value
}

function cut(text: string, limit: number): string {
  const bytes = (shown: string): number => Buffer.byteLength(JSON.stringify(shown)) - 2
  const mark = '…'
  let kept = text.slice(0, limit)
  if (kept === text && bytes(text) <= limit) return text
  while (bytes(kept + mark) > limit) kept = kept.slice(0, Math.floor(kept.length * 0.8))
  return kept + mark
}

/** What a result of either shape and an error object have that is worth remembering. */
interface PrintedDocument extends Partial<AddResult> {
  readonly code?: number
  readonly msg?: string
}

/** Of CNI_ARGS as they may come; parseCniArgs, which knows what is wrong with them, costs 0.1 ms. */
function podOf(args: string): string | undefined {
  const pairs = args.split(';')
  const value = (key: string): string | undefined =>
    pairs.findLast(pair => pair.startsWith(key))?.slice(key.length)
  const name = value('K8S_POD_NAME=')
  return name ? `${value('K8S_POD_NAMESPACE=') ?? ''}/${name}` : undefined
}

/** The state folder of a run, also where its configuration, or even its environment, is why the run failed. */
export function flightStateDir({ env, config }: FlightFacts): string {
  for (const source of [config ?? {}, {}]) {
    try {
      return pluginSettings(source, env).stateDir
    } catch {
      // A path that is none, or a timeout: the run has said so.
    }
  }
  return defaultPaths.stateDir
}

/** What Date's toISOString says, whose first call costs 0.2 ms of a run; from year 1000 to 9999. */
export function quickIsoTime(milliseconds: number): string {
  const date = new Date(milliseconds)
  const two = (value: number): string => (value < 10 ? `0${value}` : String(value))
  const day = `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`
  const rest = date.getUTCMilliseconds()
  return `${day}T${time}.${rest < 100 ? '0' : ''}${two(rest)}Z`
}
