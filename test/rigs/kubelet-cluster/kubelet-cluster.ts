/**
 * A whole Kubernetes on this machine, without a virtual one: the control plane of cluster.ts with all controllers and the scheduler, and
 * nodes with a real containerd, kubelet and kube-proxy. All of it is in one private host, joined by a bridge, and goes with that,
 * also when this process is killed. What it takes is in docs/contributing/cluster.md.
 */
import { mkdirSync } from 'node:fs'
import { callers, callersFolder } from '../callers.ts'
import type { ApiObject } from '../cluster-client.ts'
import { findClusterProgram, givenPrograms, nodeTools } from '../cluster-programs.ts'
import { startCluster, type Cluster } from '../cluster.ts'
import { currentContainerd, installedContainerd, type ContainerdRelease } from '../containerd-release.ts'
import { hangMs, until } from '../poll.ts'
import { missing } from '../requirements.ts'
import { startPrivateHost } from '../private-host.ts'
import { mustRun, runProgram, type Finished, type ProgramOptions } from '../run-program.ts'
import { tempFolder } from '../temp-folder.ts'
import type { Scope } from '../teardown.ts'
import { hostImages } from './host-images.ts'
import { writeNodeFiles } from './node-files.ts'
import { makeNodeMachine, type NodeMachine } from './node-machine.ts'

export interface KubeletClusterOptions {
  /** How many nodes; they have the releases of containerd by turns. */
  readonly nodes: number
  /** Is told of each step as it begins. */
  readonly tell?: (step: string) => void
}

export interface KubeletCluster {
  /** Requests are those of its administrator. */
  readonly api: Cluster
  readonly nodes: readonly NodeMachine[]
  node(name: string): NodeMachine
  kubectl(args: readonly string[], options?: ProgramOptions): Promise<Finished>
  /** The same for a call that must succeed: its stdout. */
  mustKubectl(args: readonly string[], options?: ProgramOptions): Promise<string>
}

/** Of the network of nodes; the control plane is the router. */
const nodeNetwork = '192.168.77'
const router = `${nodeNetwork}.1`

/** A whole cluster takes its time on a busy machine. */
export const clusterHangMs = 4 * hangMs

/** Between two looks at a cluster, whose processors have other things to do. */
const lookMs = 250

/** What a machine lacks for it, for tap's `skip`. */
export const missingForKubelets = (): false | string =>
  missing(
    ...(['namespaces', 'clean-machine', 'containerd', 'reference-plugins', 'nft', 'arping', 'ping'] as const),
    ...(['executables', 'kubelet', 'controllers', 'kubectl'] as const),
  )

/** Waits until something of a cluster holds; fails after `clusterHangMs`. An error means "not yet". */
export async function untilHolds(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  let reason: unknown
  const tried = async (): Promise<boolean> => {
    try {
      return await holds()
    } catch (error) {
      reason = error
      return false
    }
  }
  await until(what, tried, clusterHangMs, lookMs).catch((error: unknown) => {
    throw reason === undefined ? error : new Error(`not in time: ${what}`, { cause: reason })
  })
}

/** The releases of containerd that there are. */
function releases(): readonly ContainerdRelease[] {
  return [installedContainerd(), ...(callers.isBuilt() ? [currentContainerd] : [])]
}

/** Starts it, and waits until each node has registered. None is ready, for want of a network. Ask `missingForKubelets` first. */
export async function startKubeletCluster(
  t: Scope,
  { nodes: count, tell = () => undefined }: KubeletClusterOptions,
): Promise<KubeletCluster> {
  const folder = tempFolder(t)
  const room = await startPrivateHost()
  t.teardown(() => room.close())
  await room.must('ip', ['-batch', '-'], {
    input: `link add switch type bridge forward_delay 0\nlink set switch up\naddress add ${router}/24 dev switch\n`,
  })
  // Disks in memory: nothing of them is left, however this process ends.
  const disks = folder.file('disks')
  mkdirSync(disks)
  await room.must('mount', ['-t', 'tmpfs', '-o', 'mode=0755', 'tmpfs', disks])

  tell('the control plane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler')
  const api = await startCluster(t, { controllers: ['*'], site: { host: room, address: router } })

  tell('images: pause, toolbox, ipkeeper')
  const images = folder.file('disks', 'images')
  const archive = folder.file('disks', 'images', 'images.tar')
  await room.must('sh', ['-euc', 'mkdir "$0"; cat >"$1"', images, archive], { input: await hostImages() })

  const available = releases()
  const programs = givenPrograms === '' ? nodeTools.built : givenPrograms
  const shared = [programs, images, ...(callers.isBuilt() ? [callersFolder] : [])]
  const start = async (number: number): Promise<NodeMachine> => {
    const [name, address] = [`n${number}`, `${nodeNetwork}.${10 + number}`]
    const release = available[(number - 1) % available.length] ?? installedContainerd()
    const files = folder.file(name)
    const url = `https://${router}:6443`
    await writeNodeFiles({ cluster: api, name, address, url, release, folder: files })
    const disk = folder.file('disks', name)
    await room.must('mkdir', [disk])
    const node = makeNodeMachine(room, {
      ...{ name, address, router, release, disk, files, shared },
    })
    tell(`node ${name}: ${(await mustRun(release.containerd, ['--version'])).trim()}, kubelet, kube-proxy`)
    await node.boot()
    await untilHolds(`containerd of ${name}`, async () => (await ctr(node, 'version')).exit === 0)
    const imported = await ctr(node, 'image', 'import', archive)
    if (imported.exit !== 0) throw new Error(`no images on ${name}: ${imported.stderr}`)
    return node
  }
  const nodes = await Promise.all(Array.from({ length: count }, (_, index) => start(index + 1)))
  await untilHolds(`${count} nodes have registered`, async () => {
    const { items } = await api.request('GET', '/api/v1/nodes')
    return (items as ApiObject[]).length === count
  })

  const kubectlPath = findClusterProgram('kubectl') ?? 'kubectl'
  const env = { HOME: folder.path, PATH: '/usr/bin:/bin', KUBECONFIG: api.kubeconfig }
  return {
    ...{ api, nodes },
    node: wanted => {
      const found = nodes.find(({ name }) => name === wanted)
      if (!found) throw new Error(`there is no node ${wanted}`)
      return found
    },
    kubectl: (args, options) => runProgram(kubectlPath, args, { env, ...options }),
    mustKubectl: (args, options) => mustRun(kubectlPath, args, { env, ...options }),
  }
}

const ctr = (node: NodeMachine, ...words: readonly string[]): Promise<Finished> =>
  node.run(node.release.ctr, ['--namespace', 'k8s.io', ...words], { timeoutMs: clusterHangMs })
