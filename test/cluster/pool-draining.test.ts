/** An IPPool that is emptied: `draining: true` in its spec, or in one of its ranges. */
import t from 'tap'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { createPod, startClusterNode } from '../rigs/cluster-node.ts'
import { until } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'

const at = '/apis/ipkeeper.io/v1alpha1/ippools/prod'
const skip = missing('cluster', 'executables')

t.test('an IPPool that drains', { skip, timeout: 120_000 }, async t => {
  const cluster = await startPreparedCluster(t, { resources: true })
  const spec = { subnet: '10.41.0.0/24' }
  await cluster.create({
    apiVersion: 'ipkeeper.io/v1alpha1',
    kind: 'IPPool',
    metadata: { name: 'prod' },
    spec,
  })
  const node = await startClusterNode(t, cluster, {
    args: ['--store', 'kubernetes:'],
    ipam: { pool: 'prod' },
  })
  const untilDraining = (wanted: string): Promise<ApiObject> =>
    cluster.until(at, ({ status }) =>
      ((status?.conditions ?? []) as ApiObject[]).some(
        one => one['type'] === 'Draining' && `${one['status']} ${one['reason']}` === wanted,
      ),
    )
  await untilDraining('False NotDraining')
  const web = await createPod(cluster, 'web-0')
  const added = await node.add(web)
  t.match(added, { ips: [/^10\.41\.0\.\d+\/24$/] })

  await cluster.request('PATCH', at, { spec: { draining: true } })
  await untilDraining('True AddressesLeft')
  const refused = await createPod(cluster, 'web-1')
  await until('it is in force', async () => {
    const [explained] = await node.explain('shop/web-1')
    return explained?.['error']?.code === 'IPK_POOL_DRAINING'
  })
  t.match(await node.add(refused), { code: 182, details: /pool prod is draining/ })
  const listed = await node.daemon.control('pools')
  t.match(listed.stdout, /^prod +default +IPv4 +1 +1 +0 +0 /m, 'what is left is all that it has')
  t.match(
    listed.stdout,
    /prod is draining: 1 left, and no new pod gets an address from it\nnext: ipkeeperctl leases --socket \S+ --pool prod\n/,
  )
  t.match((await node.daemon.control('pools', 'prod')).stdout, /draining, no new pod gets an address/)
  t.equal((await node.daemon.control('audit')).exit, 0, 'and nothing is wrong with that')

  await node.restart()
  t.match(await node.add(refused), { code: 182 }, 'after a restart as well')
  await node.del(web, 'container' in added ? added.container : '')
  await untilDraining('True Drained')
  t.match((await node.daemon.control('pools')).stdout, 'prod is drained: no address is left in it')
  await cluster.request('PATCH', at, {
    spec: {
      subnet: null,
      draining: null,
      ranges: [[{ ...spec, draining: true }, { subnet: '10.42.0.0/24' }]],
    },
  })
  await until('the other range serves', async () => {
    const answer = await node.add(refused)
    return 'ips' in answer && String(answer.ips[0]).startsWith('10.42.0.')
  })
})
