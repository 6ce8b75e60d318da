import { randomBytes } from 'node:crypto'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Pod } from './cri.ts'
import { makeNetworkNamespace, type NetworkNamespace } from './netns.ts'
import type { Conflist, PluginConfig, PodRuntime } from './pod-runtime.ts'
import type { PrivateHost } from './private-host.ts'
import { findReferencePlugins } from './requirements.ts'
import { runPlugin } from './run-plugin.ts'
import type { Finished } from './run-program.ts'
import type { TempFolder } from './temp-folder.ts'

export interface BareRuntimeOptions {
  readonly host: PrivateHost
  readonly folder: TempFolder
  /** Its first plugin is run; a chain needs a real runtime. */
  readonly conflist: Conflist
  /** Plugins beside the reference ones: name to path. */
  readonly plugins?: Readonly<Record<string, string>>
}

interface BareSandbox {
  readonly pod: Pod
  readonly namespace: NetworkNamespace
}

const annotationsCapability = 'io.kubernetes.cri.pod-annotations'

/**
 * What containerd does about a pod's network, without containerd: a network namespace, and the plugin called with the
 * same environment, arguments and runtimeConfig.
 */
export function startBareRuntime(options: BareRuntimeOptions): PodRuntime {
  const { host, folder, conflist } = options
  const [plugin] = conflist.plugins
  const referencePlugins = findReferencePlugins()
  if (plugin === undefined || referencePlugins === undefined) throw new Error('no plugin to run')
  const extraPlugins = folder.file('plugins')
  mkdirSync(extraPlugins, { recursive: true })
  for (const [name, path] of Object.entries(options.plugins ?? {}))
    symlinkSync(path, join(extraPlugins, name))

  const sandboxes = new Map<string, BareSandbox>()

  const call = (command: string, id: string, { pod, namespace }: BareSandbox): Promise<Finished> =>
    runPlugin({
      plugin: options.plugins?.[plugin.type] ?? join(referencePlugins, plugin.type),
      command,
      containerId: id,
      netns: namespace.path,
      ifname: 'eth0',
      args: [
        'IgnoreUnknown=1',
        `K8S_POD_NAMESPACE=${pod.namespace}`,
        `K8S_POD_NAME=${pod.name}`,
        `K8S_POD_INFRA_CONTAINER_ID=${id}`,
        `K8S_POD_UID=${pod.uid}`,
      ].join(';'),
      path: `${extraPlugins}:${referencePlugins}`,
      config: pluginConfig(conflist, plugin, pod),
      host,
    })

  const stop = async (id: string): Promise<void> => {
    const sandbox = sandboxes.get(id)
    if (sandbox === undefined) return
    const finished = await call('DEL', id, sandbox)
    if (finished.exit !== 0) throw new Error(pluginError(plugin.type, 'delete', finished))
    await sandbox.namespace.delete()
    sandboxes.delete(id)
  }

  return {
    name: `network namespaces with the plugin ${plugin.type}`,
    run: async pod => {
      const id = randomBytes(32).toString('hex')
      const sandbox = { pod, namespace: await makeNetworkNamespace(host, 'cni') }
      const finished = await call('ADD', id, sandbox)
      if (finished.exit !== 0) {
        await call('DEL', id, sandbox)
        await sandbox.namespace.delete()
        throw new Error(pluginError(plugin.type, 'add', finished))
      }
      sandboxes.set(id, sandbox)
      const result = JSON.parse(finished.stdout) as { ips: readonly { address: string }[] }
      return { id, ip: result.ips[0]?.address.replace(/\/.*/, '') ?? '' }
    },
    stop,
    remove: () => Promise.resolve(),
    kill: async id => {
      await sandboxes.get(id)?.namespace.delete()
    },
    close: async () => {
      for (const id of [...sandboxes.keys()]) await stop(id).catch(() => undefined)
    },
  }
}

/** The configuration of one plugin as libcni derives it from the list. */
function pluginConfig(conflist: Conflist, plugin: PluginConfig, pod: Pod): unknown {
  const { capabilities, ...config } = plugin
  const wantsAnnotations = capabilities?.[annotationsCapability] === true
  return {
    ...config,
    cniVersion: conflist.cniVersion,
    name: conflist.name,
    ...(wantsAnnotations ? { runtimeConfig: { [annotationsCapability]: pod.annotations ?? {} } } : {}),
  }
}

/** The error as go-cni words it. */
function pluginError(type: string, verb: string, { stdout, stderr }: Finished): string {
  try {
    const { msg, details } = JSON.parse(stdout) as { msg: string; details?: string }
    return `plugin type="${type}" failed (${verb}): ${details === undefined ? msg : `${msg}; ${details}`}`
  } catch {
    return `plugin type="${type}" failed (${verb}): unreadable answer ${JSON.stringify(stdout + stderr)}`
  }
}
