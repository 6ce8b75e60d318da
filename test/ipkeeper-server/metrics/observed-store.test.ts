import t from 'tap'
import { ObservedStore } from '../../../ipkeeper-server/metrics/observed-store.ts'
import { MemoryStore } from '../../../ipkeeper-server/store/memory/memory-store.ts'
import { leaseStoreContract } from '../../contract/lease-store-contract.ts'
import { poolRecord } from '../../rigs/records.ts'

const deaf = { committed: () => undefined, failed: () => undefined }

t.test('is a store like the one inside', t => {
  leaseStoreContract(t, {
    open: async () => Promise.resolve(new ObservedStore(new MemoryStore(), deaf)),
    reopen: undefined,
  })
  t.end()
})

t.test('tells of changes that were made and of what was refused', async t => {
  const told: string[] = []
  const inner = new MemoryStore()
  const store = new ObservedStore(inner, {
    committed: seconds => told.push(seconds >= 0 && seconds < 60 ? 'committed' : `after ${seconds} s`),
    failed: operation => told.push(`${operation} failed`),
  })
  t.strictSame([store.kind, store.location], [inner.kind, inner.location])
  const write = { kind: 'pool', key: 'a', expect: null, record: poolRecord('a') } as const
  await store.commit([write])
  await t.rejects(store.commit([write]), { name: 'StoreConflict' })
  t.strictSame(told, ['committed'], 'who was forestalled did not fail')
  await store.close()
  told.length = 0
  const rule = { olderThan: 0, maxEntries: 1, now: 0 }
  const refused = [
    () => store.load(() => undefined),
    () => store.read('pool', 'a'),
    () => store.commit([write]),
    () => store.history({ limit: 1 }),
    () => store.pruneHistory(rule),
    () => store.probe(),
  ]
  for (const step of refused)
    await t.rejects(
      Promise.resolve(step()).then(() => undefined),
      { code: 'IPK_STORE_FAILED' },
    )
  t.strictSame(
    told,
    ['load', 'read', 'commit', 'history', 'prune', 'probe'].map(name => `${name} failed`),
  )
})
