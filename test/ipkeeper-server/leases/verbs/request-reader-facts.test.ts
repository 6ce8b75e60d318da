import t from 'tap'
import type { PodFacts } from '../../../../ipkeeper-server/ipam/records/pod-facts.ts'
import type { PoolBook } from '../../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import type {
  ClusterView,
  NamespaceView,
  PodView,
} from '../../../../ipkeeper-server/kubernetes/cluster-view.ts'
import { parseInvocation, type Invocation } from '../../../../ipkeeper-server/leases/verbs/invocation.ts'
import { RequestReader, type ReaderOptions } from '../../../../ipkeeper-server/leases/verbs/request-reader.ts'
import type { CniRequest } from '../../../../shared/api/cni.schema.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { configured } from '../story.ts'

const facts: ReaderOptions['facts'] = {
  node: 'n1',
  bootId: 'boot-1',
  namespaceAt: () => ({ kind: 'namespace', inode: '4026531840' }),
  reachNetns: () => Promise.resolve(),
  readResolvConf: () => ({}),
  nodeLabels: () => ({ zone: 'a' }),
  sharedWithOtherNodes: () => true,
}
const standard: PoolBook['standard'] = {
  retention: 'release',
  cooldown: 1,
  preferFor: 1,
  strategy: 'lowest-free',
}
const rules = { dialects: new Set<never>(), namespaceDefaults: false, requireAnnotations: false }

const view: PodView = {
  uid: 'u1',
  annotations: { 'ipkeeper.io/ip': '10.22.0.50' },
  labels: {},
  owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 's1' },
}
const shop: NamespaceView = { annotations: {}, labels: { team: 'web' } }

/** A cluster whose caches know the pod; `waitForPod` runs what happens meanwhile. */
function clusterOf(pod: PodView | undefined, meanwhile: () => void = () => undefined): ClusterView {
  return {
    pod: () => pod,
    namespace: () => (pod ? shop : undefined),
    nodeLabels: () => undefined,
    node: () => 'unknown',
    hasOtherNodes: () => false,
    waitForPod: async () => {
      meanwhile()
      return Promise.resolve(false)
    },
    ownerExists: async () => Promise.resolve('unknown'),
    fetchPod: async () => Promise.resolve(undefined),
  }
}

const config = { cniVersion: '1.0.0', name: 'net', type: 'bridge', ipam: { subnet: '10.22.0.0/24' } }
const request = (patch: Partial<CniRequest> = {}): Invocation =>
  parseInvocation({
    ...{ containerId: 'c1', netns: '/run/netns/c1', ifname: 'eth0', path: '/opt/cni/bin' },
    args: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=u1',
    config,
    ...patch,
  })
const annotated = (annotations: Readonly<Record<string, string>>): CniRequest['config'] => ({
  ...config,
  runtimeConfig: { 'io.kubernetes.cri.pod-annotations': annotations },
})

const reader = (options: Partial<ReaderOptions> = {}): RequestReader =>
  new RequestReader({
    cluster: undefined,
    rules: () => rules,
    pools: () => ({ pools: [], standard }),
    facts,
    ...options,
  })

t.test('what the runtime passes on comes first, what the API knows is added', async t => {
  const read = await reader({ cluster: clusterOf(view) }).read(
    request({ config: annotated({ 'ipkeeper.io/ip': '10.22.0.60' }) }),
  )
  t.match(read.pod.addresses, [{ address: { value: 0x0a16003cn } }])
  t.strictSame(read.owner, view.owner)
  t.match(read.place, {
    namespace: 'shop',
    namespaceLabels: { team: 'web' },
    node: 'n1',
    nodeLabels: { zone: 'a' },
    sharedWithOtherNodes: true,
  })
})

t.test('without it the API tells', async t => {
  const read = await reader({ cluster: clusterOf(view) }).read(request())
  t.match(read.pod.addresses, [{ address: { value: 0x0a160032n }, source: 'annotation ipkeeper.io/ip' }])
})

t.test('without an API the name tells: nobody is asked, and the owner is not known', async t => {
  const read = await reader().read(request())
  t.strictSame([read.pod.addresses, read.owner, read.place.namespaceLabels], [[], undefined, undefined])
  t.match(await reader().read(request({ args: '' })), {
    holder: { kind: 'container' },
    place: { namespace: undefined },
  })
})

t.test('what is known otherwise is not asked for', async t => {
  const known: PodFacts = {
    annotations: { 'ipkeeper.io/ip': '10.22.0.70' },
    annotationsFrom: 'manifest',
    owner: null,
    namespace: undefined,
  }
  const cluster = clusterOf(undefined, () => {
    throw new Error('the cluster was asked')
  })
  const read = await reader({ cluster, rules: () => ({ ...rules, requireAnnotations: true }) }).read(
    request(),
    known,
  )
  t.match(read.pod.addresses, [{ address: { value: 0x0a160046n } }])
  t.equal(read.owner, null)
})

t.test('of an allocation of Nomad nobody is asked', async t => {
  const id = '5b0ff3f4-6f0c-4d4f-9b0e-0c5b2b1f6a11'
  const cluster = clusterOf(undefined, () => {
    throw new Error('the cluster was asked')
  })
  const args = `IgnoreUnknown=true;NOMAD_NAMESPACE=default;NOMAD_JOB_ID=web;NOMAD_GROUP_NAME=cache;NOMAD_ALLOC_ID=${id};IP=10.22.0.60`
  const strict = reader({ cluster, rules: () => ({ ...rules, requireAnnotations: true }) })
  t.match(await strict.read(request({ args, containerId: id })), {
    holder: { kind: 'pod', namespace: 'default', name: `web.cache[${id}]` },
    podUid: null,
    owner: undefined,
    place: { namespace: 'default' },
    pod: { addresses: [{ address: { value: 0x0a16003cn }, source: 'CNI_ARGS IP' }] },
  })
})

t.test('refused, before and after the cluster was asked', async t => {
  const strict = reader({
    cluster: clusterOf(undefined),
    rules: () => ({ ...rules, requireAnnotations: true }),
  })
  for (const [patch, code] of [
    [{ containerId: '../c1' }, 'IPK_ENVIRONMENT'],
    [{}, 'IPK_FACTS_MISSING'],
  ] as const) {
    t.equal((await thrownProblem(() => strict.read(request(patch)))).code, code)
  }
  const wrong = request({ config: annotated({ 'ipkeeper.io/ip': 'x' }) })
  t.equal((await thrownProblem(() => reader().read(wrong))).code, 'IPK_ADDRESS_INVALID')
})

t.test('a reload while the cluster is asked: the request is read by one configuration', async t => {
  const before: PoolBook = { pools: [configured('net', [['10.22.0.0/24']])], standard }
  let book = before
  let asked = 0
  const cluster = clusterOf(undefined, () => {
    book = { pools: [], standard }
  })
  const read = reader({
    cluster,
    pools: () => {
      asked++
      return book
    },
  })
  const withoutRanges = request({ config: { ...config, ipam: { type: 'ipkeeper' } } })
  t.equal((await read.read(withoutRanges)).inline, undefined, 'allowed, since there were pools when it came')
  t.equal(asked, 1)
  t.equal(
    (await thrownProblem(() => read.read(withoutRanges))).code,
    'IPK_CONFIG_INVALID',
    'and is not afterwards',
  )
})

t.test(
  'who declares the annotations and is not told them is refused without an API, and nobody else is',
  async t => {
    const key = 'io.kubernetes.cri.pod-annotations'
    const declared = { ...config, capabilities: { [key]: true, ips: true } }
    const ofContainer = { args: 'IgnoreUnknown=1;K8S_POD_NAME=web-0' }
    const rows: readonly (readonly [what: string, patch: Partial<CniRequest>, refused: boolean])[] = [
      ['Multus, of a pod that may have asked', { config: declared }, true],
      [
        'Multus, with something else to pass on',
        { config: { ...declared, runtimeConfig: { mac: '' } } },
        true,
      ],
      [
        'Multus, of a selection with ips',
        { config: { ...declared, runtimeConfig: { ips: ['10.22.0.9'] } } },
        false,
      ],
      ['the same by CNI_ARGS', { config: declared, args: `${request().request.args};IP=10.22.0.9` }, false],
      [
        'containerd, of a pod without annotations',
        { config: { ...declared, runtimeConfig: { [key]: null } } },
        false,
      ],
      ['CRI-O, of one', { config: { ...declared, runtimeConfig: { [key]: {} } } }, false],
      ['a conflist that does not declare them', { config }, false],
      [
        'one that declares that it wants none',
        { config: { ...config, capabilities: { [key]: false } } },
        false,
      ],
      ['a container of podman, which is no pod', { config: declared, ...ofContainer }, false],
    ]
    for (const [what, patch, refused] of rows) {
      const read = (requireAnnotations: boolean | 'declared'): Promise<unknown> =>
        reader({ rules: () => ({ ...rules, requireAnnotations }) }).read(request(patch))
      if (refused)
        t.match(
          await thrownProblem(() => read('declared')),
          { code: 'IPK_FACTS_MISSING', message: /pod shop\/web-0 are not known: .*\(Multus never does\)/ },
          what,
        )
      else t.ok(await read('declared'), what)
      t.ok(await read(false), `${what}, where it was said that nobody asks`)
    }
    const cluster = clusterOf(view)
    const heard = await reader({ cluster, rules: () => ({ ...rules, requireAnnotations: true }) }).read(
      request({ config: declared }),
    )
    t.match(heard.pod.addresses, [{ source: 'annotation ipkeeper.io/ip' }], 'with the API it is read there')
  },
)
