import t from 'tap'
import { formatAddress } from '../../../../shared/net/address.ts'
import { ordinalOf } from '../../../../ipkeeper-server/ipam/records/workload.ts'
import type { Owner } from '../../../../ipkeeper-server/ipam/records/pod-facts.ts'
import type { ClusterView, PodView } from '../../../../ipkeeper-server/kubernetes/cluster-view.ts'
import { parseInvocation, type Invocation } from '../../../../ipkeeper-server/leases/verbs/invocation.ts'
import { RequestReader } from '../../../../ipkeeper-server/leases/verbs/request-reader.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const statefulSet: Owner = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  name: 'web',
  uid: 's1',
  ordinalsStart: 5,
}

/** A cluster that tells `first`, and `later` to whoever waits; "gone" stands for a pod that is deleted meanwhile. */
function clusterOf(
  first: PodView | undefined,
  later: PodView | 'gone' | undefined = first,
): ClusterView & { readonly waits: unknown[] } {
  const waits: unknown[] = []
  return {
    waits,
    pod: () => (waits.length === 0 ? first : later === 'gone' ? undefined : later),
    namespace: () => undefined,
    nodeLabels: () => undefined,
    node: () => 'unknown',
    hasOtherNodes: () => false,
    waitForPod: wanted => {
      waits.push(wanted)
      return Promise.resolve(true)
    },
    ownerExists: () => Promise.resolve('unknown'),
    fetchPod: () => Promise.resolve(undefined),
  }
}

function readerOn(
  cluster: ClusterView | undefined,
  dialects: ReadonlySet<'crd-ipkeeper'> = new Set(),
): RequestReader {
  return new RequestReader({
    cluster,
    rules: () => ({
      dialects,
      namespaceDefaults: false,
      requireAnnotations: cluster !== undefined,
    }),
    pools: () => ({
      pools: [],
      standard: { retention: 'release', cooldown: 60_000, preferFor: 600_000, strategy: 'lowest-free' },
    }),
    facts: {
      node: 'worker-1',
      bootId: 'boot-1',
      namespaceAt: () => ({ kind: 'absent' }),
      reachNetns: () => Promise.resolve(),
      readResolvConf: () => ({}),
      nodeLabels: () => undefined,
      sharedWithOtherNodes: () => false,
    },
  })
}

const list = { 'ipkeeper.io/ips': '10.22.0.50-10.22.0.59' }
const pod = (name: string, passedOn: Record<string, string> | undefined): Invocation =>
  parseInvocation({
    containerId: 'c1',
    netns: '/run/netns/c1',
    ifname: 'eth0',
    args: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name};K8S_POD_UID=u1`,
    path: '',
    config: {
      ...{ cniVersion: '1.0.0', name: 'net', type: 'bridge' },
      ipam: { type: 'ipkeeper', subnet: '10.22.0.0/24' },
      ...(passedOn && { runtimeConfig: { 'io.kubernetes.cri.pod-annotations': passedOn } }),
    },
  })

const view = (annotations: Record<string, string>, owner: PodView['owner']): PodView => ({
  ...{ uid: 'u1', annotations, labels: {} },
  owner,
})

t.test('the ordinal that a list begins at', async t => {
  const pending = view(list, undefined)
  const resolved = view(list, statefulSet)
  const cases: readonly (readonly [
    what: string,
    cluster: ReturnType<typeof clusterOf> | undefined,
    passedOn: Record<string, string> | undefined,
    index: number | undefined,
    waits: number,
  ])[] = [
    ['the controller is known', clusterOf(resolved), undefined, 2, 0],
    ['it is being asked for', clusterOf(pending, resolved), undefined, 2, 1],
    ['it is being asked for, and the runtime told the list', clusterOf(pending, resolved), list, 2, 1],
    ['the API has not told the pod: what the runtime told suffices', clusterOf(undefined), list, 7, 0],
    ['there is no API', undefined, list, 7, 0],
    ['the pod turns out to have none', clusterOf(pending, view(list, null)), undefined, 7, 1],
    ['the pod is gone meanwhile', clusterOf(pending, 'gone'), list, 7, 1],
    ['no list: nothing depends on it', clusterOf(view({}, undefined)), undefined, 7, 0],
  ]
  for (const [what, cluster, passedOn, index, waits] of cases) {
    const add = await readerOn(cluster).read(pod('web-7', passedOn))
    t.equal(ordinalOf(add.holder, add.owner)?.index, index, what)
    t.equal(cluster?.waits.length ?? 0, waits, `${what}: waits`)
  }
  const generated = clusterOf(view(list, undefined))
  await readerOn(generated).read(pod('web-6d4cf56db6-x2x5z', undefined))
  t.strictSame(generated.waits, [], 'a name that has no ordinal does not wait')
})

t.test('a controller that stays unknown is waited for by the runtime, not guessed', async t => {
  const cluster = clusterOf(view(list, undefined))
  const problem = await thrownProblem(() => readerOn(cluster).read(pod('web-7', list)))
  t.match(problem.toDocument(), {
    code: 'IPK_FACTS_MISSING',
    retryable: true,
    message: /^the controller of pod shop\/web-7 is not known/,
  })
  t.match(cluster.waits, [{ name: 'web-7', uid: 'u1', withOwner: true }])
})

t.test('the list itself is what was asked for', async t => {
  const add = await readerOn(clusterOf(view(list, statefulSet))).read(pod('web-7', undefined))
  const [candidates] = add.pod.candidates
  t.equal(candidates && formatAddress({ family: 4, value: candidates.runs[0]!.first }), '10.22.0.50')
})

t.test("annotations of the controller, where the forerunner's dialect is on", async t => {
  const owner: Owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd1' }
  const key = 'ipkeeper.generals.space/ip_pool'
  const pending = view({}, undefined)
  const resolved = view({ [key]: '10.22.0.50/24', 'cni.projectcalico.org/ipAddrs': '[]' }, owner)
  const dialect = new Set(['crd-ipkeeper'] as const)
  const cases: readonly (readonly [
    what: string,
    cluster: ReturnType<typeof clusterOf> | undefined,
    passedOn: Record<string, string> | undefined,
    asked: string | undefined,
    waits: number,
  ])[] = [
    ['it is being asked for', clusterOf(pending, resolved), undefined, key, 1],
    ['it is being asked for, and the runtime told the rest', clusterOf(pending, resolved), {}, key, 1],
    ['it is known, and the runtime told the rest', clusterOf(resolved), {}, key, 0],
    ['the pod has none', clusterOf(view({}, null)), {}, undefined, 0],
    ['the pod asks by itself', clusterOf(undefined), list, 'ipkeeper.io/ips', 0],
    ['there is no API', undefined, {}, undefined, 0],
  ]
  for (const [what, cluster, passedOn, asked, waits] of cases) {
    const add = await readerOn(cluster, dialect).read(pod('web-6d4cf56db6-x2x5z', passedOn))
    t.equal(add.pod.candidates[0]?.source, asked && `annotation ${asked}`, what)
    t.equal(cluster?.waits.length ?? 0, waits, `${what}: waits`)
  }
  for (const passedOn of [undefined, {}]) {
    const problem = await thrownProblem(() =>
      readerOn(clusterOf(pending), dialect).read(pod('web-6d4cf56db6-x2x5z', passedOn)),
    )
    t.match(problem.toDocument(), {
      code: 'IPK_FACTS_MISSING',
      message: /^the controller of pod shop\/web-6/,
    })
  }
  const off = await readerOn(clusterOf(resolved)).read(pod('web-6d4cf56db6-x2x5z', {}))
  t.strictSame(off.pod.candidates, [], 'without the dialect')
})
