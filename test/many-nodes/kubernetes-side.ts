import type { HolderRecord, LeaseRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import { createNamespace, createNode, ipkeeperToken } from '../rigs/cluster-node.ts'
import { startCluster } from '../rigs/cluster.ts'
import { installCustomResources } from '../rigs/custom-resources.ts'
import type { LanHost } from '../rigs/lan.ts'
import { seenHolder, seenLease, type EngineSide } from './engine-side.ts'
import type { Scope } from '../rigs/teardown.ts'

const root = '/apis/ipkeeper.io/v1alpha1'

/** Of the API server, in each machine. */
const port = 6443

/** Objects leave out what is null in a record. */
const withNulls = <Found extends LeaseRecord | HolderRecord>(spec: Found): Found => ({
  ...{ attachment: null },
  ...spec,
})

/**
 * Starts an API server that each machine reaches, and knows as a Node: a node that the API does not have is a lost one.
 * While it is away, connections to it are taken and break.
 */
export async function startKubernetesSide(t: Scope, hosts: readonly LanHost[]): Promise<EngineSide> {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  await createNamespace(cluster, 'shop')
  const kubeconfig = cluster.kubeconfigFor({ token: await ipkeeperToken(cluster) })
  for (const host of hosts) {
    await createNode(cluster, host.name)
    await cluster.exposeIn(host)
  }
  const specs = async <Found extends LeaseRecord | HolderRecord>(
    plural: string,
  ): Promise<readonly Found[]> => {
    const { items } = await cluster.request('GET', `${root}/${plural}`)
    return (items as { spec: Found }[]).map(({ spec }) => withNulls(spec))
  }
  return {
    ledger: {
      store: 'kubernetes:',
      config: { kubernetes: { mode: 'kubeconfig', kubeconfig } },
      ports: [port],
    },
    servers: [
      {
        name: 'kube-apiserver',
        kill: () => cluster.stop('SIGKILL'),
        start: () => cluster.start(),
        freeze: () => {
          cluster.freeze()
        },
        thaw: () => {
          cluster.thaw()
        },
      },
    ],
    compact: () => cluster.compact(),
    read: async () => ({
      leases: (await specs<LeaseRecord>('ipleases')).map(seenLease),
      holders: (await specs<HolderRecord>('ipholders')).map(seenHolder),
    }),
  }
}
