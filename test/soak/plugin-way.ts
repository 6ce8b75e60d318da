/** Calls by the packaged plugin, as a runtime makes them; some runs of it are killed or paused on their way. */
import { setTimeout as delay } from 'node:timers/promises'
import type { ErrorReply } from '../../shared/api/cni.schema.ts'
import type { Way } from '../many-nodes/pod-calls.ts'
import type { Finished } from '../rigs/run-program.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { netnsOf, type Reply, type Sandbox, type SharedNode } from '../rigs/shared-node.ts'
import type { PluginRun, PluginVerb } from './check-plugin-runs.ts'
import { stalledWithin, type Heartbeat } from './heartbeat.ts'
import type { Machine } from './stage.ts'

/** What is done to a run of the plugin. */
export interface Meddling {
  readonly kind: 'killed' | 'paused'
  /** Milliseconds from its start. */
  readonly after: number
  /** Milliseconds of a pause. */
  readonly lasts: number
}

export interface PluginWayOptions {
  /** Path of the executable. */
  readonly plugin: string
  readonly machine: Machine
  /** Every run is added here. */
  readonly runs: PluginRun[]
  readonly meddling?: Meddling | undefined
  /** Is given each run as it begins; is to return what is called at its own end. */
  readonly begun: (run: RunningPlugin) => () => void
  readonly heartbeat: Heartbeat
}

/** A run that goes on. */
export interface RunningPlugin {
  readonly pid: number
  /** Ends it, as the end of its machine does. */
  end(): void
  /** Its file system has frozen within its write. */
  caught(): void
}

export interface PluginWay extends Way {
  status(node: SharedNode): Promise<Reply>
}

/** With these nobody knows what the daemon did, or did not. */
const inDoubt = new Set([
  'IPK_DAEMON_UNREACHABLE',
  'IPK_DAEMON_TIMEOUT',
  'IPK_DAEMON_REPLY_INVALID',
  'IPK_INTERRUPTED',
  'IPK_ANSWER_UNMARKED',
])

export function byPlugin(options: PluginWayOptions): PluginWay {
  const { plugin, machine, runs, meddling, begun, heartbeat } = options
  const run = async (
    verb: PluginVerb,
    node: SharedNode,
    sandbox: Sandbox | undefined,
    more: object,
  ): Promise<Reply> => {
    const began = performance.now()
    const { host } = machine
    let meddled: PluginRun['meddled']
    let isOver = false
    let over: () => void = () => undefined
    const finished = await runPlugin({
      ...{ plugin, host, command: verb, become: true, path: '/opt/cni/bin' },
      config: node.netconf(sandbox, more),
      env: machine.env,
      ...(sandbox && {
        ...{ containerId: sandbox.container, netns: netnsOf(sandbox), ifname: 'eth0' },
        args: node.args(sandbox),
      }),
      started: pid => {
        over = begun({
          pid,
          end: () => {
            try {
              process.kill(pid, 'SIGKILL')
              meddled = 'killed'
            } catch {
              // It has ended, and nobody has told us yet.
            }
          },
          caught: () => {
            meddled ??= 'caught'
          },
        })
        if (meddling)
          meddle(pid, meddling, () => isOver).then(
            done => (meddled = done),
            () => undefined,
          )
      },
    })
    isOver = true
    over()
    const container = sandbox?.container ?? ''
    const { exit, signal, stdout, stderr } = finished
    const ended = performance.now()
    runs.push({
      ...{ verb, node: node.name, container, began, ended },
      ...{ exit, signal, stdout, stderr, meddled, stalled: stalledWithin(heartbeat.stalls, began, ended) },
    })
    return replyOf(finished)
  }
  return {
    byProgram: true,
    add: (node, sandbox) => run('ADD', node, sandbox, {}),
    del: (node, sandbox) => run('DEL', node, sandbox, {}),
    check: (node, sandbox, addresses) =>
      run('CHECK', node, sandbox, {
        prevResult: { cniVersion: '1.1.0', ips: addresses.map(address => ({ address: `${address}/24` })) },
      }),
    status: node => run('STATUS', node, undefined, {}),
    gc: (node, valid) =>
      run('GC', node, undefined, {
        'cni.dev/valid-attachments': valid.map(containerID => ({ containerID, ifname: 'eth0' })),
      }),
  }
}

/** Resolves to what was done; a run that is over by then is left alone: its process ID may be another's. */
async function meddle(
  pid: number,
  { kind, after, lasts }: Meddling,
  isOver: () => boolean,
): Promise<Meddling['kind'] | undefined> {
  await delay(after)
  if (isOver()) return undefined
  try {
    process.kill(pid, kind === 'killed' ? 'SIGKILL' : 'SIGSTOP')
    if (kind === 'paused') {
      await delay(lasts)
      process.kill(pid, 'SIGCONT')
    }
    return kind
  } catch {
    return undefined
  }
}

/** What a runtime knows after it. */
function replyOf({ exit, signal, stdout }: Finished): Reply {
  const unknown = (why: string): Reply => ({ kind: 'unknown', why })
  if (signal !== null) return unknown(signal)
  try {
    const document = (stdout === '' ? {} : JSON.parse(stdout)) as {
      readonly ips?: readonly { readonly address: string }[]
      readonly code?: number
      readonly msg?: string
      readonly details?: string
    }
    if (exit === 0)
      return { kind: 'given', addresses: (document.ips ?? []).map(ip => ip.address.replace(/\/.*/, '')) }
    const { code: cniCode, msg = '', details = '' } = document
    const code = /\[(IPK_[A-Z_]+)/.exec(details)?.[1] ?? `CNI code ${String(cniCode)}`
    if (inDoubt.has(code)) return unknown(code)
    return { kind: 'refused', error: { code, message: msg, details } as ErrorReply }
  } catch (error) {
    return unknown(String(error))
  }
}
