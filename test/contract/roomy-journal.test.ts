import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Room } from '../../ipkeeper-server/store/room/room.ts'
import { RoomyJournal } from '../../ipkeeper-server/store/room/roomy-journal.ts'
import { SqliteStore } from '../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { leaseStoreContract } from './lease-store-contract.ts'

function openRoomy(t: Test, folder: string, path: string): RoomyJournal {
  const room = new Room({
    folder,
    ...{ now: Date.now, monotonic: () => performance.now() },
    ...{ onSpent: () => undefined, onWhole: () => undefined },
  })
  const store = new RoomyJournal(SqliteStore.open(path), room)
  t.teardown(async () => {
    await store.close()
    await room.close()
  })
  return store
}

// What it does on a full disk is in test/privileged/full-disk.test.ts.
leaseStoreContract(t, {
  open: t => {
    const folder = t.testdir({})
    return Promise.resolve(openRoomy(t, folder, join(folder, 'leases.db')))
  },
  reopen: (t, store) => {
    const copy = `${store.location}-after`
    for (const suffix of ['', '-wal']) cpSync(store.location + suffix, copy + suffix)
    return Promise.resolve(openRoomy(t, join(copy, '..'), copy))
  },
})
