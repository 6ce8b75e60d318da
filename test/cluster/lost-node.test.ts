/** A node is lost: what becomes of the fixed addresses of its pods, and what everybody says of them. */
import t from 'tap'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { findClusterProgram } from '../rigs/cluster-programs.ts'
import { createNamespace, startClusterNode, type ClusterNode, type RuntimePod } from '../rigs/cluster-node.ts'
import { startCluster, workloadControllers } from '../rigs/cluster.ts'
import { installCustomResources } from '../rigs/custom-resources.ts'
import { startNodeDouble } from '../rigs/node-double.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { mustRun } from '../rigs/run-program.ts'

const skip = missing('cluster', 'controllers', 'kubectl', 'executables')
const podsOf = '/api/v1/namespaces/shop/pods'
const address = '10.22.0.50'

const itemsOf = (list: ApiObject): readonly ApiObject[] => list['items'] as ApiObject[]

/** A workload of one pod, which asks for the address. */
function workload(kind: 'Deployment' | 'StatefulSet'): ApiObject {
  const labels = { app: 'web' }
  return {
    ...{ apiVersion: 'apps/v1', kind, metadata: { name: 'web', namespace: 'shop' } },
    spec: {
      ...{ replicas: 1, selector: { matchLabels: labels } },
      ...(kind === 'Deployment' ? { strategy: { type: 'Recreate' } } : { serviceName: 'web' }),
      template: {
        metadata: { labels, annotations: { 'ipkeeper.io/ip': address } },
        spec: { containers: [{ name: 'main', image: 'localhost/none' }] },
      },
    },
  }
}

const said = async ({ daemon }: ClusterNode, ...words: readonly string[]): Promise<string> => {
  const { stdout, stderr } = await daemon.control(...words)
  return `${stdout}${stderr}`
}

for (const [kind, code, heir] of [
  ['Deployment', 'IPK_CANDIDATES_BUSY', 'the next pod of Deployment shop/web gets it'],
  ['StatefulSet', 'IPK_HOLDER_LIVE', 'the next pod shop/web-0 gets it'],
] as const) {
  t.test(`the pod of a ${kind}`, { skip, timeout: 120_000 }, async t => {
    const cluster = await startCluster(t, { controllers: workloadControllers })
    await installCustomResources(cluster)
    await createNamespace(cluster, 'shop')
    await startNodeDouble(t, cluster, ['worker-1', 'worker-2'])
    const start = (name: string): Promise<ClusterNode> =>
      startClusterNode(t, cluster, { name, args: ['--store', 'kubernetes:'] })
    const [one, two] = [await start('worker-1'), await start('worker-2')]
    const podOn = async (node: string): Promise<RuntimePod> => {
      const isThere = ({ metadata, spec, status }: ApiObject): boolean =>
        spec.nodeName === node && status.phase === 'Running' && metadata.deletionTimestamp === undefined
      const list = await cluster.until(podsOf, got => itemsOf(got).some(isThere))
      const { metadata } = itemsOf(list).find(isThere)!
      return { name: String(metadata.name), uid: String(metadata.uid) }
    }
    const kubectl = (line: string): Promise<string> =>
      mustRun(findClusterProgram('kubectl') ?? '', ['--kubeconfig', cluster.kubeconfig, ...line.split(' ')])

    await cluster.create(workload(kind))
    const old = await podOn('worker-1')
    const added = await one.add(old)
    t.match(added, { ips: [`${address}/24`] })
    await one.daemon.stop('SIGKILL')
    // As the controllers do it once the node is tainted, and people who lose their patience.
    await cluster.request('DELETE', `${podsOf}/${old.name}`, { gracePeriodSeconds: 0 })
    const next = await podOn('worker-2')
    const refused = await two.add(next)
    t.match(refused, {
      code: 11,
      details: new RegExp(`waits until node worker-1 attests .*${code}`),
    })
    const [command = ''] =
      /kubectl taint [^;,]+:NoExecute/.exec('details' in refused ? refused.details : '') ?? []
    t.match(await said(two, 'who', address), /is bound to shop\/web-/)
    t.match(await said(two, 'release', address), new RegExp(`${command}(;|$)`, 'm'))

    await kubectl(command.replace('kubectl ', ''))
    const tainted = performance.now()
    const lost = new RegExp(`node worker-1 is out of service: ${heir}, others when it is back`)
    const remedy = /if it does not come back: kubectl delete node worker-1/
    await until('it is heard', async () => lost.test(await said(two, 'who', address)))
    for (const words of [['who', address], ['release', address], ['audit']])
      for (const pattern of [lost, remedy]) t.match(await said(two, ...words), pattern, words.join(' '))
    t.match(await two.add({ name: 'other', uid: 'u', passedOn: { 'ipkeeper.io/ip': address } }), {
      code: 101,
      msg: lost,
      details: remedy,
    })
    const taken = await two.add(next)
    t.match(taken, { ips: [`${address}/24`] })
    t.comment(`${Math.round(performance.now() - tainted)} ms after the taint`)
    const { items } = await cluster.request('GET', '/apis/ipkeeper.io/v1alpha1/ipholders')
    t.equal((items as unknown[]).length, 1, 'nothing is left of the old pod')
    t.match(await said(two, 'audit'), /no findings/)

    await kubectl('taint node worker-1 node.kubernetes.io/out-of-service-')
    const back = await start('worker-1')
    await back.del(old, added.container)
    t.match(await two.daemon.boundLeases(), [
      { address, node: 'worker-2', containerId: (await two.status(), /./) },
    ])
  })
}

t.test('an address that is released by force', { skip, timeout: 120_000 }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  await createNamespace(cluster, 'shop')
  await startNodeDouble(t, cluster, ['worker-1', 'worker-2'])
  const start = (name: string): Promise<ClusterNode> =>
    startClusterNode(t, cluster, { name, args: ['--store', 'kubernetes:'] })
  const [one, two] = [await start('worker-1'), await start('worker-2')]
  const passedOn = { 'ipkeeper.io/ip': address }
  t.match(await one.add({ name: 'printer', uid: 'u1', passedOn }), { ips: [`${address}/24`] })
  await until('one leads', async () => / yes$/m.test(await said(two, 'nodes')))
  t.match(await said(two, 'nodes'), /^worker-1 +(lives|not known) .* 1 +\d\S+ +(yes|no)$/m)
  const force = ['release', '--force', '--yes', address]
  await one.daemon.stop('SIGKILL')
  t.match(
    await said(two, ...force),
    /node worker-1 may still run: its daemon does not answer.*IPK_NODE_MAY_RUN/,
  )
  const kubectl = (line: string): Promise<string> =>
    mustRun(findClusterProgram('kubectl') ?? '', ['--kubeconfig', cluster.kubeconfig, ...line.split(' ')])
  await kubectl('taint node worker-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute')
  await until('it is heard', async () => /^worker-1 +out of service /m.test(await said(two, 'nodes')))
  t.match(
    await said(two, 'who', address),
    new RegExp(`for this address alone: ipkeeperctl release(?: --socket \\S+)? --force ${address}`),
  )
  const released = await said(two, ...force)
  t.match(released, /WARNING: if node worker-1 is still running/)
  t.match(released, /is released from shop\/printer: on your statement/)
  t.match(await two.add({ name: 'scanner', uid: 'u2', passedOn }), { ips: [`${address}/24`] })
  const yields = (): Promise<string> => kubectl('get ipnodes -o jsonpath={.items[*].spec.yields[*].address}')
  t.equal(await yields(), address, 'the word stays until the node is back')

  await kubectl('taint node worker-1 node.kubernetes.io/out-of-service-')
  await one.restart()
  t.match(one.daemon.log(), new RegExp(`gave ${address} up, since an operator on node worker-2 released it`))
  await until('it is done with', async () => (await yields()) === '')
})
