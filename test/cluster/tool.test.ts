/** What `ipkeeperctl` says of a cluster: its status, and explanations that are what the ADD that follows gets. */
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { logs } from '../rigs/logs.ts'
import { stringify } from 'yaml'
import {
  createNamespace,
  createNode,
  createPod,
  podManifest,
  startClusterNode,
  type Answer,
} from '../rigs/cluster-node.ts'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { startCluster } from '../rigs/cluster.ts'
import { missing } from '../rigs/requirements.ts'
import { hangMs } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'

const skip = missing('cluster', 'executables')

t.test('ipkeeperctl status', { skip }, async t => {
  const cluster = await startPreparedCluster(t)
  const node = await startClusterNode(t, cluster)
  await createPod(cluster, 'web-0')
  await createPod(cluster, 'elsewhere', {}, { node: 'worker-2' })
  await node.untilStatus(({ counts }) => counts.pods === 1)
  const { exit, stdout } = await node.daemon.control('status')
  t.equal(exit, 0)
  t.match(
    stdout,
    new RegExp(`^api +${cluster.url}/? \\(kubeconfig .*\\), connected; 1 pods? of this node$`, 'm'),
  )
  t.notMatch(stdout, /may not|no Node of this name/)

  await t.test('leases and attachments by labels of pods', async t => {
    const { metadata, ...labelled } = podManifest('web-1')
    const labels = { app: 'web', tier: 'front' }
    const made = await cluster.create({ ...labelled, metadata: { ...(metadata as object), labels } })
    await node.untilStatus(({ counts }) => counts.pods === 2)
    await node.add({ name: 'web-0', uid: '' })
    const added = await node.add({ name: 'web-1', uid: (made as { metadata: { uid: string } }).metadata.uid })
    t.match(added, { ips: ['10.22.0.3/24'] })
    for (const [words, printed] of [
      [['leases', '-l', 'app=web'], '10.22.0.3\n'],
      [['leases', '--selector', 'tier in (front),!canary', '-n', 'shop'], '10.22.0.3\n'],
      [['leases', '-l', '!app'], '10.22.0.2\n'],
      [['leases', '-l', 'app!=web'], '10.22.0.2\n'],
      [['attachments', '-l', 'app=web'], `${added.container}\n`],
    ] as const)
      t.match(
        await node.daemon.control(...words, '-o', 'name'),
        { exit: 0, stdout: printed },
        words.join(' '),
      )
    t.match(await node.daemon.control('leases', '-l', 'app>3'), {
      ...{ exit: 1, stderr: /selector "app>3": cannot read "app>3" \[IPK_REQUEST_INVALID\]/ },
    })
  })

  await t.test('names the rights that are missing', async t => {
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/ipkeeper'
    const rules = (await cluster.request('GET', role))['rules'] as { resources: string[] }[]
    await cluster.request('PATCH', role, { rules: rules.filter(rule => !rule.resources.includes('nodes')) })
    t.teardown(() => cluster.request('PATCH', role, { rules }))
    const poor = await startClusterNode(t, cluster, { unwatched: true })
    await poor.untilStatus(({ missingRights }) => missingRights !== null)
    const { stdout } = await poor.daemon.control('status')
    t.match(stdout, /not connected/)
    t.match(stdout, /nodes: .*403 Forbidden.*cannot list resource "nodes"/)
    t.match(stdout, /may not list nodes: labels of this node/)
    t.match(stdout, /may not watch nodes/)
    t.match(stdout, /resources: \[nodes\]\n\s*verbs: \[list, watch\]/)
  })

  await t.test('tells a node name that the cluster does not have', async t => {
    const lost = await startClusterNode(t, cluster, { name: 'worker-l' })
    const { stdout } = await lost.daemon.control('status')
    t.match(stdout, /the cluster has no Node of this name; is it worker-1\?/)
    await logs(
      t,
      lost.daemon,
      /the cluster has no Node of this name.*correct \\"node\\" in the configuration/,
    )
    await createNode(cluster, 'worker-l')
    await lost.untilStatus(({ nodeMissing }) => nodeMissing === null)
    await cluster.request('DELETE', '/api/v1/nodes/worker-l')
  })
})

t.test('ipkeeperctl explain', { skip }, async t => {
  const cluster = await startCluster(t)
  await createNamespace(cluster, 'shop', { labels: { tier: 'apps' } })
  await createNode(cluster, 'worker-1')
  const node = await startClusterNode(t, cluster, {
    config: {
      pools: [
        { name: 'apps', subnet: '10.30.0.0/24', namespaceSelector: { matchLabels: { tier: 'apps' } } },
        { name: 'bank', subnet: '10.31.0.0/24', namespaceSelector: { matchLabels: { tier: 'bank' } } },
      ],
    },
  })
  /** What both say, without request IDs: addresses, or code and text. */
  const explained = ({ addresses, error }: ApiObject): unknown =>
    error === null ? addresses : [error.cniCode, error.message]
  const answered = (answer: Answer): unknown => ('ips' in answer ? answer.ips : [answer.code, answer.msg])

  await t.test('says what the ADD that follows gets', async t => {
    const pods: readonly (readonly [name: string, annotations: Record<string, string>, words: RegExp])[] = [
      ['free', {}, /lowest free address/],
      ['named', { 'ipkeeper.io/ip': '10.22.0.50' }, /annotation ipkeeper\.io\/ip/],
      ['taken', { 'ipkeeper.io/ip': '10.22.0.50' }, /asked for by annotation ipkeeper\.io\/ip/],
      ['listed', { 'ipkeeper.io/ips': '10.22.0.50-10.22.0.53' }, /first free of 4 candidates/],
      ['pooled', { 'ipkeeper.io/pool': 'apps' }, /named by annotation ipkeeper\.io\/pool/],
      ['refused', { 'ipkeeper.io/pool': 'bank' }, /its namespaces are those with labels tier=bank/],
      ['unknown', { 'ipkeeper.io/pool': 'app' }, /$/],
      ['typo', { 'ipkeeper.io/ipss': '10.22.0.9' }, /$/],
      ['web-1', { 'ipkeeper.io/ips': '10.22.0.60-10.22.0.61' }, /candidate 1 of 2 for ordinal 1/],
      ['web-2', { 'ipkeeper.io/ips': '10.22.0.60-10.22.0.61' }, /candidates of annotation/],
    ]
    const outcomes: unknown[] = []
    for (const [name, annotations, words] of pods) {
      const pod = await createPod(cluster, name, annotations)
      const before = await node.daemon.leases()
      const [reply] = await node.explain(`shop/${name}`)
      t.strictSame(await node.daemon.leases(), before, `${name}: changes nothing`)
      t.match(reply, { pod: { name, uid: pod.uid }, annotationsFrom: 'api' })
      t.match((reply?.['steps'] as ApiObject[]).map(({ text }) => String(text)).join('\n'), words, name)
      const outcome = explained(reply!)
      t.strictSame(answered(await node.add(pod)), outcome, `${name}: ${JSON.stringify(outcome)}`)
      outcomes.push(Array.isArray(outcome) ? outcome[0] : outcome)
    }
    t.strictSame(outcomes, [
      ...['10.22.0.2/24', '10.22.0.50/24', 101, '10.22.0.51/24', '10.30.0.2/24', 131, 132, 107],
      ...['10.22.0.61/24', 134],
    ])
  })

  await t.test('a manifest, before its pods exist', async t => {
    const file = node.folder.file('web.yaml')
    const template = podManifest('', {
      'ipkeeper.io/ips': '10.22.0.80-10.22.0.81',
      'ipkeeper.io/pool': 'fixed',
    })
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: 'shop' },
      spec: {
        ...{
          replicas: 3,
          serviceName: 'db',
          ordinals: { start: 4 },
          selector: { matchLabels: { app: 'db' } },
        },
        template: {
          metadata: { annotations: template['metadata'].annotations as object, labels: { app: 'db' } },
          spec: { containers: template['spec'].containers as object },
        },
      },
    }
    writeFileSync(file, stringify(set))
    const replies = await node.explain('--manifest', file)
    const outcomes = replies.map(explained)
    t.strictSame(outcomes.slice(0, 2), [['10.22.0.80/24'], ['10.22.0.81/24']])
    t.match(outcomes[2], [134, /ordinal 6 \(spec\.ordinals\.start 4\)/])
    t.match(replies, [{ annotationsFrom: 'manifest', pod: { name: 'db-4' } }, {}, {}])

    const { metadata } = await cluster.create(set)
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      name: 'db',
      controller: true,
      uid: metadata.uid as string,
    }
    for (const [index, name] of ['db-4', 'db-5', 'db-6'].entries()) {
      const manifest = podManifest(name, set.spec.template.metadata.annotations as Record<string, string>)
      manifest['metadata'].ownerReferences = [owner]
      const { metadata: made } = await cluster.create(manifest)
      const answer = await node.add({ name, uid: String(made.uid) })
      t.strictSame(answered(answer), outcomes[index], `${name} gets what was said`)
    }
  })

  await t.test('a manifest of another namespace goes by the rules for that one', async t => {
    await createNamespace(cluster, 'bank', { labels: { tier: 'bank' } })
    const file = node.folder.file('teller.yaml')
    writeFileSync(
      file,
      stringify(podManifest('teller', { 'ipkeeper.io/pool': 'bank' }, { namespace: 'bank' })),
    )
    const until = performance.now() + hangMs
    let [reply] = await node.explain('--manifest', file)
    while (reply?.['error'] !== null && performance.now() < until)
      [reply] = await node.explain('--manifest', file)
    t.strictSame(reply?.['addresses'], ['10.31.0.2/24'])
  })
})
