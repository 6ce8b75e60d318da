import type { Test } from 'tap'
import type { ApiObject } from '../../rigs/cluster-client.ts'
import { untilHolds, type KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import {
  inShop,
  podOf,
  podsOfApp,
  statefulSetOf,
  untilGone,
  untilPodsRun,
} from '../../rigs/kubelet-cluster/workloads.ts'

const addresses = { 'db-0': '10.22.0.90', 'db-1': '10.22.0.91', 'db-2': '10.22.0.92' }

/** A node loses its power and comes back: its pods have their addresses again, and nobody else got one meanwhile. */
export async function powerCut(t: Test, cluster: KubeletCluster): Promise<void> {
  const annotations = { 'ipkeeper.io/ips': '10.22.0.90-10.22.0.92' }
  await cluster.api.create(statefulSetOf('db', 3, { annotations, node: 'n1' }))
  await untilPodsRun(cluster, 'db', addresses)
  const started = async (): Promise<readonly string[]> =>
    (await podsOfApp(cluster, 'db')).map(
      ({ status }) => (status['containerStatuses'] as ApiObject[])[0]?.['containerID'] as string,
    )
  const before = await started()

  const machine = cluster.node('n1')
  await machine.cut()
  await cluster.api.create(podOf('taker', { annotations: { 'ipkeeper.io/ip': '10.22.0.91' }, node: 'n2' }))
  await untilHolds('an Event of the pod that wants an address of the lost node', async () =>
    (await inShop(cluster, 'describe', 'pod', 'taker')).includes('shop/db-1'),
  )
  t.pass('what a lost node has is not given to others')
  await inShop(cluster, 'delete', 'pod', 'taker')

  await machine.boot()
  await untilHolds('each container of the node is another one', async () => {
    const now = await started()
    return now.length === 3 && !now.some(id => before.includes(id))
  })
  await untilPodsRun(cluster, 'db', addresses)
  t.pass('after the return each pod has its address')
  await inShop(cluster, 'delete', 'statefulset', 'db', '--cascade=foreground')
  await untilGone(cluster, 'db')
}
