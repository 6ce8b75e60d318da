import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openEtcdAccess } from '../../ipkeeper-server/store/etcd/etcd-access.ts'
import { EtcdEngine } from '../../ipkeeper-server/store/etcd/etcd-engine.ts'
import type { LeaseStore } from '../../ipkeeper-server/store/lease-store.ts'
import type { SharedStore } from '../../ipkeeper-server/store/shared/shared-store.ts'
import { startEtcdCluster } from '../rigs/etcd.ts'
import { missing } from '../rigs/requirements.ts'
import { copyJournal, openSharedStore } from '../rigs/shared-store.ts'
import { leaseStoreContract } from './lease-store-contract.ts'

for (const members of [1, 3] as const) {
  t.test(`etcd with ${members} member(s)`, { skip: missing('etcd') }, async t => {
    const etcd = await startEtcdCluster(t, { members })
    const places = new Map<LeaseStore, { readonly prefix: string; readonly journal: string }>()
    let ledgers = 0

    const open = async (t: Test, prefix: string, journal: string): Promise<SharedStore> => {
      const access = openEtcdAccess(etcd.urls, { prefix }, () => performance.now())
      const store = openSharedStore(t, new EtcdEngine({ access, prefix, node: 'n1' }), journal)
      await store.load(() => undefined)
      places.set(store, { prefix, journal })
      return store
    }

    leaseStoreContract(t, {
      open: async t => await open(t, `/ledger-${++ledgers}/`, join(t.testdir({}), 'journal.db')),
      reopen: async (t, store) => {
        const before = places.get(store)
        if (!before) throw new Error('not one of ours')
        return await open(t, before.prefix, copyJournal(before.journal))
      },
    })
  })
}
