import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { startContainerd, type Containerd } from '../test/rigs/containerd.ts'
import { startPrivateHost } from '../test/rigs/private-host.ts'
import { makeTempFolder } from '../test/rigs/temp-folder.ts'
import { makeDaemonHome } from './measured-daemon.ts'
import { startPluginRunner, type BatchFigures, type PluginRun } from './plugin-runner.ts'
import { benchBridge, freshPod, mainPluginConfig, pluginEnvironment, type FreshPod } from './workload.ts'

/** How the daemon of ipkeeper wires: the first is what it does unless it is told otherwise. */
export const wirings = ['netlink', 'ip'] as const
export type Wiring = (typeof wirings)[number]

/**
 * A node of its own where pods are wired, by ipkeeper or by the reference bridge with host-local. Each call names the folder of the
 * executables that do it: so those of ipkeeper share a daemon, and versions of the reference plugins a node.
 */
export interface PodSite {
  /** ADDs of pods that stay, until there are so many; each in a namespace of its own. */
  fillTo(folder: string, pods: number): Promise<void>
  /** ADD of so many pods at once in empty namespaces, and their DEL. */
  addAndDelete(
    folder: string,
    pods: number,
  ): Promise<{ readonly add: BatchFigures; readonly del: BatchFigures }>
  /**
   * Puts a machine beside the pods: a port of their bridge that is none of theirs. There has to have been an ADD. Resolves to
   * what takes it away.
   */
  plugIn(): Promise<() => Promise<void>>
  /** RunPodSandbox and StopPodSandbox of a pod, milliseconds. Absent without containerd. */
  readonly sandbox?: (folder: string) => Promise<{ readonly runMs: number; readonly stopMs: number }>
  close(): Promise<void>
}

export interface PodSiteOptions {
  /** null: the reference plugins wire, and there is no daemon. */
  readonly wiring: Wiring | null
  readonly withContainerd: boolean
  /** In how many namespaces pods come and go: at most so many can be measured at a time. */
  readonly namespaces: number
}

const atOnceWhenFilling = 16

/** Makes a site in private namespaces. */
export async function makePodSite({ wiring, withContainerd, namespaces }: PodSiteOptions): Promise<PodSite> {
  const folder = makeTempFolder()
  const host = await startPrivateHost()
  const type = wiring === null ? 'bridge' : 'ipkeeper'
  const env = { IPK_NETLINK: wiring === 'ip' ? 'off' : '' }
  const home = makeDaemonHome(folder, 'd', { host, env })
  const daemon = wiring === null ? undefined : await home.start()
  const places = { socket: home.socket, stateDir: home.stateDir, dataDir: folder.file('host-local') }
  const config = mainPluginConfig(type, places)
  const runner = startPluginRunner(host)
  const containerd: Containerd | undefined = withContainerd
    ? await startContainerd({
        ...{ host, folder },
        conflist: { cniVersion: '1.0.0', name: 'bench', plugins: [config] },
      })
    : undefined
  /** What containerd starts from now on. */
  const link = (plugins: string): void => {
    for (const name of wiring === null ? ['bridge', 'host-local'] : ['ipkeeper']) {
      const path = join(containerd?.binDir ?? '', name)
      rmSync(path, { force: true })
      symlinkSync(join(plugins, name), path)
    }
  }

  const makeNamespaces = async (prefix: string, from: number, to: number): Promise<readonly string[]> => {
    const names = Array.from({ length: Math.max(0, to - from) }, (_, index) => `${prefix}-${from + index}`)
    await host.must('ip', ['-batch', '-'], { input: names.map(name => `netns add ${name}\n`).join('') })
    return names.map(name => `/run/netns/${name}`)
  }
  const input = JSON.stringify({ cniVersion: '1.0.0', name: 'bench', ...config })
  const calls = (verb: 'ADD' | 'DEL', plugins: string, pods: readonly FreshPod[]): readonly PluginRun[] =>
    pods.map(pod => ({ program: join(plugins, type), input, env: pluginEnvironment(verb, pod, plugins) }))
  const podsIn = (paths: readonly string[]): readonly FreshPod[] =>
    paths.map(netns => ({ ...freshPod(), netns }))

  const changing = await makeNamespaces('changing', 0, namespaces)
  let present = 0
  return {
    fillTo: async (plugins, pods) => {
      const fresh = podsIn(await makeNamespaces('present', present, pods))
      await runner.run({ runs: calls('ADD', plugins, fresh), atOnce: atOnceWhenFilling })
      present = Math.max(present, pods)
    },
    addAndDelete: async (plugins, pods) => {
      const some = podsIn(changing.slice(0, pods))
      const add = await runner.run({ runs: calls('ADD', plugins, some), atOnce: pods })
      const del = await runner.run({ runs: calls('DEL', plugins, some), atOnce: pods })
      return { add, del }
    },
    plugIn: async () => {
      const machine = ['link', 'add', 'machine0', 'type', 'veth', 'peer', 'name', 'machine1']
      await host.must('ip', machine)
      await host.must('ip', ['link', 'set', 'machine0', 'master', benchBridge, 'up'])
      await host.must('ip', ['link', 'set', 'machine1', 'up'])
      return async () => {
        await host.must('ip', ['link', 'delete', 'machine0'])
      }
    },
    ...(containerd && {
      sandbox: async (plugins: string) => {
        link(plugins)
        const name = freshPod().containerId.slice(0, 12)
        const started = performance.now()
        const id = await containerd.cri.run({ namespace: 'bench', name, uid: crypto.randomUUID() })
        const ran = performance.now()
        await containerd.cri.stop(id)
        const stopMs = performance.now() - ran
        await containerd.cri.remove(id)
        return { runMs: ran - started, stopMs }
      },
    }),
    close: async () => {
      await runner.close()
      await containerd?.close()
      await daemon?.stop()
      await host.close()
      folder.remove()
    },
  }
}
