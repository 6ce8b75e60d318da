import type { Test } from 'tap'
import { currentContainerd } from '../../rigs/containerd-release.ts'
import { untilHolds, type KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import { containerdFiles } from '../../rigs/kubelet-cluster/node-files.ts'
import {
  inShop,
  podOf,
  podsOfApp,
  statefulSetOf,
  untilGone,
  untilPodsRun,
} from '../../rigs/kubelet-cluster/workloads.ts'

const addresses = { 'old-0': '10.22.0.150', 'old-1': '10.22.0.151' }

/** containerd is replaced by the next line under running pods: they run on, can be ended, and others start. */
export async function runtimeUpgrade(t: Test, cluster: KubeletCluster): Promise<void> {
  const annotations = { 'ipkeeper.io/ips': '10.22.0.150-10.22.0.151' }
  await cluster.api.create(statefulSetOf('old', 2, { annotations, node: 'n1' }))
  await untilPodsRun(cluster, 'old', addresses)
  const containers = async (): Promise<string> =>
    (await podsOfApp(cluster, 'old'))
      .map(({ status }) => String(status['containerStatuses'][0].containerID))
      .join()
  const before = await containers()
  const version = async (): Promise<string> =>
    (await cluster.api.request('GET', '/api/v1/nodes/n1'))['status'].nodeInfo
      .containerRuntimeVersion as string
  t.match(await version(), /^containerd:\/\/1\./, 'it begins with the older line')

  const node = cluster.node('n1')
  await node.stop('containerd')
  for (const [path, text] of Object.entries(containerdFiles(currentContainerd)))
    await node.must('tee', [path], { input: text })
  await node.start('containerd')
  await untilHolds('kubelet sees the new release', async () =>
    (await version()).startsWith('containerd://2.'),
  )
  await untilPodsRun(cluster, 'old', addresses)
  t.equal(await containers(), before, 'the same containers run')

  await cluster.api.create(podOf('new', { annotations: { 'ipkeeper.io/ip': '10.22.0.152' }, node: 'n1' }))
  await untilPodsRun(cluster, 'new', { new: '10.22.0.152' })
  t.pass('a pod starts')
  await inShop(cluster, 'delete', 'pod', 'old-1')
  await untilPodsRun(cluster, 'old', addresses)
  t.pass('a pod of the older release ends, and the next one has its address')
  await inShop(cluster, 'delete', 'statefulset/old', 'pod/new', '--cascade=foreground')
  for (const app of ['old', 'new']) await untilGone(cluster, app)
}
