import type { Test } from 'tap'
import { untilHolds, type KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import { inShop, podOf, untilGone, untilPodsRun } from '../../rigs/kubelet-cluster/workloads.ts'

const address = '10.22.0.70'
const annotations = { 'ipkeeper.io/ip': address }

/** Who asks for an address that another pod has waits, and reads who that is; when it comes free, it starts. */
export async function oneAddressTwice(t: Test, cluster: KubeletCluster): Promise<void> {
  await cluster.api.create(podOf('holder', { annotations, node: 'n1' }))
  await untilPodsRun(cluster, 'holder', { holder: address })
  await cluster.api.create(podOf('waiter', { annotations, node: 'n2' }))

  let described = ''
  await untilHolds('an Event of the pod that waits', async () => {
    described = await inShop(cluster, 'describe', 'pod', 'waiter')
    return described.includes('FailedCreatePodSandBox')
  })
  t.match(
    described,
    /FailedCreatePodSandBox .*plugin type="ipkeeper" failed \(add\)/,
    'kubelet says what failed',
  )
  t.match(
    described,
    new RegExp(`${address.replaceAll('.', '\\.')}, which is held by shop/holder on node n1`),
    'who has the address, and where',
  )
  t.notMatch(described, /^IP: +\d/m, 'it got no other address')

  await inShop(cluster, 'delete', 'pod', 'holder')
  await untilPodsRun(cluster, 'waiter', { waiter: address })
  t.pass('when it has come free the pod gets it')
  await inShop(cluster, 'delete', 'pod', 'waiter')
  await untilGone(cluster, 'waiter')
}
