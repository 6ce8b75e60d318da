import { DatabaseSync } from 'node:sqlite'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { missingLedgerIn } from '../../../../../ipkeeper-server/open-ledger/ledger-traces.ts'
import { migrations } from '../../../../../ipkeeper-server/store/sqlite/migrations.ts'
import { SqliteStore } from '../../../../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import t from 'tap'
import { engineCheck, storeCheck } from '../../../../../ipkeeper-server/diagnose/doctor/checks/store.ts'
import type { NodeView } from '../../../../../ipkeeper-server/diagnose/doctor/probe-node.ts'
import type { StatusReply } from '../../../../../shared/api/listing.schema.ts'

const look = async (store: Partial<StatusReply['store']>): Promise<unknown> => {
  const status = { store: { kind: 'etcd', location: 'https://10.0.0.1:2379', ...store } }
  return await engineCheck.run({ status: () => Promise.resolve(status) } as unknown as NodeView)
}
const since = '2026-11-21T10:00:00.000Z'
const where = 'etcd https://10.0.0.1:2379'
const lost = { state: 'incomplete', reason: 'it is another cluster than before', since } as const

const cases: readonly (readonly [what: string, store: Partial<StatusReply['store']>, finding: object])[] = [
  ["this node's own", {}, { state: 'skip' }],
  ['ready', { state: 'ready', owed: 0 }, { state: 'ok', says: where }],
  [
    'away',
    { state: 'away', reason: 'ECONNREFUSED', since, owed: 2 },
    { state: 'fail', says: /has been unreachable since/ },
  ],
  [
    'deaf',
    { state: 'ready', reason: 'no watch is open', since },
    { state: 'warn', says: /are not received since/ },
  ],
  [
    'incomplete',
    { ...lost, owed: 0, waitsFor: ['n3', 'n4'] },
    {
      state: 'fail',
      says: `${where} has lost records (it is another cluster than before), and no new address is assigned since ${since}; waiting for n3, n4`,
      mend: ['ipkeeperctl', 'status'],
    },
  ],
  [
    'incomplete, and waits for nobody else',
    { ...lost, owed: 7, waitsFor: [] },
    {
      state: 'fail',
      says: /no new address is assigned since 2026-11-21T10:00:00\.000Z; 7 pending writes$/,
    },
  ],
]
for (const [what, store, finding] of cases) {
  t.test(what, async t => {
    t.match(await look(store), finding)
  })
}

const setLayout = (path: string, layout: number): void => {
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA user_version = ${layout}`)
  database.close()
}

/** What is seen of a folder whose daemon does not run. */
const lookAtFolder = async (stateDir: string): Promise<unknown> =>
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
      says: /there is no ledger in \S+, and there was one: last-change\.leases\.db: the daemon does not create a new one/,
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
    t.match(await lookAtFolder(folder), { state, says }, name)
  }
})
