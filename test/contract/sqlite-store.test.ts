import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SqliteStore } from '../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { leaseStoreContract } from './lease-store-contract.ts'

leaseStoreContract(t, {
  open: async t => {
    const store = SqliteStore.open(join(t.testdir({}), 'leases.db'))
    t.teardown(() => store.close())
    return Promise.resolve(store)
  },
  // A copy of the files as they are, without closing them first, is what a killed process leaves.
  reopen: async (t, store) => {
    const copy = `${store.location}-after`
    for (const suffix of ['', '-wal']) cpSync(store.location + suffix, copy + suffix)
    const again = SqliteStore.open(copy)
    t.teardown(() => again.close())
    return Promise.resolve(again)
  },
})
