import t from 'tap'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import type { Owner } from '../../../../ipkeeper-server/ipam/records/pod-facts.ts'
import type {
  ClusterView,
  NamespaceView,
  PodView,
  PodWanted,
} from '../../../../ipkeeper-server/kubernetes/cluster-view.ts'
import { gatherPodFacts, type FactsWanted } from '../../../../ipkeeper-server/leases/verbs/pod-facts.ts'
import { Problem } from '../../../../shared/problem/problem.ts'

const owner: Owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 's1' }
const told: PodView = { uid: 'u1', annotations: { by: 'api' }, labels: {}, owner }
const shop: NamespaceView = { annotations: { retain: '30m' }, labels: { team: 'web' } }
const wanted: PodWanted = { namespace: 'shop', name: 'web-0', uid: 'u1' }

interface Known {
  readonly pod?: PodView
  readonly namespace?: NamespaceView
}

/** Caches with something in them now, and something else after they were waited for. */
function clusterOf(now: Known, later: Known = now) {
  let known = now
  const waits: string[] = []
  const view: ClusterView = {
    pod: ({ uid }) => (known.pod && (uid === null || uid === known.pod.uid) ? known.pod : undefined),
    namespace: name => (name === 'shop' ? known.namespace : undefined),
    nodeLabels: () => undefined,
    node: () => 'unknown',
    hasOtherNodes: () => false,
    waitForPod: async ({ namespace, name, uid }, milliseconds) => {
      waits.push(`${namespace}/${name} ${uid ?? '-'} ${milliseconds}`)
      known = later
      return Promise.resolve(later.pod !== undefined && later.namespace !== undefined)
    },
    ownerExists: async () => Promise.resolve('unknown'),
    fetchPod: () => Promise.resolve(undefined),
  }
  return { view, waits }
}

const base: FactsWanted = {
  pod: wanted,
  runtimeAnnotations: undefined,
  runtimeAsks: false,
  namespaceDefaults: false,
  namespaceLabels: false,
  requireAnnotations: false,
  annotationsWithheld: false,
  ownersAnnotations: false,
}
const runtime = { by: 'runtime' }
const nobody = { annotations: undefined, annotationsFrom: 'nobody', owner: undefined, namespace: undefined }
const all: Known = { pod: told, namespace: shop }
const waited = ['shop/web-0 u1 5000']

/** What is wanted, what the caches have now and after waiting, what comes of it, and whether it was waited for. */
const cases: readonly (readonly [
  name: string,
  wants: Partial<FactsWanted>,
  now: Known,
  later: Known,
  facts: object | string,
  waits: readonly string[],
])[] = [
  [
    'the annotations of the runtime suffice: nobody waits, and what the caches know is added',
    { runtimeAnnotations: runtime },
    all,
    all,
    { annotations: runtime, annotationsFrom: 'runtime', owner, namespace: shop },
    [],
  ],
  [
    'they suffice when the caches know nothing',
    { runtimeAnnotations: runtime, requireAnnotations: true },
    {},
    all,
    { ...nobody, annotations: runtime, annotationsFrom: 'runtime' },
    [],
  ],
  [
    'the runtime passes on an empty set: that is an answer too',
    { runtimeAnnotations: {}, requireAnnotations: true },
    {},
    all,
    { ...nobody, annotations: {}, annotationsFrom: 'runtime' },
    [],
  ],
  [
    'the runtime passes none on: those of the API, at once when they are there',
    {},
    all,
    {},
    { annotations: { by: 'api' }, annotationsFrom: 'api', owner, namespace: shop },
    [],
  ],
  [
    'or after a while',
    {},
    {},
    all,
    { annotations: { by: 'api' }, annotationsFrom: 'api', owner, namespace: shop },
    waited,
  ],
  ['nobody tells, and nobody needs it', {}, {}, {}, nobody, waited],
  [
    'nobody tells, and it is needed',
    { requireAnnotations: true },
    {},
    {},
    'IPK_FACTS_MISSING the annotations of pod shop/web-0 are not known: the runtime passes none on, and no Kubernetes API has reported them',
    waited,
  ],
  [
    'another pod of that name does not count',
    { requireAnnotations: true },
    { ...all, pod: { ...told, uid: 'u0' } },
    { ...all, pod: { ...told, uid: 'u0' } },
    'IPK_FACTS_MISSING the annotations of pod shop/web-0 are not known: the runtime passes none on, and no Kubernetes API has reported them',
    waited,
  ],
  [
    'its owner is still being looked up',
    {},
    { ...all, pod: { ...told, owner: undefined } },
    all,
    { annotations: { by: 'api' }, annotationsFrom: 'api', owner: undefined, namespace: shop },
    [],
  ],
  [
    'namespace defaults count and the runtime asks for nothing: the namespace is waited for',
    { runtimeAnnotations: runtime, namespaceDefaults: true },
    {},
    all,
    { annotations: runtime, annotationsFrom: 'runtime', owner, namespace: shop },
    waited,
  ],
  [
    'and refused when it stays unknown',
    { runtimeAnnotations: runtime, namespaceDefaults: true },
    {},
    { pod: told },
    'IPK_FACTS_MISSING annotations and labels of namespace shop are not known: the Kubernetes API has not reported them',
    waited,
  ],
  [
    'namespace defaults have no say where the runtime asks for something',
    { runtimeAnnotations: runtime, runtimeAsks: true, namespaceDefaults: true },
    {},
    all,
    { ...nobody, annotations: runtime, annotationsFrom: 'runtime' },
    [],
  ],
  [
    'the rules of a pool want labels of the namespace, whatever the runtime asks',
    { runtimeAnnotations: runtime, runtimeAsks: true, namespaceLabels: true },
    {},
    { namespace: shop },
    { annotations: runtime, annotationsFrom: 'runtime', owner: undefined, namespace: shop },
    waited,
  ],
  [
    'and refused when they stay unknown',
    { runtimeAnnotations: runtime, namespaceLabels: true },
    { pod: told },
    { pod: told },
    'IPK_FACTS_MISSING annotations and labels of namespace shop are not known: the Kubernetes API has not reported them',
    waited,
  ],
  [
    'a container without a pod: nothing is asked',
    { pod: undefined, requireAnnotations: true },
    all,
    all,
    nobody,
    [],
  ],
]
for (const [name, wants, now, later, expected, waits] of cases) {
  t.test(name, async t => {
    const cluster = clusterOf(now, later)
    try {
      t.strictSame(await gatherPodFacts(cluster.view, { ...base, ...wants }), expected)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      t.equal(`${error.code} ${error.message}`, expected)
    }
    t.strictSame(cluster.waits, waits)
  })
}

t.test('without an API the runtime alone tells', async t => {
  const required = { ...base, requireAnnotations: true }
  t.match(await thrownProblem(() => gatherPodFacts(undefined, required)), { code: 'IPK_FACTS_MISSING' })
  t.match(await gatherPodFacts(undefined, { ...required, runtimeAnnotations: runtime }), {
    annotations: runtime,
  })
  t.strictSame(
    await gatherPodFacts(undefined, { ...required, pod: undefined }),
    nobody,
    'a container without a pod has none',
  )
  for (const wants of [{ namespaceLabels: true }, { namespaceDefaults: true }]) {
    t.strictSame(await gatherPodFacts(undefined, { ...base, ...wants }), nobody)
    t.match(await gatherPodFacts(undefined, { ...base, ...wants, runtimeAnnotations: runtime }), {
      annotations: runtime,
      annotationsFrom: 'runtime',
    })
  }
})

t.test('problems say what to do', async t => {
  for (const [wants, hint] of [
    [{ requireAnnotations: true }, /add "io\.kubernetes\.cri\.pod-annotations": true to the "capabilities"/],
    [
      { requireAnnotations: true, annotationsWithheld: true },
      /give the daemon the Kubernetes API.* "ips" of its network selection.*requireAnnotations: false/,
    ],
    [{ runtimeAnnotations: runtime, namespaceLabels: true }, /wait for the API/],
  ] as const) {
    const { view } = clusterOf({})
    await t.rejects(gatherPodFacts(view, { ...base, ...wants }), { code: 'IPK_FACTS_MISSING', hint })
  }
})
