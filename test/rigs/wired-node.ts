/** The packaged plugin in its main role, called as a runtime calls it, on a host with a daemon of its own. */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { startDaemon, type Daemon } from './daemon.ts'
import { makeNetworkNamespace, type NetworkNamespace } from './netns.ts'
import { startPrivateHost, type PrivateHost } from './private-host.ts'
import { pluginFolder, testedPlugin } from './requirements.ts'
import { runPlugin } from './run-plugin.ts'
import type { Finished } from './run-program.ts'
import { tempFolder, type TempFolder } from './temp-folder.ts'

export type Settings = Readonly<Record<string, unknown>>

/** A Result of cniVersion 0.3.0 and later. */
export interface WiredResult {
  readonly cniVersion: string
  readonly interfaces: readonly {
    readonly name: string
    readonly mac?: string
    readonly mtu?: number
    readonly sandbox?: string
  }[]
  readonly ips: readonly {
    readonly address: string
    readonly gateway?: string
    readonly interface?: number
  }[]
  readonly routes?: readonly { readonly dst: string; readonly gw?: string }[]
  readonly dns?: Settings
}

export interface PluginError {
  readonly cniVersion: string
  readonly code: number
  readonly msg: string
  readonly details?: string
}

/** What a call of a pod may have otherwise than its node's and its own habit. */
export interface CallOptions {
  /** Keys of the network configuration, beside or in place of the node's. */
  readonly settings?: Settings
  /** Keys of its `ipam`, likewise. */
  readonly ipam?: Settings
  readonly annotations?: Readonly<Record<string, string>>
  readonly prevResult?: WiredResult
  readonly netns?: string
  readonly ifname?: string
  readonly containerId?: string
}

/** A sandbox of a pod, and how the runtime calls the plugin for it. */
export interface WiredPod {
  readonly name: string
  readonly containerId: string
  readonly namespace: NetworkNamespace
  /** One call, whatever comes of it. */
  call(command: string, options?: CallOptions): Promise<Finished>
  /** An ADD that has to succeed. */
  add(options?: CallOptions): Promise<WiredResult>
  /** A DEL that has to succeed, without a word. */
  del(options?: CallOptions): Promise<void>
  /** A call that has to fail: its error. */
  fails(command: string, options?: CallOptions): Promise<PluginError>
  /** Another sandbox of the same pod, of the same UID. */
  again(): Promise<WiredPod>
}

export interface PodOptions extends CallOptions {
  readonly name?: string
  readonly uid?: string
}

export interface WiredNode {
  readonly host: PrivateHost
  /** The daemon that runs now; another one after a restart. */
  daemon(): Daemon
  /** @param configuration of its own; default: as it was */
  startDaemon(configuration?: Settings): Promise<Daemon>
  /** The network configuration of a call, as libcni hands it to the plugin. */
  config(options?: CallOptions): Settings
  /** A pod with a namespace of its own. Not added yet. */
  pod(options?: PodOptions): Promise<WiredPod>
}

/** Ranges that pods of this node alone have. */
export const podRanges = {
  ipv4: [{ subnet: '10.22.0.0/16' }],
  ipv6: [{ subnet: 'fd00:22::/64' }],
} as const

/** Both families, and a way out for both. */
export const dualStack: Settings = {
  ranges: [podRanges.ipv4, podRanges.ipv6],
  routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
}

export const annotationsKey = 'io.kubernetes.cri.pod-annotations'

export interface NodeOptions {
  readonly folder: TempFolder
  /** Of the network: mode, bridge and the like. */
  readonly settings?: Settings
  /** Of its `ipam`; default: both families. */
  readonly ipam?: Settings
  /** The daemon's own configuration. */
  readonly configuration?: Settings
  /** Executable of the plugin that is called. */
  readonly plugin?: string
  /** Executable of the daemon. */
  readonly server?: string
  /** `--store` of the daemon. */
  readonly store?: string
  /** The daemon's state folder, as its host sees it. Default: one of its own. */
  readonly stateDir?: string
  /** Environment of the daemon. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a daemon on a host. */
export async function startWiredNode(host: PrivateHost, options: NodeOptions): Promise<WiredNode> {
  const { folder, configuration = {}, env = {} } = options
  const id = randomBytes(3).toString('hex')
  mkdirSync(folder.file(id))
  const { stateDir = folder.file(id, 'state') } = options
  const [socket, file] = [folder.file(id, 's'), folder.file(id, 'config')]
  const configure = (own: Settings): void => {
    writeFileSync(file, JSON.stringify(own))
  }
  configure(configuration)
  const start = (): Promise<Daemon> =>
    startDaemon({
      ...{ socket, stateDir, host, config: file, env },
      // Of a store that is away it waits for ten seconds.
      ...(options.server !== undefined && { executable: options.server }),
      ...(options.store !== undefined && { args: ['--store', options.store] }),
    })
  let daemon = await start()

  const config: WiredNode['config'] = ({ settings, ipam, annotations, prevResult } = {}) => ({
    ...{ cniVersion: '1.1.0', name: 'fixed', type: 'ipkeeper' },
    ...options.settings,
    ...settings,
    ...(annotations && { runtimeConfig: { [annotationsKey]: annotations } }),
    ...(prevResult && { prevResult }),
    ipam: { type: 'ipkeeper', socket, stateDir, ...(options.ipam ?? dualStack), ...ipam },
  })

  const makePod = async (own: PodOptions): Promise<WiredPod> => {
    const namespace = await makeNetworkNamespace(host)
    const containerId = own.containerId ?? randomBytes(32).toString('hex')
    const { name = namespace.name, uid = randomUUID() } = own
    const call: WiredPod['call'] = (command, callOptions = {}) => {
      const merged: CallOptions = {
        ...own,
        ...callOptions,
        settings: { ...own.settings, ...callOptions.settings },
        ipam: { ...own.ipam, ...callOptions.ipam },
      }
      return runPlugin({
        plugin: options.plugin ?? testedPlugin,
        command,
        containerId: callOptions.containerId ?? containerId,
        netns: merged.netns ?? namespace.path,
        ifname: merged.ifname ?? 'eth0',
        args:
          `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name};` +
          `K8S_POD_INFRA_CONTAINER_ID=${containerId};K8S_POD_UID=${uid}`,
        path: pluginFolder,
        config: config(merged),
        host,
      })
    }
    return {
      ...{ name, containerId, namespace, call },
      add: async callOptions => {
        const { exit, stdout, stderr } = await call('ADD', callOptions)
        if (exit === 0) return JSON.parse(stdout) as WiredResult
        throw new Error(`ADD of ${name}: exit ${String(exit)}\n${stdout}${stderr}`)
      },
      del: async callOptions => {
        const { exit, stdout, stderr } = await call('DEL', callOptions)
        if (exit === 0 && stdout === '') return
        throw new Error(`DEL of ${name}: exit ${String(exit)}\n${stdout}${stderr}`)
      },
      fails: async (command, callOptions) => {
        const { exit, stdout } = await call(command, callOptions)
        if (exit === 1) return JSON.parse(stdout) as PluginError
        throw new Error(`${command} of ${name} did not fail (exit ${String(exit)}): ${stdout}`)
      },
      again: () => makePod({ ...own, containerId: randomBytes(32).toString('hex'), name, uid }),
    }
  }
  return {
    ...{ host, config },
    daemon: () => daemon,
    startDaemon: async own => {
      if (own) configure(own)
      return (daemon = await start())
    },
    pod: (podOptions = {}) => makePod(podOptions),
  }
}

/** A node in a private host of its own, made for one test and gone when it ends. */
export async function makeWiredNode(t: Test, options: Omit<NodeOptions, 'folder'> = {}): Promise<WiredNode> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  return await startWiredNode(host, { ...options, folder })
}

/** Address of a Result, without its prefix: that of the family. */
export function addressOf({ ips }: WiredResult, family: 4 | 6): string {
  const found = ips.find(({ address }) => address.includes(':') === (family === 6))
  if (found === undefined) throw new Error(`no IPv${family} address in ${JSON.stringify(ips)}`)
  return found.address.replace(/\/.*/, '')
}
