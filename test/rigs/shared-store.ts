import { cpSync } from 'node:fs'
import { SharedStore, type SharedStoreOptions } from '../../ipkeeper-server/store/shared/shared-store.ts'
import type { Journal } from '../../ipkeeper-server/store/shared/journal.ts'
import type { Engine } from '../../ipkeeper-server/store/shared/engine.ts'
import { SqliteStore } from '../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { TestService } from '../ipkeeper-server/leases/test-service.ts'
import type { Scope } from './teardown.ts'

/**
 * The store of one node, closed with the test. What it says of its way is heard by nobody, unless `options` say so.
 *
 * @param options node: what it is called, where it has that one name all the time; n1 unless set
 */
export function openSharedStore(
  t: Scope,
  engine: Engine,
  journal: string | Journal,
  { node = 'n1', ...options }: Partial<SharedStoreOptions> & { readonly node?: string } = {},
): SharedStore {
  const store = new SharedStore({
    engine,
    journal: typeof journal === 'string' ? SqliteStore.open(journal) : journal,
    names: () => [node],
    now: Date.now,
    monotonic: () => performance.now(),
    bootId: 'boot-1',
    onStatus: () => undefined,
    onLost: () => undefined,
    ...options,
  })
  t.teardown(() => store.close())
  return store
}

/** The leases of one node, in such a store. */
export async function openSharedLeases(...args: Parameters<typeof openSharedStore>): Promise<TestService> {
  return await TestService.open(openSharedStore(...args), 'release', args[3]?.node)
}

/** A journal as a daemon leaves it that is killed now; returns where the copy is. */
export function copyJournal(journal: string, copy = `${journal}-after`): string {
  for (const suffix of ['', '-wal']) cpSync(journal + suffix, copy + suffix)
  return copy
}
