import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { LeaseStore } from '../../ipkeeper-server/store/lease-store.ts'
import type { SharedStore } from '../../ipkeeper-server/store/shared/shared-store.ts'
import { EngineDouble } from '../rigs/engine-double.ts'
import { copyJournal, openSharedStore } from '../rigs/shared-store.ts'
import { leaseStoreContract } from './lease-store-contract.ts'

for (const piecewise of [false, true]) {
  t.test(piecewise ? 'an engine that writes piece by piece' : 'an engine with transactions', async t => {
    const engines = new Map<LeaseStore, { readonly engine: EngineDouble; readonly journal: string }>()

    const open = async (t: Test, engine: EngineDouble, journal: string): Promise<SharedStore> => {
      const store = openSharedStore(t, engine.connect({ piecewise }), journal)
      await store.load(() => undefined)
      engines.set(store, { engine, journal })
      return store
    }

    leaseStoreContract(t, {
      open: async t => await open(t, new EngineDouble(), join(t.testdir({}), 'journal.db')),
      reopen: async (t, store) => {
        const before = engines.get(store)
        if (!before) throw new Error('not one of ours')
        return await open(t, before.engine, copyJournal(before.journal))
      },
    })
    return Promise.resolve()
  })
}
