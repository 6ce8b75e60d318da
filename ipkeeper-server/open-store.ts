import { join, resolve } from 'node:path'
import { Problem } from '../shared/problem/problem.ts'
import type { LeaseStore, StoreStatus } from './store/lease-store.ts'
import { MemoryStore } from './store/memory/memory-store.ts'
import type { Engine } from './store/shared/engine.ts'
import { SharedStore, type SharedStoreOptions } from './store/shared/shared-store.ts'
import { SqliteStore } from './store/sqlite/sqlite-store.ts'
import type { StoreSpec } from './store/store-spec.ts'

export interface OpenStoreOptions {
  readonly stateDir: string
  readonly node: string
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
      return shared(await engineOf(spec), options)
  }
}

async function engineOf({ kind }: StoreSpec): Promise<Engine> {
  return await Promise.reject(new Problem('IPK_USAGE', `--store ${kind}: is not built in yet`))
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
