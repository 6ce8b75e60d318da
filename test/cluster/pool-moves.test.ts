/**
 * A pool that moves: from the ranges of a conflist to the daemon's file, to an IPPool, and the same way back. Whoever has, keeps or
 * was promised an address has it afterwards, at once and after a restart. With the Kubernetes API as the store, which alone has IPPools;
 * from the conflist to the file and back is in test/changes for the others.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { startClusterNode, type ClusterNode } from '../rigs/cluster-node.ts'
import type { Cluster } from '../rigs/cluster.ts'
import { until } from '../rigs/poll.ts'
import { giveStandings, startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'

const root = '/apis/ipkeeper.io/v1alpha1/ippools'
const subnet = '10.60.0.0/24'
/** As the network, whose own ranges bear its name. */
const name = 'fixed'
const addresses = { live: '10.60.0.10', kept: '10.60.0.20', cooling: '10.60.0.30', reserved: '10.60.0.40' }

const fileWith = (pools: readonly object[]) => ({ cooldown: '1h', preferFor: '1h', pools })

/** Where the pool is, in the order in which it moves. */
const stations = ['conflist', 'file', 'object', 'file', 'conflist'] as const
type Station = (typeof stations)[number]

/** What the conflist says of its addresses. */
function writeConflist(node: ClusterNode, station: Station): void {
  const conflist = JSON.parse(readFileSync(node.conflist, 'utf8')) as { plugins: [{ ipam: object }] }
  const [plugin] = conflist.plugins
  const place = station === 'conflist' ? { ranges: [[{ subnet }]] } : { pool: name }
  plugin.ipam = { ...plugin.ipam, ranges: undefined, pool: undefined, ...place }
  writeFileSync(node.conflist, JSON.stringify(conflist))
}

/** Moves it: the new place first, then what names it, then the old place. */
async function move(cluster: Cluster, node: ClusterNode, from: Station, to: Station): Promise<void> {
  const loaded = async () => (await node.status()).config.loadedAt
  const configure = async (pools: readonly object[]): Promise<void> => {
    const before = await loaded()
    node.configure(fileWith(pools))
    await until('the file is in force', async () => (await loaded()) !== before)
  }
  if (to === 'file') await configure([{ name, subnet }])
  if (to === 'object') {
    const object = {
      apiVersion: 'ipkeeper.io/v1alpha1',
      kind: 'IPPool',
      metadata: { name },
      spec: { subnet },
    }
    // What a daemon remembers of the pool has its name: kubectl replace -f.
    const known = await cluster.request('GET', `${root}/${name}`).catch(() => undefined)
    await (known
      ? cluster.request('PUT', `${root}/${name}`, { ...object, metadata: known['metadata'] as object })
      : cluster.create(object))
  }
  writeConflist(node, to)
  if (from === 'file') await configure([])
  if (from === 'object') await cluster.request('DELETE', `${root}/${name}`)
}

async function judge(t: Test, node: ClusterNode, when: string): Promise<void> {
  for (const [pod, address] of Object.entries(addresses)) {
    const [explained] = await node.explain(`shop/${pod}`)
    const { error, addresses: given } = explained as { error: { code: string } | null; addresses: string[] }
    t.equal(error?.code ?? given.join(), `${address}/24`, `${when}: ${pod}`)
  }
  const [fresh] = await node.explain('shop/fresh')
  t.match(fresh, { error: null, addresses: [/^10\.60\.0\./] }, `${when}: a new pod`)
}

const skip = missing('cluster', 'executables')

t.test('a pool that moves', { skip, timeout: 240_000 }, async t => {
  const cluster = await startPreparedCluster(t, { resources: true })
  const node = await startClusterNode(t, cluster, {
    ...{ args: ['--store', 'kubernetes:'], ipam: { ranges: [[{ subnet }]] }, config: fileWith([]) },
  })
  const end = await giveStandings(cluster, node, addresses)
  let from: Station = 'conflist'
  for (const to of stations.slice(1)) {
    await move(cluster, node, from, to)
    await judge(t, node, `${from} to ${to}`)
    await node.restart()
    await judge(t, node, `${from} to ${to}, after a restart`)
    from = to
  }
  await end()
  const left = (await node.daemon.leases()).map(({ address, state }) => [address, state]).sort()
  t.strictSame(left, [
    [addresses.live, 'cooling'],
    [addresses.kept, 'held'],
    [addresses.cooling, 'cooling'],
  ])
})
