import type { Test } from 'tap'
import { untilHolds, type KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import {
  deploymentOf,
  inShop,
  podsOfApp,
  untilGone,
  untilPodsRun,
} from '../../rigs/kubelet-cluster/workloads.ts'

const address = '10.22.0.100'

/** With one address a rollout that makes the new pod first waits, and says why; one that ends the old pod first goes through. */
export async function deployment(t: Test, cluster: KubeletCluster): Promise<void> {
  await cluster.api.create(deploymentOf('api', { annotations: { 'ipkeeper.io/ip': address } }))
  await untilPodsRun(cluster, 'api', [address])
  const [old] = await podsOfApp(cluster, 'api')

  await inShop(cluster, 'rollout', 'restart', 'deployment/api')
  let described = ''
  await untilHolds('an Event of the new pod', async () => {
    const made = (await podsOfApp(cluster, 'api')).find(
      ({ metadata }) => metadata['uid'] !== old?.['metadata'].uid,
    )
    described = made ? await inShop(cluster, 'describe', 'pod', made['metadata'].name as string) : ''
    return described.includes('FailedCreatePodSandBox')
  })
  t.match(described, /set maxSurge 0 or strategy Recreate/, 'it says what to change')
  const here = (await podsOfApp(cluster, 'api')).find(
    ({ metadata }) => metadata['uid'] === old?.['metadata'].uid,
  )
  t.equal(here?.['status'].podIP, address, 'the old pod is there, with the address')

  const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }
  await inShop(cluster, 'patch', 'deployment', 'api', '--patch', JSON.stringify({ spec: { strategy } }))
  await inShop(cluster, 'rollout', 'status', 'deployment/api', '--timeout=200s')
  await untilPodsRun(cluster, 'api', [address])
  const [now] = await podsOfApp(cluster, 'api')
  t.not(now?.['metadata'].uid, old?.['metadata'].uid, 'with maxSurge 0 the new pod gets it')
  await inShop(cluster, 'delete', 'deployment', 'api', '--cascade=foreground')
  await untilGone(cluster, 'api')
}
