import type { Test } from 'tap'
import type { ApiObject } from '../../rigs/cluster-client.ts'
import { untilHolds, type KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import {
  inShop,
  podsOfApp,
  statefulSetOf,
  untilGone,
  untilPodsRun,
} from '../../rigs/kubelet-cluster/workloads.ts'

const count = 4
const addresses = Object.fromEntries(
  Array.from({ length: count }, (_, ordinal) => [`dark-${ordinal}`, `10.22.0.${160 + ordinal}`]),
)

/** All nodes lose their power at once, and come back: each pod has its address. */
export async function darkCluster(t: Test, cluster: KubeletCluster): Promise<void> {
  const annotations = { 'ipkeeper.io/ips': `10.22.0.160-10.22.0.${159 + count}` }
  await cluster.api.create(statefulSetOf('dark', count, { annotations }))
  await untilPodsRun(cluster, 'dark', addresses)
  const containers = async (): Promise<readonly string[]> =>
    (await podsOfApp(cluster, 'dark')).flatMap(({ status }) =>
      (status['containerStatuses'] as ApiObject[]).map(({ containerID }) => String(containerID)),
    )
  const before = await containers()
  await Promise.all(cluster.nodes.map(node => node.cut()))
  await Promise.all(cluster.nodes.map(node => node.boot()))
  await untilHolds('each container is another one', async () => {
    const now = await containers()
    return now.length === count && !now.some(id => before.includes(id))
  })
  await untilPodsRun(cluster, 'dark', addresses)
  t.pass('after the return each pod has its address')
  await inShop(cluster, 'delete', 'statefulset', 'dark', '--cascade=foreground')
  await untilGone(cluster, 'dark')
}
