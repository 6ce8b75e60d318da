import t from 'tap'
import { projectNamespace, projectNode, projectPod } from '../../../ipkeeper-server/kubernetes/kube-object.ts'

const meta = (rest: object = {}): object => ({
  name: 'web-0',
  namespace: 'shop',
  uid: 'u1',
  resourceVersion: '7',
  ...rest,
})
const owner = (rest: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  name: 'web',
  uid: 'o1',
  ...rest,
})

t.test('of a pod', t => {
  const plain = {
    namespace: 'shop',
    name: 'web-0',
    uid: 'u1',
    annotations: {},
    labels: {},
    controller: undefined,
    deleting: false,
  }
  for (const [what, metadata, expected] of [
    ['bare', meta(), {}],
    [
      'annotations that somebody reads',
      meta({
        annotations: {
          'ipkeeper.io/ip': '1',
          'ipkeeper.generals.space/ip_pool': '2',
          'cni.projectcalico.org/ipAddrs': '3',
          'ovn.kubernetes.io/ip_address': '4',
          'networking.alibaba.com/ip-pool': '5',
          'ipam.antrea.io/pod-ips': '6',
          'kubernetes.io/config.hash': '7',
          'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(10_000),
          'xipkeeper.io/ip': '8',
          'ipkeeper.io': '9',
        },
      }),
      {
        annotations: {
          'ipkeeper.io/ip': '1',
          'ipkeeper.generals.space/ip_pool': '2',
          'cni.projectcalico.org/ipAddrs': '3',
          'ovn.kubernetes.io/ip_address': '4',
          'networking.alibaba.com/ip-pool': '5',
          'ipam.antrea.io/pod-ips': '6',
          'kubernetes.io/config.hash': '7',
        },
      },
    ],
    ['labels', meta({ labels: { app: 'web', odd: 3 } }), { labels: { app: 'web' } }],
    [
      'a controller among owners',
      meta({ ownerReferences: [owner({ uid: 'o0' }), owner({ controller: true })] }),
      { controller: owner() },
    ],
    ['owners that control nothing', meta({ ownerReferences: [owner(), owner({ controller: false })] }), {}],
    ['a controller without UID', meta({ ownerReferences: [owner({ controller: true, uid: '' })] }), {}],
    [
      'the mirror of a static pod',
      meta({ ownerReferences: [owner({ apiVersion: 'v1', kind: 'Node', name: 'n1', controller: true })] }),
      {},
    ],
    [
      'a kind of somebody else that is called Node',
      meta({ ownerReferences: [owner({ apiVersion: 'x.io/v1', kind: 'Node', controller: true })] }),
      {
        controller: owner({ apiVersion: 'x.io/v1', kind: 'Node' }),
      },
    ],
    ['on its way out', meta({ deletionTimestamp: '2026-11-21T00:00:00Z' }), { deleting: true }],
  ] as const) {
    t.strictSame(projectPod({ metadata, spec: { nodeName: 'n1' } }), { ...plain, ...expected }, what)
  }
  for (const metadata of [
    undefined,
    null,
    [],
    {},
    meta({ uid: undefined }),
    meta({ name: 3 }),
    meta({ namespace: undefined }),
    meta({ resourceVersion: '' }),
  ]) {
    t.equal(projectPod({ metadata }), undefined, JSON.stringify(metadata))
  }
  t.end()
})

t.test('of a namespace', t => {
  const annotations = { 'ipkeeper.io/pool': 'prod', other: 'x' }
  t.strictSame(
    projectNamespace({ metadata: meta({ namespace: undefined, annotations, labels: { team: 'a' } }) }),
    {
      annotations: { 'ipkeeper.io/pool': 'prod' },
      labels: { team: 'a' },
    },
  )
  t.equal(projectNamespace({}), undefined)
  t.end()
})

t.test('of a node', t => {
  const labels = { zone: 'a' }
  const taint = (key: string): object => ({ key, value: 'nodeshutdown', effect: 'NoExecute' })
  for (const [what, name, spec, expected] of [
    ['this one', 'n1', {}, { labels, outOfService: false, addresses: [] }],
    ['another', 'n2', {}, { labels: undefined, outOfService: false, addresses: [] }],
    [
      'not ready',
      'n2',
      { taints: [taint('node.kubernetes.io/unreachable')] },
      { labels: undefined, outOfService: false, addresses: [] },
    ],
    [
      'out of service',
      'n2',
      { taints: [taint('x'), taint('node.kubernetes.io/out-of-service')] },
      { labels: undefined, outOfService: true, addresses: [] },
    ],
    ['odd taints', 'n2', { taints: [null, 'x'] }, { labels: undefined, outOfService: false, addresses: [] }],
  ] as const) {
    t.strictSame(projectNode({ metadata: meta({ name, labels }), spec }, 'n1'), expected, what)
  }
  const addresses = [
    { type: 'Hostname', address: 'n2' },
    { type: 'InternalIP', address: '10.30.0.12' },
    { type: 'ExternalIP', address: '192.0.2.2' },
    { type: 'InternalIP', address: 'fd00:30::12' },
    { type: 'InternalIP', address: 7 },
    null,
  ]
  const node = { metadata: meta({ name: 'n2' }), status: { addresses } }
  t.match(
    projectNode(node, 'n1'),
    { addresses: ['10.30.0.12', 'fd00:30::12'] },
    'addresses within the cluster',
  )
  t.equal(projectNode({ spec: {} }, 'n1'), undefined)
  t.end()
})
