/** Daemons that share their leases in the Kubernetes API. */
import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import {
  createNamespace,
  createNode,
  createPod,
  startClusterNode,
  type Answer,
  type ClusterNode,
} from '../rigs/cluster-node.ts'
import { startCluster, type Cluster } from '../rigs/cluster.ts'
import { installCustomResources } from '../rigs/custom-resources.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('cluster', 'executables')

const root = '/apis/ipkeeper.io/v1alpha1'

/** A request as the server's audit log tells it. */
interface Audited {
  readonly verb: string
  readonly objectRef?: { readonly resource: string; readonly subresource?: string }
  readonly user: { readonly username: string }
}

interface AuditedCluster {
  readonly cluster: Cluster
  /**
   * "create ipleases", for each request of ipkeeper to its own resources so far. Not the pool's status,
   * "patch ippools/status": the elected daemon writes it when it likes, and no ADD waits for it.
   */
  readonly requests: () => readonly string[]
}

async function startAudited(t: Test): Promise<AuditedCluster> {
  const folder = tempFolder(t)
  const [policy, log] = [folder.file('policy.yaml'), folder.file('audit.log')]
  writeFileSync(
    policy,
    stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived', 'ResponseStarted'],
      rules: [{ level: 'Metadata', resources: [{ group: 'ipkeeper.io' }] }, { level: 'None' }],
    }),
  )
  const cluster = await startCluster(t, {
    flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-mode=blocking'],
  })
  await installCustomResources(cluster)
  await createNamespace(cluster, 'shop')
  return {
    cluster,
    requests: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line) as Audited)
        .filter(({ user }) => user.username === 'system:serviceaccount:kube-system:ipkeeper')
        .filter(({ objectRef }) => objectRef?.subresource !== 'status')
        .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource ?? ''}`),
  }
}

const ipam = { ranges: [[{ subnet: '10.22.0.0/24' }], [{ subnet: 'fd00:22::/64' }]] }

async function startNode(t: Test, cluster: Cluster, name: string): Promise<ClusterNode> {
  await createNode(cluster, name)
  return await startClusterNode(t, cluster, { name, args: ['--store', 'kubernetes:'], ipam })
}

const ipsOf = (answer: Answer): readonly string[] => ('ips' in answer ? answer.ips : [])

t.test('two nodes', { skip }, async t => {
  const { cluster, requests } = await startAudited(t)
  const one = await startNode(t, cluster, 'worker-1')
  const two = await startNode(t, cluster, 'worker-2')

  const nodes = { 'worker-1': one, 'worker-2': two } as const
  const places = ['worker-1', 'worker-2', 'worker-1', 'worker-2'] as const
  const pods = await Promise.all(
    places.map((node, index) => createPod(cluster, `web-${index}`, {}, { node })),
  )
  const answers = await Promise.all(pods.map((pod, index) => nodes[places[index]!].add(pod)))
  const given = answers.flatMap(ipsOf)
  t.equal(new Set(given).size, 8, 'two addresses each, none of them twice')

  await t.test('one request for the holder, and one for each family', async t => {
    const before = requests().length
    const answer = await one.add(await createPod(cluster, 'counted'))
    t.equal(ipsOf(answer).length, 2)
    t.strictSame(requests().slice(before).sort(), ['create ipholders', 'create ipleases', 'create ipleases'])
  })

  await t.test('each node claims its name, and tells of its addresses, once', async t => {
    const { items } = await cluster.until(`${root}/ipnodes`, ({ items }) => items.length === 2)
    t.strictSame(
      (items as { spec: { name: string } }[]).map(({ spec }) => spec.name),
      ['worker-1', 'worker-2'],
    )
    const writes = (): readonly string[] =>
      requests().filter(request => /^(create|patch|delete) ipnodes$/.test(request))
    await until('both have told of their addresses', () => writes().length >= 4)
    t.strictSame([...writes()].sort(), ['create ipnodes', 'create ipnodes', 'patch ipnodes', 'patch ipnodes'])
  })

  await t.test('an address that a pod of the other node has', async t => {
    const taken = String(given[0]).split('/')[0]
    const annotations = { 'ipkeeper.io/ip': String(taken) }
    const pod = await createPod(cluster, 'wants', annotations, { node: 'worker-2' })
    t.match(await two.add(pod), { code: 101, msg: new RegExp(`${taken}.* shop/web-0`) })
  })

  await t.test('a pod that is deleted gives its addresses back', async t => {
    const pod = pods[0]!
    const answer = answers[0]!
    await one.del(pod, answer.container)
    const { items } = await cluster.request('GET', `${root}/ipleases`)
    const bound = (items as { spec: { state: string; address: string } }[]).filter(
      ({ spec }) => spec.state === 'bound',
    )
    for (const ip of ipsOf(answer)) t.notOk(bound.some(({ spec }) => ip.startsWith(`${spec.address}/`)))
  })
})
