import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { ApiObject } from '../cluster-client.ts'
import { tempFolder } from '../temp-folder.ts'
import type { Scope } from '../teardown.ts'
import { toolboxName } from './host-images.ts'
import {
  startKubeletCluster,
  untilHolds,
  type KubeletCluster,
  type KubeletClusterOptions,
} from './kubelet-cluster.ts'

/** Where pods of stories are. */
export const shop = 'shop'

const deploy = join(import.meta.dirname, '..', '..', '..', 'deploy')

/** A cluster with ipkeeper as docs/install/kubeadm.md installs it, by an overlay of its own. All nodes are ready. */
export async function startInstalledCluster(
  t: Scope,
  options: KubeletClusterOptions,
): Promise<KubeletCluster> {
  const cluster = await startKubeletCluster(t, options)
  options.tell?.('ipkeeper: kubectl apply -k deploy/kubernetes/overlays/ours')
  const folder = tempFolder(t)
  cpSync(deploy, folder.file('deploy'), { recursive: true })
  const overlay = folder.file('deploy', 'kubernetes', 'overlays', 'ours')
  mkdirSync(overlay)
  const [newName, newTag] = toolboxName('ipkeeper').split(':')
  writeFileSync(
    join(overlay, 'kustomization.yaml'),
    stringify({
      namespace: 'ipkeeper-system',
      resources: ['../crd-store'],
      images: [{ name: 'ipkeeper', newName, newTag }],
    }),
  )
  // Custom resources are known a moment after they were created; the first call names some that are not yet.
  await untilHolds(
    'kubectl apply',
    async () => (await cluster.kubectl(['apply', '--server-side', '-k', overlay])).exit === 0,
  )
  options.tell?.('waiting until the nodes are ready')
  await untilReady(cluster)
  await cluster.mustKubectl(['create', 'namespace', shop])
  return cluster
}

/** Waits until every node is ready, and the daemon of each. */
export async function untilReady(cluster: KubeletCluster): Promise<void> {
  await untilHolds('every node is ready', async () => {
    const { items } = await cluster.api.request('GET', '/api/v1/nodes')
    return (items as ApiObject[]).every(isReady)
  })
  await untilHolds('every daemon is ready', async () => {
    const daemons = await daemonPods(cluster)
    return daemons.length === cluster.nodes.length && daemons.every(isReady)
  })
}

const isReady = ({ status }: ApiObject): boolean =>
  ((status['conditions'] ?? []) as ApiObject[]).some(
    condition => condition['type'] === 'Ready' && condition['status'] === 'True',
  )

async function daemonPods({ api }: KubeletCluster): Promise<readonly ApiObject[]> {
  const path = '/api/v1/namespaces/ipkeeper-system/pods?labelSelector=app.kubernetes.io/name=ipkeeper'
  return (await api.request('GET', path))['items'] as ApiObject[]
}

/** `ipkeeperctl WORDS` in the daemon's pod of a node, as an operator types it. */
export async function controlOn(cluster: KubeletCluster, node: string, ...words: readonly string[]) {
  const pod = (await daemonPods(cluster)).find(({ spec }) => spec['nodeName'] === node)
  if (!pod) throw new Error(`no daemon on ${node}`)
  return await cluster.kubectl([
    ...['--namespace', 'ipkeeper-system', 'exec', pod['metadata'].name as string, '--container', 'ipkeeper'],
    ...['--', 'ipkeeperctl', ...words],
  ])
}
