import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { LeaseStore } from '../../ipkeeper-server/store/lease-store.ts'
import type { SharedStore } from '../../ipkeeper-server/store/shared/shared-store.ts'
import { apiVersion } from '../../ipkeeper-server/store/kubernetes/resources.ts'
import { startCluster } from '../rigs/cluster.ts'
import { installCustomResources, openEngine } from '../rigs/custom-resources.ts'
import { missing } from '../rigs/requirements.ts'
import { copyJournal, openSharedStore } from '../rigs/shared-store.ts'
import { leaseStoreContract } from './lease-store-contract.ts'

t.test('a store whose engine is the Kubernetes API', { skip: missing('cluster') }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const journals = new Map<LeaseStore, string>()

  const open = async (t: Test, journal: string): Promise<SharedStore> => {
    const store = openSharedStore(t, openEngine(t, cluster).engine, journal)
    await store.load(() => undefined)
    journals.set(store, journal)
    return store
  }

  /** Every test begins with an empty ledger. */
  const clean = async (): Promise<void> => {
    for (const plural of ['ipleases', 'ipholders', 'ippools', 'ipnodes'])
      await cluster.request('DELETE', `/apis/${apiVersion}/${plural}`)
    await cluster.request('DELETE', `/apis/${apiVersion}/namespaces/shop/ipreservations`)
  }

  leaseStoreContract(t, {
    typed: true,
    open: async t => {
      await clean()
      return await open(t, join(t.testdir({}), 'journal.db'))
    },
    reopen: async (t, store) => {
      const before = journals.get(store)
      if (before === undefined) throw new Error('not one of ours')
      return await open(t, copyJournal(before))
    },
  })
})
