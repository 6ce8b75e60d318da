import { DatabaseSync } from 'node:sqlite'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { storeCheck } from '../../../../ipkeeper-server/diagnose/doctor/checks/store.ts'
import type { NodeView } from '../../../../ipkeeper-server/diagnose/doctor/node-view.ts'
import { missingLedgerIn } from '../../../../ipkeeper-server/open-ledger/ledger-traces.ts'
import { migrations } from '../../../../ipkeeper-server/store/sqlite/migrations.ts'
import { SqliteStore } from '../../../../ipkeeper-server/store/sqlite/sqlite-store.ts'

const setLayout = (path: string, layout: number): void => {
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA user_version = ${layout}`)
  database.close()
}

/** What is seen of a folder whose daemon does not run. */
const look = async (stateDir: string): Promise<unknown> =>
  await storeCheck.run({
    ...{ stateDir, missingLedger: missingLedgerIn, status: () => Promise.resolve(undefined) },
  } as unknown as NodeView)

t.test('a daemon that does not start', async t => {
  for (const { name, make, state, says } of [
    { name: 'no store yet', make: () => undefined, state: 'ok', says: /MiB free$/ },
    {
      name: 'a store of this version',
      make: async (path: string) => SqliteStore.open(path).close(),
      state: 'ok',
      says: /MiB free$/,
    },
    {
      name: 'a store of a newer version',
      make: (path: string) => {
        setLayout(path, 999)
      },
      state: 'fail',
      says: new RegExp(`leases\\.db is of a newer .* \\(layout 999, this one knows ${migrations.length}\\)`),
    },
    {
      name: 'a file with nothing in it',
      make: (path: string) => {
        writeFileSync(path, '')
      },
      state: 'fail',
      says: /leases\.db is empty \(0 bytes\), as no ledger ever is/,
    },
    {
      name: 'a ledger that is gone',
      make: async (path: string) => {
        const store = SqliteStore.open(path)
        store.begin()
        await store.close()
        rmSync(path)
      },
      state: 'fail',
      says: /there is no ledger in \S+, and there was one: last-change\.leases\.db: the daemon does not begin anew/,
    },
    {
      name: 'a journal that is gone',
      make: (path: string) => {
        writeFileSync(join(dirname(path), 'last-change.journal.db'), '')
      },
      state: 'fail',
      says: /there is no ledger in \S+, and there was one: last-change\.journal\.db/,
    },
    {
      name: 'a journal, and what is left of an embedded store of before',
      make: async (path: string) => {
        writeFileSync(join(dirname(path), 'last-change.leases.db'), '')
        await SqliteStore.open(join(dirname(path), 'journal.db')).close()
      },
      state: 'ok',
      says: /MiB free$/,
    },
  ] as const) {
    const folder = t.testdir({})
    chmodSync(folder, 0o700)
    await make(join(folder, 'leases.db'))
    t.match(await look(folder), { state, says }, name)
  }
})
