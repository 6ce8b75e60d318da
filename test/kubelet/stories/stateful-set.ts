import type { Test } from 'tap'
import type { LeaseItem } from '../../../shared/api/listing.schema.ts'
import { controlOn } from '../../rigs/kubelet-cluster/installed-cluster.ts'
import type { KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import {
  inShop,
  podsOfApp,
  statefulSetOf,
  untilGone,
  untilPodsRun,
} from '../../rigs/kubelet-cluster/workloads.ts'

const addresses = { 'web-0': '10.22.0.60', 'web-1': '10.22.0.61', 'web-2': '10.22.0.62' }

/** Its pods keep their addresses over a delete, a scale to nothing and back, and a rollout. */
export async function statefulSet(t: Test, cluster: KubeletCluster): Promise<void> {
  const annotations = {
    'ipkeeper.io/ips': '10.22.0.60-10.22.0.62',
    'ipkeeper.io/retain': 'while-owner-exists',
  }
  await cluster.api.create(statefulSetOf('web', 3, { annotations }))
  await untilPodsRun(cluster, 'web', addresses)
  t.pass('each pod has the address of its ordinal')

  const uids = async (): Promise<readonly string[]> =>
    (await podsOfApp(cluster, 'web')).map(({ metadata }) => metadata['uid'] as string)
  const first = await uids()
  await inShop(cluster, 'delete', 'pod', 'web-1')
  await untilPodsRun(cluster, 'web', addresses)
  t.pass('a pod that was deleted comes back with its address')

  await inShop(cluster, 'scale', 'statefulset', 'web', '--replicas=0')
  await untilGone(cluster, 'web')
  const kept = await controlOn(cluster, 'n1', 'leases', '--owner', 'sts/web', '-o', 'json')
  const { leases } = JSON.parse(kept.stdout) as { readonly leases: readonly LeaseItem[] }
  t.strictSame(
    leases.map(({ address, state }) => `${address} ${state}`).sort(),
    Object.values(addresses).map(address => `${address} held`),
    'with no pod at all the addresses are kept',
  )
  await inShop(cluster, 'scale', 'statefulset', 'web', '--replicas=3')
  await untilPodsRun(cluster, 'web', addresses)
  t.pass('and the pods get them again')

  const before = await uids()
  await inShop(cluster, 'rollout', 'restart', 'statefulset/web')
  await inShop(cluster, 'rollout', 'status', 'statefulset/web', '--timeout=200s')
  await untilPodsRun(cluster, 'web', addresses)
  const after = await uids()
  t.notOk(
    after.some(uid => first.includes(uid) || before.includes(uid)),
    'all pods are others after the rollout',
  )
  await inShop(cluster, 'delete', 'statefulset', 'web', '--cascade=foreground')
  await untilGone(cluster, 'web')
}
