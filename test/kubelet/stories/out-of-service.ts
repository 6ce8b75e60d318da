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

const address = '10.22.0.120'
const taint = 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute'

/** A node is lost, and declared so: its pod goes to another one with its address, and the node that comes back gives that up. */
export async function outOfService(t: Test, cluster: KubeletCluster): Promise<void> {
  await cluster.mustKubectl(['cordon', 'n2'])
  await cluster.api.create(statefulSetOf('lost', 1, { annotations: { 'ipkeeper.io/ips': address } }))
  await untilPodsRun(cluster, 'lost', { 'lost-0': address })
  await cluster.mustKubectl(['uncordon', 'n2'])
  const node = cluster.node('n1')
  await node.cut()
  await untilHolds('the controllers know that n1 is lost', async () => {
    const { status } = await cluster.api.request('GET', '/api/v1/nodes/n1')
    return (status['conditions'] as ApiObject[]).some(
      condition => condition['type'] === 'Ready' && condition['status'] === 'Unknown',
    )
  })
  const [stuck] = await podsOfApp(cluster, 'lost')
  t.equal(stuck?.['spec'].nodeName, 'n1', 'by itself nothing moves')

  await cluster.mustKubectl(['taint', 'node', 'n1', taint])
  await untilHolds('the pod is on the other node', async () => {
    const [pod] = await podsOfApp(cluster, 'lost')
    return pod?.['spec'].nodeName === 'n2'
  })
  await untilPodsRun(cluster, 'lost', { 'lost-0': address })
  t.pass('declared lost, its pod runs on the other node with its address')

  await node.boot()
  await cluster.mustKubectl(['taint', 'node', 'n1', `${taint}-`])
  await untilHolds('n1 is ready', async () => {
    const { status } = await cluster.api.request('GET', '/api/v1/nodes/n1')
    return (status['conditions'] as ApiObject[]).some(
      condition => condition['type'] === 'Ready' && condition['status'] === 'True',
    )
  })
  await untilPodsRun(cluster, 'lost', { 'lost-0': address })
  await inShop(cluster, 'delete', 'statefulset', 'lost', '--cascade=foreground')
  await untilGone(cluster, 'lost')
}
