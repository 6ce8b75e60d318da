/** What stands on a node's disk before ipkeeper comes: settings of containerd, kubelet and kube-proxy, as kubeadm would write them. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { findClusterProgram } from '../cluster-programs.ts'
import type { Cluster } from '../cluster.ts'
import type { ContainerdRelease } from '../containerd-release.ts'
import { toolboxName } from './host-images.ts'
import { programFile } from './node-machine.ts'

export interface NodeFilesOptions {
  readonly cluster: Cluster
  readonly name: string
  readonly address: string
  /** Of the API server, for nodes. */
  readonly url: string
  readonly release: ContainerdRelease
  /** Folder to write them into, by their paths. */
  readonly folder: string
}

/** The range of the example network of deploy/cni. */
const podRange = '10.22.0.0/16'

/** Writes them. */
export async function writeNodeFiles(options: NodeFilesOptions): Promise<void> {
  const { cluster, name, address, url, release, folder } = options
  const write = (path: string, text: string): void => {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const kubeconfig = async (user: string, ...groups: readonly string[]): Promise<string> =>
    kubeconfigText(url, cluster.caFile, await cluster.clientCertificate(user, ...groups))

  write('/etc/hostname', `${name}\n`)
  write('/etc/hosts', `127.0.0.1 localhost\n${address} ${name}\n`)
  write('/etc/machine-id', `${randomBytes(16).toString('hex')}\n`)
  write('/etc/kubernetes/client-ca.crt', readFileSync(cluster.clientCaFile, 'utf8'))
  write('/etc/kubernetes/kubelet.conf', await kubeconfig(`system:node:${name}`, 'system:nodes'))
  write('/etc/kubernetes/kube-proxy.conf', await kubeconfig('system:kube-proxy'))
  write('/etc/kubernetes/kubelet.yaml', stringify(kubeletConfiguration))
  for (const [path, text] of Object.entries(containerdFiles(release))) write(path, text)
  write(
    programFile('kubelet'),
    programText([
      ...[findClusterProgram('kubelet') ?? 'kubelet', '--config=/etc/kubernetes/kubelet.yaml'],
      ...['--kubeconfig=/etc/kubernetes/kubelet.conf', `--hostname-override=${name}`, `--node-ip=${address}`],
      '--v=2',
    ]),
  )
  write(
    programFile('kube-proxy'),
    programText([
      ...[findClusterProgram('kube-proxy') ?? 'kube-proxy', '--kubeconfig=/etc/kubernetes/kube-proxy.conf'],
      ...['--proxy-mode=nftables', `--hostname-override=${name}`, `--cluster-cidr=${podRange}`],
      // These settings belong to the real machine.
      ...['--conntrack-max-per-core=0', '--conntrack-tcp-timeout-established=0'],
      '--conntrack-tcp-timeout-close-wait=0',
    ]),
  )
}

/** Text of a file that becomes a program. */
const programText = (words: readonly string[]): string => `exec ${words.map(word => `'${word}'`).join(' ')}\n`

/** What makes a node run a release of containerd: texts by path. */
export function containerdFiles(release: ContainerdRelease): Readonly<Record<string, string>> {
  const configuration = release.configuration({
    ...{ root: '/var/lib/containerd', state: '/run/containerd', socket: containerdSocket },
    ...{ binDir: '/opt/cni/bin', confDir: '/etc/cni/net.d', pauseImage: toolboxName('pause') },
  })
  const program = programText([release.containerd, '--config', '/etc/containerd/config.toml'])
  return {
    '/etc/containerd/config.toml': configuration,
    // Its shim is looked for there.
    [programFile('containerd')]: `export PATH='${release.path}'\n${program}`,
  }
}

const containerdSocket = '/run/containerd/containerd.sock'

const kubeletConfiguration = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: '/etc/kubernetes/client-ca.crt' },
  },
  authorization: { mode: 'Webhook' },
  containerRuntimeEndpoint: `unix://${containerdSocket}`,
  cgroupDriver: 'cgroupfs',
  // Control groups of version 1, in a namespace of them.
  failCgroupV1: false,
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  failSwapOn: false,
  // Of a disk that is a layer over another one it cannot say whose space it is.
  localStorageCapacityIsolation: false,
  evictionHard: { 'memory.available': '1Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
  imageGCHighThresholdPercent: 100,
  oomScoreAdj: 0,
  resolvConf: '',
  clusterDomain: 'cluster.local',
  // Nothing answers there; without one each pod has an Event about it.
  clusterDNS: ['10.96.0.10'],
  makeIPTablesUtilChains: false,
  maxPods: 200,
  nodeStatusUpdateFrequency: '5s',
}

/** Whole in itself, since a node does not see the files of this machine. */
function kubeconfigText(
  server: string,
  caFile: string,
  { certificateFile, keyFile }: { readonly certificateFile: string; readonly keyFile: string },
): string {
  const data = (path: string): string => readFileSync(path, 'base64')
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': data(caFile) } }],
    users: [
      {
        name: 'node',
        user: { 'client-certificate-data': data(certificateFile), 'client-key-data': data(keyFile) },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'node' } }],
    'current-context': 'test',
  })
}
