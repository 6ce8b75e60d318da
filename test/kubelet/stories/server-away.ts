import type { Test } from 'tap'
import { untilHolds, type KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import { inShop, podOf, podsOfApp, untilGone, untilPodsRun } from '../../rigs/kubelet-cluster/workloads.ts'

const address = '10.22.0.130'

/** The API server is away, and a sandbox dies meanwhile: the pod goes on with its address as soon as it can. */
export async function serverAway(t: Test, cluster: KubeletCluster): Promise<void> {
  await cluster.api.create(podOf('steady', { annotations: { 'ipkeeper.io/ip': address }, node: 'n1' }))
  await untilPodsRun(cluster, 'steady', { steady: address })
  const containerOf = async (): Promise<unknown> =>
    (await podsOfApp(cluster, 'steady'))[0]?.['status'].containerStatuses[0].containerID
  const before = await containerOf()
  const node = cluster.node('n1')

  await cluster.api.stop()
  const kubeletSaid = async (): Promise<number> =>
    Number(
      (
        await node.must('sh', ['-c', 'grep -c "No ready sandbox for pod" /var/log/kubelet.log || true'])
      ).trim(),
    )
  const said = await kubeletSaid()
  // The sandboxes of pods that have a network of their own: there is no other.
  await node.must('sh', [
    '-c',
    'for netns in /run/netns/*; do ip netns pids "${netns##*/}"; done | xargs kill -KILL',
  ])
  await untilHolds('kubelet makes a new sandbox', async () => (await kubeletSaid()) > said)
  await cluster.api.start()

  await untilHolds('another container', async () => (await containerOf()) !== before)
  await untilPodsRun(cluster, 'steady', { steady: address })
  t.pass('the pod has its address')
  await inShop(cluster, 'delete', 'pod', 'steady')
  await untilGone(cluster, 'steady')
}
