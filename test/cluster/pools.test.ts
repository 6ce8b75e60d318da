/** Pools whose rules need the API: labels of namespaces and of the node, defaults of namespaces, and further nodes. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import {
  createNamespace,
  createNode,
  createPod,
  startClusterNode,
  type ClusterNode,
} from '../rigs/cluster-node.ts'
import { startCluster } from '../rigs/cluster.ts'
import { missing } from '../rigs/requirements.ts'
import { hangMs } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'

const skip = missing('cluster', 'executables')

const gets = (address: string) => ({ ips: [address] })

/** Waits until `ipkeeperctl explain` says that an ADD of the pod would end so: an address, or the code of an error. */
async function untilExplained(node: ClusterNode, pod: string, wanted: string): Promise<void> {
  const deadline = performance.now() + hangMs
  for (;;) {
    const [explained] = await node.explain(pod)
    const outcome = (explained?.['error']?.code ?? explained?.['addresses']?.[0]) as string | undefined
    if (outcome === wanted) return
    if (performance.now() > deadline) throw new Error(`${pod}: ${outcome ?? 'nothing'} and not ${wanted}`)
    await delay(50)
  }
}

t.test('what namespaces and the node are', { skip }, async t => {
  const cluster = await startCluster(t)
  await createNamespace(cluster, 'shop', {
    annotations: { 'ipkeeper.io/pool': 'racks', 'ipkeeper.io/retain': '30m' },
  })
  await createNamespace(cluster, 'lists', { annotations: { 'ipkeeper.io/ips': '10.31.0.40-10.31.0.41' } })
  await createNamespace(cluster, 'bank')
  await createNode(cluster, 'worker-1', { rack: 'r7' })
  const node = await startClusterNode(t, cluster, {
    ipam: {},
    config: {
      namespaceDefaults: true,
      pools: [
        { name: 'apps', subnet: '10.30.0.0/24', namespaceSelector: { matchLabels: { tier: 'apps' } } },
        { name: 'racks', subnet: '10.31.0.0/24', nodeSelector: { matchLabels: { rack: 'r7' } } },
        { name: 'team', subnet: '10.32.0.0/24', namespaces: ['shop', 'team-*'] },
      ],
    },
  })
  const label = (path: string, labels: Record<string, string | null>) =>
    cluster.request('PATCH', `/api/v1/${path}`, { metadata: { labels } })

  await t.test("a namespace's annotations are defaults for its pods", async t => {
    const web = await createPod(cluster, 'web-0')
    const { container } = (await node.add(web)) as { container: string }
    t.match(await node.daemon.leases(), [{ pool: 'racks', pod: { name: 'web-0' }, retain: '30m' }])
    await node.del(web, container)
    t.match(await node.daemon.leases(), [{ state: 'held', until: /^20/ }], 'its retention, too')

    const own = await createPod(cluster, 'own', {
      'ipkeeper.io/pool': 'team',
      'ipkeeper.io/retain': 'release',
    })
    t.match(await node.add(own), gets('10.32.0.2/24'), 'what the pod says itself comes first')
    const listed = [await createPod(cluster, 'a', {}, { namespace: 'lists' })]
    listed.push(await createPod(cluster, 'b', {}, { namespace: 'lists' }))
    listed.push(await createPod(cluster, 'c', {}, { namespace: 'lists' }))
    const [a, b, c] = [await node.add(listed[0]!), await node.add(listed[1]!), await node.add(listed[2]!)]
    t.match([a, b], [gets('10.31.0.40/24'), gets('10.31.0.41/24')])
    t.match(c, { code: 136, msg: /annotation ipkeeper\.io\/ips of namespace lists/ })
  })

  await t.test('a change of them is seen', async t => {
    const web = await createPod(cluster, 'web-1')
    await untilExplained(node, 'shop/web-1', '10.31.0.3/24')
    await cluster.request('PATCH', '/api/v1/namespaces/shop', {
      metadata: { annotations: { 'ipkeeper.io/pool': 'team' } },
    })
    await untilExplained(node, 'shop/web-1', '10.32.0.3/24')
    t.match(await node.add(web), gets('10.32.0.3/24'))
  })

  await t.test('a pool for namespaces with a label', async t => {
    const web = await createPod(cluster, 'web-2', { 'ipkeeper.io/pool': 'apps' })
    t.match(await node.add(web), {
      code: 131,
      msg: 'pool apps: namespace shop may not use it; its namespaces are those with labels tier=apps',
    })
    await label('namespaces/shop', { tier: 'apps' })
    await untilExplained(node, 'shop/web-2', '10.30.0.2/24')
    t.match(await node.add(web), gets('10.30.0.2/24'))
  })

  await t.test('a pool for nodes with a label', async t => {
    const web = await createPod(cluster, 'web-3', { 'ipkeeper.io/pool': 'racks' })
    await untilExplained(node, 'shop/web-3', '10.31.0.3/24')
    await label('nodes/worker-1', { rack: 'r9' })
    await untilExplained(node, 'shop/web-3', 'IPK_NODE_REFUSED')
    t.match(await node.add(web), { code: 137, msg: 'pool racks: it is not for node worker-1' })
    await label('nodes/worker-1', { rack: 'r7' })
    await untilExplained(node, 'shop/web-3', '10.31.0.3/24')
    t.match(await node.add(web), gets('10.31.0.3/24'))
  })

  await t.test('a pod that names no pool gets one that allows it', async t => {
    const pod = await createPod(cluster, 'teller', {}, { namespace: 'bank' })
    t.match(await node.add(pod), gets('10.31.0.4/24'), 'not apps, by its label')
    await label('nodes/worker-1', { rack: null })
    const other = await createPod(cluster, 'other', {}, { namespace: 'bank' })
    await untilExplained(node, 'bank/other', 'IPK_NAMESPACE_REFUSED')
    t.match(await node.add(other), {
      code: 131,
      msg: /^no pool serves this pod: pool apps: .*; pool racks: .*; pool team: namespace bank may not use it/,
    })
  })

  await t.test('with the API server away', async t => {
    cluster.freeze()
    t.teardown(() => {
      cluster.thaw()
    })
    const pod = (namespace: string, passedOn: Record<string, string>) => ({
      name: 'late',
      namespace,
      uid: randomUUID(),
      passedOn,
    })
    const asking = { 'ipkeeper.io/ip': '10.32.0.90', 'ipkeeper.io/pool': 'team' }
    const [known, asks, unknown] = await Promise.all([
      node.add(pod('shop', {})),
      node.add(pod('team-new', asking)),
      node.add(pod('team-newer', {})),
    ])
    t.match(known, gets('10.32.0.4/24'), 'a namespace that is remembered')
    t.match(asks, gets('10.32.0.90/24'), 'an unknown namespace, of a pod that says all itself')
    t.match(unknown, { code: 11, msg: 'annotations and labels of namespace team-newer are not known' })
    t.ok(asks.ms < 2_500, `without waiting: ${Math.round(asks.ms)} ms`)
    t.ok(unknown.ms > 4_900 && unknown.ms < 7_500, `after ${Math.round(unknown.ms)} ms`)
  })
})

t.test('a second node, and a store that only this one sees', { skip }, async t => {
  const cluster = await startPreparedCluster(t)
  const pools = [
    { name: 'mine', subnet: '10.40.0.0/24', nodes: ['worker-1'] },
    { name: 'everyones', subnet: '10.41.0.0/24', nodes: ['worker-*'] },
  ]
  const node = await startClusterNode(t, cluster, { config: { pools } })
  const single = await startClusterNode(t, cluster, { config: { pools, store: { singleNode: true } } })
  t.match(await node.add(await createPod(cluster, 'first')), gets('10.22.0.2/24'), 'a node alone')

  await createNode(cluster, 'worker-2')
  for (const daemon of [node, single]) await daemon.untilStatus(({ counts }) => counts.nodes === 2)
  for (const [name, annotations] of Object.entries({
    inline: {},
    everyones: { 'ipkeeper.io/pool': 'everyones' },
  })) {
    const pod = await createPod(cluster, name, annotations)
    t.match(
      await node.add(pod),
      {
        code: 138,
        msg: /^pool (fixed|everyones): the cluster has other nodes, and the embedded store of node worker-1/,
        details: /--store kubernetes:.*singleNode.*\[IPK_STORE_ONE_NODE/,
      },
      name,
    )
    t.match(
      await single.add(pod),
      { ips: [/^10\.(22|41)\.0\.2\/24$/] },
      `${name}: the configuration says it is safe`,
    )
  }
  const pod = await createPod(cluster, 'mine', { 'ipkeeper.io/pool': 'mine' })
  t.match(await node.add(pod), gets('10.40.0.2/24'), 'a pool of this node alone')

  await cluster.request('DELETE', '/api/v1/nodes/worker-2')
  await untilExplained(node, 'shop/inline', '10.22.0.3/24')
  t.match(await node.daemon.boundLeases(), [{ address: '10.22.0.2' }, { address: '10.40.0.2' }])
})
