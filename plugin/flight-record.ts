import type { Flight } from '../shared/api/flight.schema.ts'
import { version } from '../shared/build-info.ts'
import { parseCniArgs } from '../shared/cni/cni-args.ts'
import type { Environment } from '../shared/cni/environment.ts'
import { pluginSettings } from '../shared/cni/netconf.ts'
import { field, type JsonObject } from '../shared/json/fold.ts'
import { defaultPaths } from '../shared/paths.ts'

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
export interface Ending {
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
  readonly queued?: string
}

/** Runtimes poll these two, and a success says nothing. */
const polled = ['STATUS', 'VERSION']

/** Whether a run is worth a line. One without CNI_COMMAND is a person who looks what this is. */
export function isRecorded(env: Environment, { exit }: Ending): boolean {
  const command = env['CNI_COMMAND'] ?? ''
  return command !== '' && (exit !== 0 || !polled.includes(command))
}

/** Longest form of each text in the line, in bytes of JSON: all together stay below 4 KiB. */
const longest = {
  verb: 32,
  network: 256,
  containerId: 256,
  ifname: 64,
  netns: 256,
  pod: 350,
  code: 64,
  message: 1000,
  address: 64,
  requestId: 128,
  invocationId: 140,
} as const
const mostAddresses = 12

const encodedBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

/** undefined for a text that is empty, so that it is left out. */
function cut(text: string | undefined, name: keyof typeof longest): string | undefined {
  if (text === undefined || text === '') return undefined
  const limit = longest[name]
  if (text.length <= limit && encodedBytes(text) <= limit) return text
  const mark = '…'
  let kept = text.slice(0, limit)
  while (encodedBytes(kept + mark) > limit) kept = kept.slice(0, Math.floor(kept.length * 0.8))
  return kept + mark
}

/** The line of a run, without its newline. */
export function formatFlight(facts: FlightFacts, ending: Ending): string {
  const { env, config } = facts
  const { exit, printed, fault, code, queued } = ending
  const { code: cniCode, msg, ips, ip4, ip6 } = (ending.document ?? {}) as PrintedDocument
  const addresses = [...(ips ?? []).map(ip => ip.address), ...[ip4, ip6].flatMap(family => family?.ip ?? [])]
  const name = config && field(config, 'name')
  // JSON.stringify leaves out what is undefined.
  const line: { readonly [K in keyof Required<Flight>]: Flight[K] | undefined } = {
    at: new Date(facts.startedAt).toISOString(),
    verb: cut(env['CNI_COMMAND'], 'verb'),
    network: cut(typeof name === 'string' ? name : undefined, 'network'),
    containerId: cut(env['CNI_CONTAINERID'], 'containerId'),
    ifname: cut(env['CNI_IFNAME'], 'ifname'),
    netns: cut(env['CNI_NETNS'], 'netns'),
    pod: cut(podOf(env['CNI_ARGS'] ?? ''), 'pod'),
    exit,
    code: cut(code, 'code'),
    cniCode,
    message: cut(fault ?? msg ?? queued, 'message'),
    printed,
    addresses:
      exit === 0 && addresses.length > 0
        ? addresses.slice(0, mostAddresses).map(address => cut(address, 'address') ?? '')
        : undefined,
    queued: queued === undefined ? undefined : true,
    durationMs: Math.round(facts.durationMs * 10) / 10,
    requestId: cut(facts.requestId, 'requestId'),
    invocationId: cut(facts.invocationId, 'invocationId'),
    pid: facts.pid,
    pluginVersion: version,
  }
  return JSON.stringify(line)
}

/** What a result of either shape and an error object have that is worth remembering. */
interface PrintedDocument {
  readonly code?: number
  readonly msg?: string
  readonly ips?: readonly { readonly address: string }[]
  readonly ip4?: { readonly ip: string }
  readonly ip6?: { readonly ip: string }
}

function podOf(args: string): string | undefined {
  const { podNamespace, podName } = parseCniArgs(args, { lenient: true })
  return podName === undefined ? undefined : `${podNamespace ?? ''}/${podName}`
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
