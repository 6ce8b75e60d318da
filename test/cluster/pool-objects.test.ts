/** Pools that people make in the Kubernetes API. */
import t from 'tap'
import { logs } from '../rigs/logs.ts'
import { createPod, startClusterNode, type Answer, type ClusterNode } from '../rigs/cluster-node.ts'
import { until } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('cluster', 'executables')

const root = '/apis/ipkeeper.io/v1alpha1/ippools'
const container = (answer: Answer): string => answer.container
const gets = (address: string) => ({ ips: [address] })

/** Waits until `ipkeeperctl explain` says that an ADD of the pod would end so: an address, or the code of an error. */
async function untilExplained(node: ClusterNode, pod: string, wanted: string): Promise<void> {
  await until(`${pod}: ${wanted}`, async () => {
    const [explained] = await node.explain(pod)
    return (explained?.['error']?.code ?? explained?.['addresses']?.[0]) === wanted
  })
}

t.test('an IPPool', { skip }, async t => {
  const cluster = await startPreparedCluster(t, { resources: true })
  const pool = (name: string, spec: object) =>
    cluster.create({ apiVersion: 'ipkeeper.io/v1alpha1', kind: 'IPPool', metadata: { name }, spec })
  const change = (name: string, spec: object) => cluster.request('PATCH', `${root}/${name}`, { spec })
  const node = await startClusterNode(t, cluster, {
    args: ['--store', 'kubernetes:'],
    ipam: { pool: 'prod' },
    config: { pools: [{ name: 'mine', subnet: '10.31.0.0/26' }] },
  })
  const said = (pattern: RegExp) => logs(t, node.daemon, pattern)

  const web = await createPod(cluster, 'web-0')
  t.match(await node.add(web), { code: 132 }, 'there is no such pool yet')
  await pool('prod', { subnet: '10.30.0.0/26', retention: '30m' })
  await untilExplained(node, 'shop/web-0', '10.30.0.2/26')
  const added = await node.add(web)
  t.match(added, gets('10.30.0.2/26'), 'the network names it')
  t.match(await node.daemon.leases(), [{ pool: 'prod', retain: '30m' }])
  await pool('lab', { subnet: '10.32.0.0/26' })
  const lab = await createPod(cluster, 'lab-0', { 'ipkeeper.io/pool': 'lab' })
  await untilExplained(node, 'shop/lab-0', '10.32.0.2/26')
  t.match(await node.add(lab), gets('10.32.0.2/26'), 'a pod names it')

  await t.test('a change', async t => {
    await change('prod', { exclude: ['10.30.0.3-10.30.0.9'] })
    await createPod(cluster, 'web-1')
    await untilExplained(node, 'shop/web-1', '10.30.0.10/26')
    t.end()
  })

  await t.test('one that makes no sense leaves the last one in force', async () => {
    await change('prod', { exclude: ['10.30.0.9-10.30.0.3'] })
    await said(/ippool prod: spec\.exclude\[0\].*stays in force/)
    await untilExplained(node, 'shop/web-1', '10.30.0.10/26')
    await change('prod', { exclude: ['10.30.0.3-10.30.0.19'] })
    await untilExplained(node, 'shop/web-1', '10.30.0.20/26')
  })

  await t.test('one that would leave out an address in use as well', async () => {
    await change('prod', { rangeStart: '10.30.0.40', exclude: null })
    await said(
      /ippool prod: pool prod changes to .*10\.30\.0\.2 \(shop\/web-0\); what was in force before stays/,
    )
    await untilExplained(node, 'shop/web-1', '10.30.0.20/26')
    await change('prod', { rangeStart: null })
    await untilExplained(node, 'shop/web-1', '10.30.0.3/26')
  })

  await t.test('of the name of a pool of the file, or over its ranges', async () => {
    await pool('later', { subnet: '10.41.0.0/24' })
    const later = { name: 'later', subnet: '10.42.0.0/26' }
    node.configure({ pools: [{ name: 'mine', subnet: '10.31.0.0/26' }, later] })
    await said(/ippool later: the file of the daemon has a pool of this name, which counts/)
    await pool('other', { subnet: '10.31.0.0/16' })
    await said(/ippool other: overlaps pool mine of the daemon's file, which counts/)
    await createPod(cluster, 'web-2', { 'ipkeeper.io/pool': 'later' })
    await untilExplained(node, 'shop/web-2', '10.42.0.2/26')
  })

  await t.test('deleted in use', async t => {
    await cluster.until(
      `${root}/prod`,
      ({ metadata }) => String(metadata.finalizers) === 'ipkeeper.io/addresses-in-use',
    )
    await cluster.request('DELETE', `${root}/prod`)
    await said(/ippool prod: was deleted; it stays in force until none of its addresses is in use/)
    await untilExplained(node, 'shop/web-1', '10.30.0.3/26')
    await node.del(web, container(added))
    const { items } = await cluster.request('GET', root)
    t.match(
      (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name).sort(),
      ['lab', 'later', 'mine', 'other', 'prod'],
      'an address that is kept is in use',
    )
    t.equal((await node.daemon.control('release', '10.30.0.2')).exit, 0)
    await until('it is gone', async () => {
      const { items: left } = await cluster.request('GET', root)
      return (left as unknown[]).length === 4
    })
    await untilExplained(node, 'shop/web-1', 'IPK_POOL_UNKNOWN')
  })
})
