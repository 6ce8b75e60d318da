import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startContainerd, type Containerd } from '../test/rigs/containerd.ts'
import { startPrivateHost } from '../test/rigs/private-host.ts'
import { distFolder, findReferencePlugins } from '../test/rigs/requirements.ts'
import { makeTempFolder } from '../test/rigs/temp-folder.ts'
import { makeDaemonHome } from './measured-daemon.ts'
import { startPluginRunner, type CallTimes, type PluginRun } from './plugin-runner.ts'
import { benchBridge, freshPod, mainPluginConfig, type FreshPod, type MainContestant } from './workload.ts'

/** A node of its own where one of the contestants wires pods. */
export interface PodSite {
  /** ADDs of pods that stay, until there are so many; each in a namespace of its own. */
  fillTo(pods: number): Promise<void>
  /** ADD of so many pods in empty namespaces, and their DEL. */
  addAndDelete(pods: number, atOnce: number): Promise<{ readonly add: CallTimes; readonly del: CallTimes }>
  /**
   * Puts a machine beside the pods: a port of their bridge that is none of theirs. There has to have been an ADD. Resolves to
   * what takes it away.
   */
  plugIn(): Promise<() => Promise<void>>
  /** RunPodSandbox and StopPodSandbox of a pod, milliseconds. Absent without containerd. */
  readonly sandbox?: () => Promise<{ readonly runMs: number; readonly stopMs: number }>
  close(): Promise<void>
}

const atOnceWhenFilling = 16

/**
 * Makes a site in private namespaces.
 *
 * @param namespaces in how many namespaces pods come and go: at most so many can be measured at a time
 */
export async function makePodSite(
  contestant: MainContestant,
  options: { readonly withContainerd: boolean; readonly namespaces: number },
): Promise<PodSite> {
  const folder = makeTempFolder()
  const host = await startPrivateHost()
  const home = makeDaemonHome(folder, 'd', { host })
  const daemon = contestant === 'ipkeeper' ? await home.start() : undefined
  const reference = findReferencePlugins() ?? ''
  const places = { socket: home.socket, stateDir: home.stateDir, dataDir: folder.file('host-local') }
  const config = mainPluginConfig(contestant, places)
  const program = contestant === 'ipkeeper' ? join(distFolder, 'ipkeeper') : join(reference, contestant)
  mkdirSync(folder.file('runner'))
  const runner = startPluginRunner(host, folder.file('runner'))
  const containerd: Containerd | undefined = options.withContainerd
    ? await startContainerd({
        ...{ host, folder },
        conflist: { cniVersion: '1.0.0', name: 'bench', plugins: [config] },
        plugins: { ipkeeper: join(distFolder, 'ipkeeper') },
      })
    : undefined

  const makeNamespaces = async (prefix: string, from: number, to: number): Promise<readonly string[]> => {
    const names = Array.from({ length: Math.max(0, to - from) }, (_, index) => `${prefix}-${from + index}`)
    await host.must('ip', ['-batch', '-'], { input: names.map(name => `netns add ${name}\n`).join('') })
    return names.map(name => `/run/netns/${name}`)
  }
  const input = JSON.stringify({ cniVersion: '1.0.0', name: 'bench', ...config })
  const call = (verb: string, pod: FreshPod): PluginRun => ({
    program,
    input,
    env: {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      CNI_COMMAND: verb,
      CNI_CONTAINERID: pod.containerId,
      CNI_NETNS: pod.netns,
      CNI_IFNAME: pod.ifname,
      CNI_ARGS: pod.args,
      CNI_PATH: reference,
    },
  })
  const podsIn = (paths: readonly string[]): readonly FreshPod[] =>
    paths.map(netns => ({ ...freshPod(), netns }))

  const changing = await makeNamespaces('changing', 0, options.namespaces)
  let present = 0
  return {
    fillTo: async pods => {
      const fresh = podsIn(await makeNamespaces('present', present, pods))
      await runner.run({ runs: fresh.map(pod => call('ADD', pod)), atOnce: atOnceWhenFilling })
      present = Math.max(present, pods)
    },
    addAndDelete: async (pods, atOnce) => {
      const some = podsIn(changing.slice(0, pods))
      const add = await runner.run({ runs: some.map(pod => call('ADD', pod)), atOnce })
      const del = await runner.run({ runs: some.map(pod => call('DEL', pod)), atOnce })
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
      sandbox: async () => {
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
