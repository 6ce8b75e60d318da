import type { Test } from 'tap'
import { untilHolds, type KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import {
  inShop,
  podOf,
  podsOfApp,
  statefulSetOf,
  untilGone,
  untilPodsRun,
} from '../../rigs/kubelet-cluster/workloads.ts'

const address = '10.22.0.110'

/** A node is drained: its pod moves, and keeps its address; who talks to it goes on, from either node. */
export async function drain(t: Test, cluster: KubeletCluster): Promise<void> {
  await cluster.api.create(statefulSetOf('moving', 1, { annotations: { 'ipkeeper.io/ips': address } }))
  await untilPodsRun(cluster, 'moving', { 'moving-0': address })
  const placeOf = async (): Promise<string> =>
    (await podsOfApp(cluster, 'moving'))[0]?.['spec'].nodeName as string
  const from = await placeOf()
  const to = from === 'n1' ? 'n2' : 'n1'

  await cluster.api.create(podOf('caller', { node: to, command: ['ping', '-D', '-i', '0.2', address] }))
  const answers = async (): Promise<number> =>
    (await inShop(cluster, 'logs', 'caller', '--tail=-1')).split('\n').filter(line => line.includes(' time='))
      .length
  const moreAnswers = async (where: string): Promise<void> => {
    const before = await answers()
    await untilHolds(`the pod answers ${where}`, async () => (await answers()) > before + 5)
    t.pass(`it answers ${where}`)
  }
  await untilHolds('a pod that calls', async () => (await answers()) > 0)
  await moreAnswers('across nodes')

  await cluster.mustKubectl([
    'drain',
    from,
    '--ignore-daemonsets',
    '--delete-emptydir-data',
    '--timeout=200s',
  ])
  await untilPodsRun(cluster, 'moving', { 'moving-0': address })
  t.equal(await placeOf(), to, 'the pod has moved')
  await moreAnswers('on the other node')
  await untilHolds('the pod answers the node that it has left', async () => {
    const { exit } = await cluster.node(from).run('ping', ['-c', '1', '-W', '1', address])
    return exit === 0
  })
  t.pass('and to the node that it has left')

  await cluster.mustKubectl(['uncordon', from])
  await inShop(cluster, 'delete', 'statefulset/moving', 'pod/caller', '--cascade=foreground')
  for (const app of ['moving', 'caller']) await untilGone(cluster, app)
}
