import type { Test } from 'tap'
import type { KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import { inShop, statefulSetOf, untilGone, untilPodsRun } from '../../rigs/kubelet-cluster/workloads.ts'

const count = 6
const addresses = Object.fromEntries(
  Array.from({ length: count }, (_, ordinal) => [`busy-${ordinal}`, `10.22.0.${140 + ordinal}`]),
)

/** All daemons are replaced while pods come and go: each pod has its address. */
export async function ownRollout(t: Test, cluster: KubeletCluster): Promise<void> {
  const annotations = { 'ipkeeper.io/ips': `10.22.0.140-10.22.0.${139 + count}` }
  await cluster.api.create(statefulSetOf('busy', count, { annotations }))
  await untilPodsRun(cluster, 'busy', addresses)
  const ownNamespace = ['--namespace', 'ipkeeper-system']
  await cluster.mustKubectl([...ownNamespace, 'rollout', 'restart', 'daemonset/ipkeeper'])
  const replaced = cluster.mustKubectl([
    ...ownNamespace,
    ...['rollout', 'status', 'daemonset/ipkeeper', '--timeout=200s'],
  ])
  await inShop(cluster, 'delete', 'pods', '--selector', 'app=busy')
  await inShop(cluster, 'rollout', 'restart', 'statefulset/busy')
  await replaced
  t.pass('every daemon was replaced')
  await inShop(cluster, 'rollout', 'status', 'statefulset/busy', '--timeout=200s')
  await untilPodsRun(cluster, 'busy', addresses)
  t.pass('and every pod, each of which has its address')
  await inShop(cluster, 'delete', 'statefulset', 'busy', '--cascade=foreground')
  await untilGone(cluster, 'busy')
}
