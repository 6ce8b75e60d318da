import type { Test } from 'tap'
import { untilHolds, type KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import { inShop, podOf, podsOfApp, untilGone, untilPodsRun } from '../../rigs/kubelet-cluster/workloads.ts'

const address = '10.22.0.130'

/** The API server is away, and a sandbox dies meanwhile: the new one waits, and has the same address. */
export async function serverAway(t: Test, cluster: KubeletCluster): Promise<void> {
  await cluster.api.create(podOf('steady', { annotations: { 'ipkeeper.io/ip': address }, node: 'n1' }))
  await untilPodsRun(cluster, 'steady', { steady: address })
  const containerOf = async (): Promise<unknown> =>
    (await podsOfApp(cluster, 'steady'))[0]?.['status'].containerStatuses[0].containerID
  const before = await containerOf()
  const node = cluster.node('n1')

  await cluster.api.stop('SIGKILL')
  // The sandboxes of pods that have a network of their own: there is no other.
  await node.must('sh', [
    '-c',
    'for netns in /run/netns/*; do ip netns pids "${netns##*/}"; done | xargs kill -KILL',
  ])
  const refusal = 'Failed to create sandbox for pod.* has been unreachable for '
  await untilHolds('an ADD is refused', async () => {
    const { exit } = await node.run('grep', ['-q', refusal, '/var/log/kubelet.log'])
    return exit === 0
  })
  t.pass('a new sandbox is refused, and kubelet hears that the API is away')
  // On a busy machine a server may give up its start; an init system would start it again.
  await untilHolds('the API server is back', async () => {
    await cluster.api.start()
    return true
  })

  await untilHolds('another container', async () => (await containerOf()) !== before)
  await untilPodsRun(cluster, 'steady', { steady: address })
  t.pass('the pod has its address')
  await inShop(cluster, 'delete', 'pod', 'steady')
  await untilGone(cluster, 'steady')
}
