import fc from 'fast-check'
import t from 'tap'
import { explainAdd } from '../../../../ipkeeper-server/leases/queries/explain.ts'
import { parseInvocation, type NodeFacts } from '../../../../ipkeeper-server/leases/verbs/invocation.ts'
import type { RequestRules } from '../../../../ipkeeper-server/leases/verbs/request-reader.ts'
import { addAttachment } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import type { ClusterView, PodView } from '../../../../ipkeeper-server/kubernetes/cluster-view.ts'
import type { PoolSettings } from '../../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import type { ExplainReply, ExplainRequest } from '../../../../shared/api/explain.schema.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { readingParts } from '../../http/app-parts.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { poolFrom, TestService } from '../test-service.ts'

const capability = { 'io.kubernetes.cri.pod-annotations': true }
/** The network that the stories of a TestService are on. */
const network = {
  cniVersion: '1.0.0',
  name: 'net',
  type: 'bridge',
  capabilities: capability,
  ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]], routes: [{ dst: '0.0.0.0/0' }] },
}
const byPools = { ...network, name: 'pools', ipam: { type: 'ipkeeper' } }
const webOwner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' }

/** A cluster of which a test says what it knows. */
function clusterOf(words: {
  readonly pods?: Readonly<Record<string, PodView>>
  readonly fetch?: (name: string) => Promise<PodView | undefined>
}): ClusterView {
  return {
    pod: ({ namespace, name }) => words.pods?.[`${namespace}/${name}`],
    namespace: () => ({ annotations: {}, labels: {} }),
    nodeLabels: () => undefined,
    node: () => 'unknown',
    hasOtherNodes: () => false,
    waitForPod: () => Promise.resolve(false),
    fetchPod: (_, name) => words.fetch?.(name) ?? Promise.resolve(undefined),
    ownerExists: () => Promise.resolve('unknown'),
  }
}

interface Site {
  readonly story: TestService
  readonly ask: (patch?: Partial<ExplainRequest>) => Promise<ExplainReply>
  /** Its steps as ipkeeperctl shows them. */
  readonly steps: (patch?: Partial<ExplainRequest>) => Promise<readonly string[]>
}

async function openExplain(
  cluster?: ClusterView,
  rules: Partial<RequestRules> = {},
  facts: Partial<NodeFacts> = {},
): Promise<Site> {
  const story = await TestService.open()
  const { requests } = readingParts(story.service, facts, rules, cluster)
  const ask: Site['ask'] = patch =>
    explainAdd(story.service, requests, cluster, {
      config: network,
      namespace: 'shop',
      name: 'web-0',
      ...patch,
    })
  const marks = { chosen: '+', dropped: '-', noted: ' ' }
  return {
    story,
    ask,
    steps: async patch =>
      (await ask(patch)).steps.map(
        ({ about, subject, verdict, text, code }) =>
          `${marks[verdict]} ${about} ${subject}: ${text}${code === undefined ? '' : ` [${code}]`}`,
      ),
  }
}

const manifest = (annotations: Readonly<Record<string, string>>, more: object = {}) => ({
  manifest: { annotations, ...more },
})
const later = 'a changed annotation takes effect when the pod is started again'
const byDefault =
  "release, by the daemon's default: after DEL it cools down for 1m, and until then only a pod that asks for it by name gets it"

t.test(
  'a pod that asks for nothing: what lies below the lowest free address, and the whole answer',
  async t => {
    const { story, ask, steps } = await openExplain()
    await story.add({ pod: 'a', container: 'c1' })
    await reserve(story.service, { address: '10.22.0.3', owner: 'shop/b', note: '', segment: 'default' })
    t.strictSame(await steps(manifest({})), [
      "  workload StatefulSet shop/web: as the pod's name says",
      '+ pool net: named by the ranges of the network',
      '- address 10.22.0.2: held by shop/a on node n1',
      '- address 10.22.0.3: reserved for shop/b',
      '+ address 10.22.0.4: lowest free address',
      `  retention 10.22.0.4: ${byDefault}`,
    ])
    t.match(await ask(manifest({})), {
      pod: { namespace: 'shop', name: 'web-0', uid: null },
      network: 'net',
      ifname: 'eth0',
      annotationsFrom: 'manifest',
      addresses: ['10.22.0.4/24'],
      result: {
        cniVersion: '1.0.0',
        ips: [{ address: '10.22.0.4/24', gateway: '10.22.0.1' }],
        routes: [{ dst: '0.0.0.0/0' }],
      },
      delegatedTo: null,
      error: null,
    })
  },
)

t.test('more than ten addresses are counted', async t => {
  const { story, steps } = await openExplain()
  for (let pod = 0; pod < 14; pod++) await story.add({ pod: `p${pod}`, container: `c${pod}` })
  const lines = await steps(manifest({}))
  t.equal(lines.filter(line => line.startsWith('- address 10.')).length, 10)
  t.ok(lines.includes('- address and 4 more: passed over likewise'))
})

t.test('a request by name is given without counting, or refused with who has it', async t => {
  const { story, ask, steps } = await openExplain()
  const asks = manifest({ 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/retain': '30m' })
  t.strictSame(await steps(asks), [
    '  request 10.22.0.50: asked for by annotation ipkeeper.io/ip',
    '  request 30m: retention asked for by annotation ipkeeper.io/retain',
    "  workload StatefulSet shop/web: as the pod's name says",
    '+ pool net: named by the ranges of the network',
    '+ address 10.22.0.50: annotation ipkeeper.io/ip',
    '  retention 10.22.0.50: 30m, by annotation ipkeeper.io/retain: after DEL it is kept for shop/web-0 for 30m',
  ])
  await story.add({ pod: 'db-0', container: 'c1', ip: '10.22.0.50' })
  t.match(await ask(asks), {
    addresses: [],
    result: null,
    error: { code: 'IPK_ADDRESS_HELD', message: /held by shop\/db-0 on node n1/ },
  })
})

t.test('a pod with an attachment: what an ADD beside it would be', async t => {
  const { story, ask, steps } = await openExplain()
  await story.add({ pod: 'web-0', container: 'c0ffee'.repeat(9), uid: 'u1' })
  const has = 'sandbox c0ffeec0ffeec: has 10.22.0.2/24 on node n1 since 2026-01-01T00:00:00Z'
  t.ok((await steps()).includes(`  ${has}; ${later}; an ADD now would be a new sandbox of the same pod`))
  t.match(await ask(), { pod: { uid: 'u1' }, addresses: ['10.22.0.2/24'] }, 'it takes the address over')
  story.dead.add('c0ffee'.repeat(9))
  t.ok((await steps()).some(line => line.startsWith(`  ${has}, and is proved dead; `)))

  const nameless = await openExplain()
  await nameless.story.add({ pod: 'web-0', container: 'c1', uid: null })
  t.match(await nameless.steps(), [
    /request annotations/,
    /an ADD now would be that of another pod of the same name, since its UID is not known$/,
  ])

  const { ask: other } = await openExplain(clusterOf({ pods: { 'shop/web-0': viewOf({}, 'u2') } }))
  t.match(await other(), { pod: { uid: 'u2' }, annotationsFrom: 'api' })
})

t.test('another UID in the API than that of the sandbox', async t => {
  const { story, ask, steps } = await openExplain(
    clusterOf({ pods: { 'shop/web-0': viewOf({ 'ipkeeper.io/ip': '10.22.0.9' }, 'u2') } }),
  )
  await story.add({ pod: 'web-0', container: 'c1', uid: 'u1', ip: '10.22.0.9' })
  t.match(await steps(), [/an ADD now would be that of another pod of the same name$/])
  t.match(await ask(), { error: { code: 'IPK_HOLDER_LIVE' } })
})

t.test('an older sandbox without DEL, once the newer one has had its own', async t => {
  const { story, ask, steps } = await openExplain()
  await story.add({ pod: 'web-0', container: 'c1', uid: 'u1', ip: '10.22.0.9' })
  await story.add({ pod: 'web-0', container: 'c2', uid: 'u1', ip: '10.22.0.8' })
  await story.del('c2')
  t.match(await ask(), { pod: { uid: 'u1' } })
  t.match((await steps())[1], / {2}sandbox c1: has .*; an ADD now would be a new sandbox of the same pod$/)
})

t.test('left to the fallback, now and before', async t => {
  const { story, ask, steps } = await openExplain()
  const config = { ...network, ipam: { ...network.ipam, fallback: { type: 'dhcp' } } }
  await story.add({ pod: 'web-0', container: 'c1', uid: 'u1', fallback: 'dhcp' })
  t.match(await ask({ config }), { delegatedTo: 'dhcp', addresses: [], result: null, error: null })
  t.match(await steps({ config }), [/annotations/, /has no address by dhcp on node n1/])
})

function viewOf(annotations: PodView['annotations'], uid = 'u1', owner: PodView['owner'] = null): PodView {
  return { uid, annotations, labels: {}, owner }
}

t.test('what an ADD cannot see', async t => {
  const blind = { ...network, capabilities: {} }
  const asks = manifest(
    { 'ipkeeper.io/ips': '10.22.0.50-10.22.0.52' },
    { owner: { ...webOwner, ordinalsStart: 5 } },
  )
  const bare = await openExplain()
  t.match(await bare.ask({ ...asks, config: blind }), {
    annotationsFrom: 'nobody',
    addresses: ['10.22.0.2/24'],
    steps: [{ about: 'request', subject: 'annotations', verdict: 'dropped', text: /"capabilities"/ }],
  })
  t.match(await bare.ask(asks), { annotationsFrom: 'manifest', addresses: ['10.22.0.50/24'] })
  const five = await bare.ask({ ...asks, name: 'web-5' })
  t.match(five, { error: { code: 'IPK_ORDINAL_BEYOND_LIST' } }, 'without the API ordinals count from 0')
  t.match(five.steps[0], { subject: 'spec.ordinals.start 5', verdict: 'dropped' })

  const known = await openExplain(clusterOf({}))
  t.match(await known.ask({ ...asks, name: 'web-5', config: blind }), {
    annotationsFrom: 'manifest',
    addresses: ['10.22.0.50/24'],
  })

  const strict = await openExplain(undefined, { requireAnnotations: true })
  t.match(await strict.ask({ config: blind }), { error: { code: 'IPK_FACTS_MISSING' } })
  t.match(await strict.ask(), {
    annotationsFrom: 'nobody',
    error: null,
    steps: [{ subject: 'annotations', text: /pass them with --manifest$/ }],
  })
})

t.test('a pod that only the API knows', async t => {
  const { ask, steps } = await openExplain(
    clusterOf({
      fetch: name => {
        if (name === 'away') return Promise.reject(new Error('GET /api/v1: ECONNREFUSED'))
        return Promise.resolve(name === 'web-0' ? viewOf({ 'ipkeeper.io/ip': '10.22.0.9' }) : undefined)
      },
    }),
    { requireAnnotations: true },
  )
  t.match(await ask(), { pod: { uid: 'u1' }, annotationsFrom: 'api', addresses: ['10.22.0.9/24'] })
  t.equal(
    (await steps())[0],
    '  request shop/web-0: it is not among the pods of this node: this is what an ADD here would get',
  )
  t.match(await thrownProblem(() => ask({ name: 'nobody' })), {
    code: 'IPK_POD_UNKNOWN',
    message: 'the Kubernetes API has no pod shop/nobody',
  })
  t.match(await thrownProblem(() => ask({ name: 'away' })), {
    code: 'IPK_FACTS_MISSING',
    message: /cannot be looked up: GET \/api\/v1: ECONNREFUSED$/,
  })
})

t.test('pools: which rule dropped each, and how full those are that had no room', async t => {
  const { story, ask, steps } = await openExplain()
  const settings = (name: string, subnet: string, rules: PoolSettings['rules'] = {}): PoolSettings => ({
    pool: poolFrom(name, [subnet]),
    rules,
    policy: story.book.standard,
    network: { dns: { nameservers: ['10.0.0.53'] }, routes: [{ dst: '10.9.0.0/16' }] },
  })
  story.book = {
    ...story.book,
    pools: [
      settings('team', '10.1.0.0/24', { namespaces: ['team-*'] }),
      settings('far', '10.2.0.0/24', { nodes: ['n2'] }),
      settings('small', '10.3.0.0/30'),
      settings('few', '10.4.0.0/24', { quotaPerNamespace: 2 }),
      settings('rest', '10.5.0.0/24'),
    ],
  }
  const pools = { network: 'pools', configured: [] }
  await story.add({ pod: 'a', container: 'c1', ...pools })
  await story.add({ pod: 'b', container: 'c2', ...pools })
  await story.add({ pod: 'c', container: 'c3', ...pools })
  t.strictSame(await steps({ config: byPools, ...manifest({}) }), [
    "  workload StatefulSet shop/web: as the pod's name says",
    '- pool team: pool team: namespace shop may not use it; its namespaces are team-* [IPK_NAMESPACE_REFUSED]',
    '- pool far: pool far: it is not for node n1; its nodes are n2 [IPK_NODE_REFUSED]',
    '  pool small: its rules allow this pod',
    '  pool few: its rules allow this pod',
    '  pool rest: its rules allow this pod',
    '- pool small: failed to allocate for range 0: no IP addresses available in range set: 10.3.0.1-10.3.0.2; pool small has 1 IPv4 address: 1 in use, 0 kept or reserved, 0 free [IPK_POOL_FULL]',
    '  address 10.4.0.4: lowest free address, but not given',
    '- pool few: namespace shop may have 2 IPv4 addresses of pool few, and has 2; pool few has 253 IPv4 addresses: 2 in use, 0 kept or reserved, 251 free [IPK_QUOTA]',
    '+ address 10.5.0.2: lowest free address',
    `  retention 10.5.0.2: ${byDefault}`,
  ])
  t.match(await ask({ config: byPools, ...manifest({}) }), {
    result: { routes: [{ dst: '10.9.0.0/16' }], dns: { nameservers: ['10.0.0.53'] } },
  })
})

t.test('a workload with more pods at once than addresses', async t => {
  const { steps } = await openExplain()
  const asks = manifest(
    { 'ipkeeper.io/ip': '10.22.0.50' },
    { owner: { ...webOwner, kind: 'Deployment' }, podsAtOnce: { replicas: 1, surge: 1 } },
  )
  t.match(
    (await steps({ ...asks, name: 'web-6d4cf56db6-x2x5z' }))[1],
    /^ {2}workload Deployment shop\/web: annotation ipkeeper\.io\/ip names 1 usable address for up to 2 pods/,
  )
})

t.test('an allocation of Nomad, of which no API is asked', async t => {
  const cluster = clusterOf({ fetch: () => Promise.reject(new Error('the cluster was asked')) })
  const { story, steps } = await openExplain(cluster, { requireAnnotations: false })
  const id = '5b0ff3f4-6f0c-4d4f-9b0e-0c5b2b1f6a11'
  const before = { namespace: 'Shop', pod: `web.cache[${id}]`, container: id, uid: null, retain: '30m' }
  await story.add(before)
  await story.del(id)
  t.match(await steps({ namespace: 'Shop', name: `web.cache[${id.replace('5', '6')}]` }), [
    /^ {2}request CNI_ARGS: what the "args" of the Nomad job ask for is not known before an ADD$/,
    /^ {2}workload NomadGroup Shop\/web\.cache: as the pod's name says$/,
    ...[/./, /./].slice(1),
    /kept for NomadGroup Shop\/web\.cache since Shop\/web\.cache\[5b0ff3f4-.*\] is gone$/,
  ])
})

t.test('questions that make no sense', async t => {
  const { ask } = await openExplain()
  for (const patch of [
    { namespace: 'Shop' },
    { namespace: '../x' },
    { namespace: 'a;IP=10.22.0.9' },
    { name: 'web_0' },
    { name: 'a/b' },
    { name: '-a' },
    { name: 'web.cache[x]' },
    { namespace: 'a/b', name: 'web.cache[0]' },
  ])
    t.equal((await thrownProblem(() => ask(patch))).code, 'IPK_REQUEST_INVALID', JSON.stringify(patch))
  t.equal((await thrownProblem(() => ask({ ifname: 'a/b' }))).code, 'IPK_ENVIRONMENT')
  t.equal((await thrownProblem(() => ask({ config: {} }))).code, 'IPK_NETWORK_NAME')
  // What an ADD would refuse, is its answer.
  t.match(await ask({ config: { ...network, ipam: { type: 'ipkeeper', ranges: [] } } }), {
    error: { code: 'IPK_CONFIG_INVALID' },
    steps: [],
  })
  t.match(await ask({ config: { ...network, type: 'ipkeeper', mode: 'vlan' } }), {
    error: { code: 'IPK_CONFIG_INVALID' },
  })
  t.match(await ask(manifest({ 'ipkeeper.io/ipp': '1' })), {
    error: { code: 'IPK_ANNOTATION_INVALID', message: /did you mean ipkeeper\.io\/ip\?/ },
  })
})

/** One thing that happens to the ledger, and then a question. */
const happening = fc.record({
  kind: fc.constantFrom('add', 'add', 'add', 'del', 'dies', 'reserve', 'wait'),
  pod: fc.constantFrom('web-0', 'web-1', 'web-2', 'api-6d4cf56db6-x2x5z', 'api-6d4cf56db6-b4b5c'),
  uid: fc.nat(1),
  wish: fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    {},
    { 'ipkeeper.io/ip': '10.22.0.3' },
    { 'ipkeeper.io/ips': '10.22.0.4-10.22.0.5' },
    { 'ipkeeper.io/retain': '5m' },
    { 'ipkeeper.io/ips': '10.22.0.2-10.22.0.3', 'ipkeeper.io/retain': 'forever' },
    { 'ipkeeper.io/ip': '192.0.2.1' },
  ),
  pick: fc.nat(20),
  fallback: fc.nat(5).map(value => value === 0),
})

t.test('on any ledger, an explanation is what the ADD that follows says, and changes nothing', async t => {
  let given = 0
  let refused = 0
  const follow = async (history: readonly (typeof happening extends fc.Arbitrary<infer T> ? T : never)[]) => {
    const { story, ask } = await openExplain()
    story.pool = poolFrom('net', ['10.22.0.0/29'])
    const { requests } = readingParts(story.service)
    const live: string[] = []
    const snapshot = async () => {
      const records: unknown[] = []
      await story.store.load(record => records.push(record))
      return JSON.stringify([records, story.leases()])
    }
    for (const { kind, pod, uid, wish, pick, fallback } of history) {
      const container = live[pick % Math.max(live.length, 1)]
      if (kind === 'wait') story.now += 61_000
      else if (kind === 'dies' && container !== undefined) story.dead.add(container)
      else if (kind === 'del' && container !== undefined) await story.del(container)
      else if (kind === 'reserve') {
        const owner = `shop/${pod}`
        const address = `10.22.0.${2 + (pick % 5)}`
        await reserve(story.service, { address, owner, note: '', segment: 'default' }).catch(() => undefined)
      }
      if (kind !== 'add') continue
      const ipam = {
        ...{ type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/29' }]] },
        ...(fallback && { fallback: { type: 'dhcp' } }),
      }
      const config = { ...network, ipam }
      const before = await snapshot()
      const said = await ask({ config, name: pod, ...manifest(wish) })
      if ((await snapshot()) !== before) throw new Error('the explanation changed something')
      const podUid = said.pod.uid ?? `${pod}-${uid}`
      const call = {
        containerId: `c${live.length}`,
        netns: '',
        ifname: 'eth0',
        path: '',
        args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};K8S_POD_UID=${podUid}`,
        config: { ...config, runtimeConfig: { 'io.kubernetes.cri.pod-annotations': wish } },
      }
      live.push(call.containerId)
      const came = await requests
        .read(parseInvocation(call))
        .then(add => addAttachment(story.service, add, { gone: () => false }))
        .then(
          ({ answer }) =>
            answer.kind === 'delegate' ? answer.type : answer.result.ips.map(({ address }) => address).join(),
          (error: unknown) => {
            if (error instanceof Problem) return `${error.code} ${error.message} ${error.details}`
            throw error
          },
        )
      const { error, delegatedTo, addresses } = said
      const meant = error
        ? `${error.code} ${error.message} ${error.details}`
        : (delegatedTo ?? addresses.join())
      if (meant !== came) throw new Error(`explained ${meant}, came ${came}`)
      if (error) refused++
      else given++
    }
  }
  await t.resolves(
    fc.assert(fc.asyncProperty(fc.array(happening, { minLength: 8, maxLength: 25 }), follow), {
      numRuns: 300,
    }),
  )
  t.ok(given > 500 && refused > 200, `${given} given, ${refused} refused`)
})

t.test(
  "other projects' annotations that are not switched on are named, with how to switch them on",
  async t => {
    const calico = {
      'cni.projectcalico.org/ipAddrs': '["10.22.0.77"]',
      'cni.projectcalico.org/ipv4pools': '["x"]',
    }
    const off = await openExplain()
    t.match(await off.steps(manifest(calico)), [
      `- request annotation cni.projectcalico.org/ipAddrs: not read: add calico to "annotations" in the daemon's file to have it obeyed`,
    ])
    t.strictSame((await off.ask(manifest(calico))).addresses, ['10.22.0.2/24'], 'a dynamic address')
    const on = await openExplain(undefined, { dialects: new Set(['calico']) })
    t.strictSame((await on.ask(manifest(calico))).addresses, ['10.22.0.77/24'])
    t.notMatch((await on.steps(manifest(calico))).join('\n'), /not read/)
  },
)
