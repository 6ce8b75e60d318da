import t from 'tap'
import { unreadOnPods } from '../../../../ipkeeper-server/kubernetes/annotations/unread-on-pods.ts'
import type { DialectName } from '../../../../ipkeeper-server/kubernetes/dialects/dialects.ts'
import type { PodEntry } from '../../../../ipkeeper-server/kubernetes/kube-object.ts'

const pod = (name: string, annotations: Readonly<Record<string, string>>): PodEntry => ({
  ...{ namespace: 'shop', name, uid: name, annotations, labels: {}, controller: undefined, deleting: false },
})
const calico = { 'cni.projectcalico.org/ipAddrs': '["10.22.0.50"]' }
const ovn = {
  'ovn.kubernetes.io/ip_address': '10.22.0.51',
  'ovn.kubernetes.io/mac_address': '02:00:00:00:00:01',
}

t.test('annotations of other products that nobody reads', t => {
  const rows: readonly (readonly [string, readonly PodEntry[], readonly DialectName[], object])[] = [
    ['no pods', [], [], []],
    [
      'our own, and what no dialect knows',
      [pod('a', { 'ipkeeper.io/ip': '10.22.0.9', 'cni.projectcalico.org/podIP': '10.22.0.9/32' })],
      [],
      [],
    ],
    ['switched on', [pod('a', calico)], ['calico'], []],
    [
      'one that is not, by how many, with an example',
      [pod('a', {}), pod('b', calico), pod('c', calico)],
      ['kube-ovn'],
      [{ dialect: 'calico', pods: 2, pod: 'shop/b', key: 'cni.projectcalico.org/ipAddrs' }],
    ],
    [
      'a pod counts once for each dialect',
      [pod('a', { ...ovn, ...calico })],
      [],
      [
        { dialect: 'kube-ovn', pods: 1, pod: 'shop/a', key: 'ovn.kubernetes.io/ip_address' },
        { dialect: 'calico', pods: 1, pod: 'shop/a', key: 'cni.projectcalico.org/ipAddrs' },
      ],
    ],
  ]
  for (const [name, pods, read, expected] of rows) {
    const byDialect = (one: { dialect: string }, other: { dialect: string }): number =>
      one.dialect < other.dialect ? 1 : -1
    t.strictSame([...unreadOnPods(pods, new Set(read))].sort(byDialect), expected, name)
  }
  t.end()
})
