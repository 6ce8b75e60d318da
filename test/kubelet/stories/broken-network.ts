import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { ApiObject } from '../../rigs/cluster-client.ts'
import { controlOn } from '../../rigs/kubelet-cluster/installed-cluster.ts'
import { untilHolds, type KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import { inShop, podOf, untilGone, untilPodsRun } from '../../rigs/kubelet-cluster/workloads.ts'

const conflist = '/etc/cni/net.d/10-ipkeeper.conflist'
const node = 'n2'
const address = '10.22.0.80'

/** A comma less in the conflist of a node: it is not ready and says why; mended, it goes on. */
export async function brokenNetwork(t: Test, cluster: KubeletCluster): Promise<void> {
  const machine = cluster.node(node)
  const whole = readFileSync(machine.path(conflist), 'utf8')
  // By a rename: of a file that is being written containerd would see a half.
  const write = (text: string): Promise<string> =>
    machine.must('sh', ['-euc', 'cat >"$0.new"; mv "$0.new" "$0"', conflist], { input: text })
  const ready = async (): Promise<ApiObject | undefined> => {
    const { status } = await cluster.api.request('GET', `/api/v1/nodes/${node}`)
    return (status['conditions'] as ApiObject[]).find(({ type }) => type === 'Ready')
  }
  await write(whole.replace('"isGateway": true,', '"isGateway": true'))
  await untilHolds(`${node} is not ready`, async () => (await ready())?.['status'] === 'False')
  t.match((await ready())?.['message'], /network/i, 'kubelet says that it is the network')
  const line = whole.split('\n').findIndex(text => text.includes('"ipMasq"')) + 1
  const lint = await controlOn(cluster, node, 'lint', '/etc/cni/net.d')
  t.not(lint.exit, 0, 'lint finds an error')
  t.match(lint.stdout, new RegExp(`10-ipkeeper\\.conflist:${line}:`), 'lint names the line')
  const doctor = await controlOn(cluster, node, 'doctor')
  t.match(doctor.stdout, /10-ipkeeper\.conflist/, 'and doctor the file')

  await cluster.api.create(podOf('patient', { annotations: { 'ipkeeper.io/ip': address }, node }))
  await write(whole)
  await untilHolds(`${node} is ready`, async () => (await ready())?.['status'] === 'True')
  await untilPodsRun(cluster, 'patient', { patient: address })
  t.pass('once it is mended, a pod that waited starts')
  await inShop(cluster, 'delete', 'pod', 'patient')
  await untilGone(cluster, 'patient')
}
