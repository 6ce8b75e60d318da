import { createNamespace, createNode, createPod, runPod, type ClusterNode } from './cluster-node.ts'
import { startCluster, type Cluster, type ClusterOptions } from './cluster.ts'
import { installCustomResources } from './custom-resources.ts'
import type { Scope } from './teardown.ts'

export interface PreparedClusterOptions extends ClusterOptions {
  /** Default: worker-1. */
  readonly nodes?: readonly string[]
  /** Whether it has ipkeeper's custom resources. */
  readonly resources?: boolean
}

/** A cluster with the namespace shop and some nodes. */
export async function startPreparedCluster(
  t: Scope,
  { nodes = ['worker-1'], resources = false, ...options }: PreparedClusterOptions = {},
): Promise<Cluster> {
  const cluster = await startCluster(t, options)
  if (resources) await installCustomResources(cluster)
  await createNamespace(cluster, 'shop')
  for (const name of nodes) await createNode(cluster, name)
  return cluster
}

/** How an address may stand when something happens to its pool. */
export const standings = ['live', 'kept', 'cooling', 'reserved'] as const
export type Standing = (typeof standings)[number]

/**
 * Has an address stand in each of these ways. Afterwards the API has a pod for each, of that name, which asks for its address if
 * nothing else leads to it, and a pod "fresh" that asks for none. Resolves to what ends the one that lives.
 */
export async function giveStandings(
  cluster: Cluster,
  node: ClusterNode,
  addresses: Readonly<Record<Standing, string>>,
  {
    podOf = name => name,
    annotations = {},
  }: {
    readonly podOf?: (name: Standing | 'fresh' | 'first') => string
    readonly annotations?: Readonly<Record<string, string>>
  } = {},
): Promise<() => Promise<void>> {
  const asks = (standing: Standing) => ({ ...annotations, 'ipkeeper.io/ip': addresses[standing] })
  const add = (
    name: Standing | 'first',
    own: Readonly<Record<string, string>>,
  ): Promise<() => Promise<void>> => runPod(cluster, node, podOf(name), own)
  const end = await add('live', asks('live'))
  await (
    await add('kept', { ...asks('kept'), 'ipkeeper.io/retain': 'forever' })
  )()
  await (
    await add('first', asks('cooling'))
  )()
  const reserved = await node.daemon.control('reserve', addresses.reserved, `shop/${podOf('reserved')}`)
  if (reserved.exit !== 0) throw new Error(reserved.stderr)
  for (const name of ['kept', 'reserved', 'fresh'] as const)
    await createPod(cluster, podOf(name), annotations)
  await createPod(cluster, podOf('cooling'), asks('cooling'))
  return end
}
