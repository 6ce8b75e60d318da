import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { LeaseStore } from '../../ipkeeper-server/store/lease-store.ts'
import { SharedStore } from '../../ipkeeper-server/store/shared/shared-store.ts'
import { SqliteStore } from '../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { EngineDouble } from '../rigs/engine-double.ts'
import { leaseStoreContract } from './lease-store-contract.ts'

for (const piecewise of [false, true]) {
  t.test(piecewise ? 'an engine that writes piece by piece' : 'an engine with transactions', async t => {
    const engines = new Map<LeaseStore, { readonly engine: EngineDouble; readonly journal: string }>()

    const open = async (t: Test, engine: EngineDouble, journal: string): Promise<SharedStore> => {
      const store = new SharedStore({
        engine: engine.connect({ piecewise }),
        journal: SqliteStore.open(journal),
        node: 'n1',
        now: Date.now,
        monotonic: () => performance.now(),
        onStatus: () => undefined,
        onLost: () => undefined,
        onUnsound: () => undefined,
      })
      t.teardown(() => store.close())
      await store.load(() => undefined)
      engines.set(store, { engine, journal })
      return store
    }

    leaseStoreContract(t, {
      open: async t => await open(t, new EngineDouble(), join(t.testdir({}), 'journal.db')),
      reopen: async (t, store) => {
        const before = engines.get(store)
        if (!before) throw new Error('not one of ours')
        const copy = `${before.journal}-after`
        for (const suffix of ['', '-wal']) cpSync(before.journal + suffix, copy + suffix)
        return await open(t, before.engine, copy)
      },
    })
    return Promise.resolve()
  })
}
