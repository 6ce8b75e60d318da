import { join, resolve } from 'node:path'
import { Problem } from '../shared/problem/problem.ts'
import type { LeaseStore } from './store/lease-store.ts'
import { MemoryStore } from './store/memory/memory-store.ts'
import { SqliteStore } from './store/sqlite/sqlite-store.ts'
import type { StoreSpec } from './store/store-spec.ts'

/**
 * Opens the store that is wanted. A part of serve.ts, which names the rest of the concrete classes.
 *
 * @param spec undefined: sqlite in the state folder
 */
export function openStore(spec: StoreSpec | undefined, stateDir: string): LeaseStore {
  switch (spec?.kind) {
    case undefined:
      return SqliteStore.open(join(stateDir, 'leases.db'))
    case 'sqlite':
      return SqliteStore.open(resolve(spec.path))
    case 'memory':
      return new MemoryStore()
    case 'kubernetes':
    case 'etcd':
      throw new Problem('IPK_USAGE', `--store ${spec.kind}: is not built in yet`)
  }
}
