import t from 'tap'
import { readManifest, type ManifestPod } from '../../../../ipkeeper-server/cli/manifests/read-manifest.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const read = (text: string): readonly ManifestPod[] => readManifest(text, 'web.yaml', 'default')

/** A workload of a kind, with lines under spec. */
const workload = (kind: string, spec = '', annotations = 'ipkeeper.io/ip: 10.22.0.50'): string => `
apiVersion: ${['Job', 'CronJob'].includes(kind) ? 'batch/v1' : 'apps/v1'}
kind: ${kind}
metadata: { name: web, namespace: shop }
spec:
${spec.replaceAll(/^/gm, '  ')}
  template:
    metadata:
      annotations: { ${annotations} }
`

/** "shop/web-0 of StatefulSet web from 5, 3+0 at once: notes", per pod. */
function shown({ namespace, name, owner, podsAtOnce, annotations, notes }: ManifestPod): string {
  const of = owner ? ` of ${owner.apiVersion} ${owner.kind} ${owner.name}` : ''
  const from = owner?.ordinalsStart === undefined ? '' : ` from ${owner.ordinalsStart}`
  const atOnce = podsAtOnce ? `, ${podsAtOnce.replicas}+${podsAtOnce.surge} at once` : ''
  const asks = Object.entries(annotations).map(([key, value]) => `${key}=${value}`)
  return [`${namespace}/${name}${of}${from}${atOnce}`, ...asks, ...notes].join('; ')
}

const ip = 'ipkeeper.io/ip=10.22.0.50'
const deployed = 'shop/web-6d4cf56db6-x2x5z of apps/v1 Deployment web'
const madeUp = 'web-6d4cf56db6-x2x5z is a name made up for one of its pods'

const manifests: Readonly<Record<string, readonly [text: string, pods: readonly string[]]>> = {
  'a pod': [
    'apiVersion: v1\nkind: Pod\nmetadata: { name: web-0, namespace: shop, annotations: { a: "1" } }',
    ['shop/web-0; a=1'],
  ],
  'a pod without namespace or annotations': ['kind: Pod\nmetadata: { name: web-0 }', ['default/web-0']],
  'a pod whose name the API makes up': [
    'kind: Pod\nmetadata: { generateName: web- }',
    ['default/web-x2x5z; web-x2x5z is a name made up from generateName'],
  ],
  'a pod as kubectl shows it: its Deployment is above the ReplicaSet': [
    `kind: Pod
metadata:
  name: web-5f-x2x5z
  labels: { pod-template-hash: 5f }
  ownerReferences:
    - { apiVersion: v1, kind: Other, name: x, controller: false }
    - { apiVersion: apps/v1, kind: ReplicaSet, name: web-5f, controller: true }`,
    ['default/web-5f-x2x5z of apps/v1 Deployment web'],
  ],
  'a static pod belongs to no workload': [
    'kind: Pod\nmetadata: { name: a, ownerReferences: [{ apiVersion: v1, kind: Node, name: n1, controller: true }] }',
    ['default/a'],
  ],
  'a StatefulSet has ordinals': [
    workload('StatefulSet', 'replicas: 2\nordinals: { start: 5 }'),
    [
      `shop/web-5 of apps/v1 StatefulSet web from 5, 2+0 at once; ${ip}`,
      `shop/web-6 of apps/v1 StatefulSet web from 5, 2+0 at once; ${ip}`,
    ],
  ],
  'a StatefulSet has one replica unless it says so': [
    workload('StatefulSet'),
    [`shop/web-0 of apps/v1 StatefulSet web from 0, 1+0 at once; ${ip}`],
  ],
  'of a StatefulSet without replicas the first is shown': [
    workload('StatefulSet', 'replicas: 0'),
    [
      `shop/web-0 of apps/v1 StatefulSet web from 0, 0+0 at once; ${ip}; replicas is 0: its first pod is explained all the same`,
    ],
  ],
  'a Deployment: 25 % more during a rollout, rounded up': [
    workload('Deployment', 'replicas: 5'),
    [`${deployed}, 5+2 at once; ${ip}; ${madeUp}`],
  ],
  'maxSurge as a percentage': [
    workload('Deployment', 'replicas: 5\nstrategy: { rollingUpdate: { maxSurge: 100% } }'),
    [`${deployed}, 5+5 at once; ${ip}; ${madeUp}`],
  ],
  'maxSurge as a number': [
    workload('Deployment', 'replicas: 5\nstrategy: { rollingUpdate: { maxSurge: 0 } }'),
    [`${deployed}, 5+0 at once; ${ip}; ${madeUp}`],
  ],
  'strategy Recreate': [
    workload('Deployment', 'replicas: 5\nstrategy: { type: Recreate }'),
    [`${deployed}, 5+0 at once; ${ip}; ${madeUp}`],
  ],
  'a ReplicaSet': [
    workload('ReplicaSet', 'replicas: 3'),
    [
      `shop/web-x2x5z of apps/v1 ReplicaSet web, 3+0 at once; ${ip}; web-x2x5z is a name made up for one of its pods`,
    ],
  ],
  'a DaemonSet has as many pods as there are nodes': [
    workload('DaemonSet'),
    [`shop/web-x2x5z of apps/v1 DaemonSet web; ${ip}; web-x2x5z is a name made up for one of its pods`],
  ],
  'a Job': [
    workload('Job', 'parallelism: 2'),
    [
      `shop/web-x2x5z of batch/v1 Job web, 2+0 at once; ${ip}; web-x2x5z is a name made up for one of its pods`,
    ],
  ],
  'a CronJob': [
    'apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: web, namespace: shop }\nspec: { jobTemplate: { spec: { parallelism: 3, template: { metadata: { annotations: { a: b } } } } } }',
    [
      'shop/web-29410000-x2x5z of batch/v1 CronJob web, 3+0 at once; a=b; web-29410000-x2x5z is a name made up for one of its pods',
    ],
  ],
  'annotations where no pod sees them': [
    'apiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: web, annotations: { ipkeeper.io/ip: 10.22.0.50 } }\nspec: { template: {} }',
    [
      'default/web-0 of apps/v1 StatefulSet web from 0, 1+0 at once; ipkeeper.io/ip is in metadata.annotations of the StatefulSet, where no pod sees it: move it to spec.template.metadata.annotations',
    ],
  ],
  'several documents, comments, empty ones, and kinds without pods': [
    '# all\n---\n---\nkind: Service\nmetadata: { name: web }\n---\nkind: Pod\nmetadata: { name: a }\n---\nkind: Pod\nmetadata: { name: b }\n...\n',
    ['default/a', 'default/b'],
  ],
  'a List, and the list of a kind whose items do not repeat it': [
    'kind: List\nitems: [{ kind: Pod, metadata: { name: a } }, { kind: Secret }]\n---\nkind: PodList\nitems: [{ metadata: { name: b } }]\n---\nkind: PodList\n',
    ['default/a', 'default/b'],
  ],
  'JSON, indented with tabs': [
    '{\n\t"kind": "Pod",\n\t"metadata": {"name": "a", "annotations": {"b": "c"}}\n}\n',
    ['default/a; b=c'],
  ],
  'anchors and merged keys': [
    'kind: List\nitems:\n  - &one { kind: Pod, metadata: { name: a } }\n  - { <<: *one, metadata: { name: b } }',
    ['default/a', 'default/b'],
  ],
}

for (const [name, [text, pods]] of Object.entries(manifests)) {
  t.test(name, t => {
    t.strictSame(read(text).map(shown), pods)
    t.end()
  })
}

t.test('of a large StatefulSet the first pods and the last', t => {
  const pods = read(workload('StatefulSet', 'replicas: 1000\nordinals: { start: 1 }'))
  t.strictSame(
    pods.map(({ name }) => name),
    [...Array.from({ length: 19 }, (_, index) => `web-${index + 1}`), 'web-1000'],
  )
  t.strictSame(pods[0]?.notes, ['of its 1000 pods the first 19 and the last are explained'])
  t.end()
})

const faults: readonly (readonly [text: string, message: string])[] = [
  ['', 'web.yaml: no Pod and no workload with a pod template'],
  ['kind: Service\nmetadata: { name: a }', 'web.yaml: no Pod and no workload with a pod template'],
  ['just a text', 'web.yaml:1:1: a document that is no object'],
  ['- kind: Pod', 'web.yaml:1:1: a document that is no object'],
  ['metadata: { name: a }', 'web.yaml:1:1: an object without kind'],
  ['kind: 5', 'web.yaml:1:7: kind is no text: put it in quotes'],
  ['kind: Pod', 'web.yaml:1:1: a Pod without metadata.name'],
  ['kind: Pod\nmetadata: { labels: {} }', 'web.yaml:2:11: a Pod without metadata.name'],
  ['kind: Pod\nmetadata:\n  name: 5', 'web.yaml:3:9: metadata.name is no text: put it in quotes'],
  [
    'kind: statefulset\nmetadata: { name: a }',
    'web.yaml:1:7: kind "statefulset" is unknown; did you mean "StatefulSet"?',
  ],
  ['kind: Job\nmetadata: { name: a }', 'web.yaml:1:1: a Job without apiVersion'],
  ['apiVersion: batch/v1\nkind: Job\nspec: { a: 1 }', 'web.yaml:3:7: a Job without spec.template'],
  [
    'kind: Pod\nmetadata:\n  name: a\n  annotations: [x]',
    'web.yaml:4:16: annotations are no mapping of keys to texts',
  ],
  [
    'kind: Pod\nmetadata:\n  name: a\n  annotations:\n    ipkeeper.io/ip: 10.22',
    'web.yaml:5:21: annotation ipkeeper.io/ip is no text: put it in quotes',
  ],
  [
    'kind: List\nitems:\n  - kind: Pod\n    metadata: { name: a, annotations: { b: true } }',
    'web.yaml:4:44: annotation b is no text: put it in quotes',
  ],
  ['kind: List\nitems: {}', 'web.yaml:2:8: items is no list'],
  ['kind: List\nitems: [a]', 'web.yaml:2:9: an item that is no object'],
  ['kind: List\nitems: &x [{ kind: List, items: *x }]', 'web.yaml:2:12: a list within a list'],
  [workload('StatefulSet', 'replicas: two'), 'web.yaml:6:13: spec.replicas is no whole number up to 1000000'],
  [workload('StatefulSet', 'replicas: -1'), 'web.yaml:6:13: spec.replicas is no whole number up to 1000000'],
  [
    workload('StatefulSet', 'ordinals: { start: 0.5 }'),
    'web.yaml:6:22: spec.ordinals.start is no whole number up to 1000000',
  ],
  [
    workload('Deployment', 'strategy: { rollingUpdate: { maxSurge: some } }'),
    'web.yaml:6:42: maxSurge is neither a whole number nor a percentage',
  ],
  ['kind: Pod\n  metadata: {}', 'web.yaml:1:7: Nested mappings are not allowed in compact mappings'],
  ['kind: Pod\nkind: Pod', 'web.yaml:2:1: Map keys must be unique'],
  ['\tkind: Pod', 'web.yaml:1:1: Tabs are not allowed as indentation'],
  ['kind: Pod\nspec: {{ .Values.spec }}', 'web.yaml:2:8: a key that is no text'],
  ['kind: *none', 'web.yaml:1:1: Unresolved alias (the anchor must be set before the alias): none'],
  ['['.repeat(100_000), 'web.yaml:1: it nests too deep'],
  [
    `a: &a [${'x,'.repeat(9)}]\nb: &b [${'*a,'.repeat(20)}]\nc: [${'*b,'.repeat(20)}]`,
    'web.yaml:1:1: Excessive alias count indicates a resource exhaustion attack',
  ],
  [
    `kind: List\nitems:\n${'- { kind: Pod, metadata: { name: a } }\n'.repeat(1001)}`,
    'web.yaml: 1001 pods, which is more than 1000',
  ],
]

for (const [text, message] of faults) {
  t.test(message, async t => {
    const problem = await thrownProblem(() => read(text))
    t.equal(problem.code, 'IPK_REQUEST_INVALID')
    // How deep the parser gets depends on the machine.
    t.equal(problem.message.replace(/:1:\d+: it nests/, ':1: it nests'), message)
    t.not(problem.hint, '')
  })
}
