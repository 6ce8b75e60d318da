import { join, resolve } from 'node:path'
import { Problem } from '../shared/problem/problem.ts'
import type { EtcdTerms } from './config/load-config.ts'
import type { LeaseStore, StoreStatus } from './store/lease-store.ts'
import { MemoryStore } from './store/memory/memory-store.ts'
import type { Engine } from './store/shared/engine.ts'
import { SharedStore, type SharedStoreOptions } from './store/shared/shared-store.ts'
import { SqliteStore } from './store/sqlite/sqlite-store.ts'
import type { StoreSpec } from './store/store-spec.ts'

type SharedSpec = Extract<StoreSpec, { kind: 'kubernetes' | 'etcd' }>

export interface OpenStoreOptions {
  readonly stateDir: string
  readonly node: string
  readonly etcd: EtcdTerms
  readonly onStatus: (status: StoreStatus) => void
  readonly onLost: SharedStoreOptions['onLost']
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
    case 'etcd':
      return shared(await engineOf(spec, options), options)
  }
}

/** Clients of engines are loaded only where they are wanted. */
async function engineOf(spec: SharedSpec, { etcd }: OpenStoreOptions): Promise<Engine> {
  if (spec.kind !== 'etcd') throw new Problem('IPK_USAGE', `--store ${spec.kind}: is not built in yet`)
  const { openEtcdAccess } = await import('./store/etcd/etcd-access.ts')
  const { EtcdEngine } = await import('./store/etcd/etcd-engine.ts')
  const access = openEtcdAccess(spec.endpoints, etcd, () => performance.now())
  return new EtcdEngine({ access, prefix: etcd.prefix })
}

function shared(engine: Engine, { stateDir, node, onStatus, onLost }: OpenStoreOptions): SharedStore {
  return new SharedStore({
    engine,
    journal: SqliteStore.open(join(stateDir, 'journal.db')),
    node,
    now: Date.now,
    monotonic: () => performance.now(),
    onStatus,
    onLost,
  })
}
