/** An address is moved from a pod of one node to a pod of another one, with the Kubernetes API as store. */
import t from 'tap'
import { createNamespace, createNode, createPod, startClusterNode } from '../rigs/cluster-node.ts'
import { startCluster } from '../rigs/cluster.ts'
import { installCustomResources } from '../rigs/custom-resources.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('cluster', 'executables')
const address = '10.22.0.50'
const asks = { 'ipkeeper.io/ip': address, 'ipkeeper.io/retain': 'forever' }
const gets = { ips: [`${address}/24`] }

t.test('an address that moves, on two nodes', { skip, timeout: 120_000 }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  await createNamespace(cluster, 'shop')
  const start = async (name: string) => {
    await createNode(cluster, name)
    return await startClusterNode(t, cluster, { name, args: ['--store', 'kubernetes:'] })
  }
  const here = await start('worker-1')
  const there = await start('worker-2')
  const type = async (line: string): Promise<{ readonly exit: number | null; readonly text: string }> => {
    const { exit, stdout, stderr } = await there.daemon.control(...line.split(' '))
    return { exit, text: stdout + stderr }
  }
  const a = await createPod(cluster, 'a', asks)
  const added = await here.add(a)
  t.match(added, gets)
  const moving = await type(`move ${address} shop/b --yes --note rack-7`)
  t.match(moving, {
    exit: 0,
    text: /in use by shop\/a on node worker-1 until that pod is gone; its next pod will not get it/,
  })
  const { items } = (await cluster.request('GET', '/apis/ipkeeper.io/v1alpha1/ipreservations')) as {
    items: readonly object[]
  }
  t.match(items, [{ spec: { note: 'rack-7' } }], 'kubectl shows it')

  await here.restart()
  const b = await createPod(cluster, 'b', asks, { node: 'worker-2' })
  t.match(await there.add(b), { details: /IPK_ADDRESS_HELD/ }, 'b comes too early')
  await here.del(a, 'container' in added ? added.container : '')
  await there.restart()
  t.match(await here.add(a), { msg: /reserved for shop\/b/ }, 'the next sandbox of a does not get it')
  await until('b has it', async () => 'ips' in (await there.add(b)))
  t.match(await type(`who ${address}`), { exit: 0, text: /bound to shop\/b/ })
  t.match(
    await type(`move ${address} shop/c --dry-run`),
    { exit: 0, text: /to shop\/c; it is no longer reserved for shop\/b/ },
    'and could go on to another one',
  )
  t.match(await type(`unreserve ${address} --yes`), { exit: 0 })
  t.match(await type(`who ${address}`), { exit: 0, text: /bound to shop\/b/ })
})
