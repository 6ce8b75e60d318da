import { join, resolve } from 'node:path'
import { Problem } from '../shared/problem/problem.ts'
import { readPoolSpec } from './config/read-pool-object.ts'
import type { EtcdTerms } from './config/load-config.ts'
import type { ApiAccess } from './kubernetes/api-access.ts'
import type { ClusterLog } from './kubernetes/cluster-log.ts'
import type { LeaseStore, StoreStatus } from './store/lease-store.ts'
import { MemoryStore } from './store/memory/memory-store.ts'
import type { Engine } from './store/shared/engine.ts'
import { SharedStore, type SharedStoreOptions } from './store/shared/shared-store.ts'
import { SqliteStore } from './store/sqlite/sqlite-store.ts'
import type { StoreSpec } from './store/store-spec.ts'

export interface OpenStoreOptions {
  readonly stateDir: string
  readonly node: string
  /** To the Kubernetes API; undefined where there is none. */
  readonly access: ApiAccess | undefined
  readonly log: ClusterLog
  readonly etcd: EtcdTerms
  readonly onStatus: (status: StoreStatus) => void
  /** Whether leases of a pool are bound or kept. */
  readonly isPoolInUse: (name: string) => boolean
  readonly onLost: SharedStoreOptions['onLost']
  readonly offline?: SharedStoreOptions['offline']
}

/**
 * Opens the store that is wanted. A part of serve.ts, which names the rest of the concrete classes.
 *
 * @param spec undefined: sqlite in the state folder
 */
export async function openStore(spec: StoreSpec | undefined, options: OpenStoreOptions): Promise<LeaseStore> {
  switch (spec?.kind) {
    case undefined:
      return SqliteStore.open(join(options.stateDir, 'leases.db'))
    case 'sqlite':
      return SqliteStore.open(resolve(spec.path))
    case 'memory':
      return new MemoryStore()
    case 'kubernetes':
      return shared(await kubernetesEngine(options), options)
    case 'etcd':
      return shared(await etcdEngine(spec.endpoints, options), options)
  }
}

// Clients of engines, and all that they stand on, are loaded only where they are wanted.

async function etcdEngine(endpoints: readonly string[], { etcd, node }: OpenStoreOptions): Promise<Engine> {
  const { openEtcdAccess } = await import('./store/etcd/etcd-access.ts')
  const { EtcdEngine } = await import('./store/etcd/etcd-engine.ts')
  const access = openEtcdAccess(endpoints, etcd, () => performance.now())
  return new EtcdEngine({ access, prefix: etcd.prefix, node })
}

/** Requests under way at once: an ADD has two or three, and a node may start many pods at a time. */
const engineRequests = 32

async function kubernetesEngine({ access, log, isPoolInUse }: OpenStoreOptions): Promise<Engine> {
  if (!access) {
    throw new Problem('IPK_USAGE', '--store kubernetes: there is no access to the Kubernetes API', {
      hint: 'name a kubeconfig in the configuration, kubernetes: { kubeconfig: PATH }, or run as a pod with a service account',
    })
  }
  const { ApiClient } = await import('./kubernetes/api-client.ts')
  const { KubernetesEngine } = await import('./store/kubernetes/kubernetes-engine.ts')
  return new KubernetesEngine({
    client: new ApiClient(access, { requests: engineRequests }),
    log,
    isPoolInUse,
    // What becomes of its addresses is no part of the record of a pool.
    readPool: (name, spec) =>
      readPoolSpec(name, spec, { retention: 'release', cooldown: 0, preferFor: 0 }).pool,
  })
}

function shared(
  engine: Engine,
  { stateDir, node, onStatus, onLost, offline }: OpenStoreOptions,
): SharedStore {
  return new SharedStore({
    engine,
    journal: SqliteStore.open(join(stateDir, 'journal.db')),
    node,
    now: Date.now,
    monotonic: () => performance.now(),
    onStatus,
    onLost,
    ...(offline && { offline }),
  })
}
