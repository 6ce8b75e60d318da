/** A definition goes from whereabouts to ipkeeper while its pods run, as docs/guides/multus.md says. */
import { join } from 'node:path'
import t from 'tap'
import { hasWhereabouts, installWhereabouts, writeWhereaboutsConfig } from '../../bench/whereabouts.ts'
import { whereaboutsExecutable } from '../../bench/whereabouts/module.ts'
import { annotationsCapability } from '../rigs/caller-site.ts'
import { define, redefine, startMultusCluster, startMultusSite } from '../rigs/multus-site.ts'
import { until } from '../rigs/poll.ts'
import { missing, optionalSkip } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip =
  missing('go', 'callers', 'multus', 'cluster', 'namespaces', 'runc', 'executables') ||
  (hasWhereabouts() ? false : `${optionalSkip}needs whereabouts (make bench builds it)`)

const range = '10.21.0.0/24'

t.test('a definition moves from whereabouts to ipkeeper', { skip }, async t => {
  const folder = tempFolder(t)
  const cluster = await startMultusCluster(t)
  await installWhereabouts(cluster)
  const runtime = folder.file('containerd.sock')
  const node = await startMultusSite(t, cluster, {
    hasApi: true,
    plugins: { whereabouts: whereaboutsExecutable },
    config: {
      pools: [{ name: 'storage', ranges: [[{ subnet: range, gateway: '10.21.0.254' }]] }],
      runtime: { sockets: [runtime] },
      // As quick as it may be: the default is that of a node.
      reconcile: { interval: '1s', minAge: '1s', minAgeUnproved: '1s' },
    },
    runtime,
  })
  const configuration = folder.file('whereabouts.conf')
  writeWhereaboutsConfig(configuration, cluster)
  const storage = (ipam: object): object => ({
    ...{ cniVersion: '1.0.0', name: 'storage-net', type: 'bridge', bridge: 'cni-store' },
    capabilities: { ips: true, [annotationsCapability]: true },
    ipam,
  })
  await define(cluster, 'storage', storage({ type: 'whereabouts', range, configuration_path: configuration }))

  const old = [await node.run('web-0', 'storage'), await node.run('web-1', 'storage')] as const
  t.match(await node.networkStatus('web-0'), { net1: ['10.21.0.1'] })
  t.match(await node.networkStatus('web-1'), { net1: ['10.21.0.2'] })

  const imported = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { stdout, stderr } = await node.control(
      ...['import', 'whereabouts', '--kubeconfig', cluster.kubeconfig, '--network', 'storage-net'],
      ...['--runtime', runtime, '-o', 'json', ...words],
    )
    if (stdout === '') throw new Error(stderr)
    const { items } = JSON.parse(stdout) as { items: readonly { address: string; verdict: string }[] }
    return items.map(({ address, verdict }) => `${address} ${verdict}`).sort()
  }
  const adopted = ['storage-net net1 10.21.0.1', 'storage-net net1 10.21.0.2']
  t.strictSame(await imported(), ['10.21.0.1 adopt', '10.21.0.2 adopt'])
  t.strictSame(await node.leases(), [], 'nothing is changed without --apply')
  t.strictSame(await imported('--apply'), ['10.21.0.1 adopt', '10.21.0.2 adopt'])
  t.strictSame(await node.leases(), adopted)

  // A pod that is made in between has its address from whereabouts, and is adopted by the second import.
  const between = await node.run('between', 'storage')
  await redefine(cluster, 'storage', storage(node.site.ipam({ ranges: undefined, pool: 'storage' })))
  t.strictSame(await imported('--apply'), ['10.21.0.1 ours', '10.21.0.2 ours', '10.21.0.3 adopt'])

  const fresh = await node.run('fresh', 'storage', { 'ipkeeper.io/ip.net1': '10.21.0.50' })
  const any = await node.run('any', 'storage')
  t.match(await node.networkStatus('fresh'), { net1: ['10.21.0.50'] })
  t.match(await node.networkStatus('any'), { net1: ['10.21.0.4'] }, 'nobody else gets what a pod has')
  const taken = node.run('late', 'storage', { 'ipkeeper.io/ip.net1': '10.21.0.2' })
  await t.rejects(taken, { message: /10\.21\.0\.2, which is held by shop\/web-1/ })

  // Multus ends a pod by the configuration that it began with: ipkeeper hears nothing, and sees it.
  for (const pod of [...old, between]) await node.end(pod)
  await until('what moved has ended', async () => (await node.leases()).length === 2)
  t.strictSame(await node.leases(), ['storage-net net1 10.21.0.4', 'storage-net net1 10.21.0.50'])
  for (const pod of [fresh, any]) await node.end(pod)
  t.strictSame(await node.leases('eth0'), [])
  const allocations = await cluster.request(
    'GET',
    join('/apis/whereabouts.cni.cncf.io/v1alpha1/namespaces/kube-system/ippools', range.replace('/', '-')),
  )
  t.strictSame(allocations['spec'].allocations, {}, 'whereabouts has given back what it gave')
})
