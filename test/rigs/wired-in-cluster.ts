/**
 * A node with pods that are wired and an API that knows each of them, which keeps the ledger too: a pod is there before its ADD,
 * and gone after its DEL, as kubelet has it.
 */
import type { Test } from 'tap'
import { createPod, ipkeeperToken } from './cluster-node.ts'
import type { Cluster } from './cluster.ts'
import { RefusedError } from './cluster-client.ts'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { until } from './poll.ts'
import { startPreparedCluster } from './prepared-cluster.ts'
import { startPrivateHost } from './private-host.ts'
import { tempFolder } from './temp-folder.ts'
import { startWiredNode, type Settings, type WiredNode, type WiredPod } from './wired-node.ts'

export interface NodeInCluster extends WiredNode {
  /** Of the daemon's configuration: who it is, and where the API is. */
  readonly access: Settings
  /** The API has a pod of that name from now on, and no other one. */
  announce(name: string, annotations: Readonly<Record<string, string>>): Promise<string>
}

async function remove(cluster: Cluster, name: string): Promise<void> {
  await cluster
    .request('DELETE', `/api/v1/namespaces/shop/pods/${name}?gracePeriodSeconds=0`)
    .catch((error: unknown) => {
      if (!(error instanceof RefusedError && error.status === 404)) throw error
    })
}

/** Waits until all that the daemon asks of the API at its start was answered. */
async function untilWatched(node: WiredNode): Promise<void> {
  await until('the daemon has heard from the API', async () => {
    const { kubernetes } = JSON.parse((await node.daemon().ask('GET', '/v1/status')).body) as StatusReply
    return kubernetes?.connected === true && kubernetes.missingRights !== null
  })
}

/** A node whose ledger is in the API, made for one test and gone when it ends. */
export async function makeNodeInCluster(t: Test, configuration: Settings): Promise<NodeInCluster> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const cluster = await startPreparedCluster(t, { resources: true })
  await cluster.exposeIn(host)
  const kubeconfig = cluster.kubeconfigFor({ token: await ipkeeperToken(cluster) })
  const access = { node: 'worker-1', kubernetes: { mode: 'kubeconfig', kubeconfig } }
  const node = await startWiredNode(host, {
    ...{ folder, ipam: {}, configuration: { ...configuration, ...access }, store: 'kubernetes:' },
  })
  await untilWatched(node)
  const announce: NodeInCluster['announce'] = async (name, annotations) => {
    await remove(cluster, name)
    return (await createPod(cluster, name, annotations)).uid
  }
  const known = (pod: WiredPod): WiredPod => ({
    ...pod,
    call: async (command, options) => {
      const finished = await pod.call(command, options)
      if (command === 'DEL') await remove(cluster, pod.name)
      return finished
    },
    del: async options => {
      await pod.del(options)
      await remove(cluster, pod.name)
    },
  })
  return {
    ...{ ...node, access, announce },
    startDaemon: async own => {
      const daemon = await node.startDaemon(own)
      await untilWatched(node)
      return daemon
    },
    pod: async ({ name = 'pod', annotations = {}, ...own } = {}) =>
      known(await node.pod({ ...own, name, annotations, uid: await announce(name, annotations) })),
  }
}
