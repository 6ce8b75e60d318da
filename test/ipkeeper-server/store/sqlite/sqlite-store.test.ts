import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { SqliteStore } from '../../../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { lease, putLease } from '../../../rigs/records.ts'
import { makeOldLayout } from '../../../rigs/old-layout.ts'

function problemOf(open: () => unknown): Problem | undefined {
  try {
    open()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  return undefined
}

t.test('a second process is kept out', async t => {
  const path = join(t.testdir({}), 'leases.db')
  const store = SqliteStore.open(path)
  await store.commit([putLease(lease('10.0.0.2'), null)])
  const problem = problemOf(() => SqliteStore.open(path))
  t.match(problem?.message, /in use by another process/)
  t.match(problem?.hint, /--state-dir/)
  await store.close()
  await SqliteStore.open(path).close()
})

/** How many transactions a closed store has made. */
function transactionsOf(path: string): unknown {
  const database = new DatabaseSync(path)
  const row = database.prepare('SELECT commits FROM seal').get()
  database.close()
  return row?.['commits']
}

for (const { name, atOnce, turns, transactions } of [
  { name: 'one that is alone', atOnce: 1, turns: 1, transactions: 1 },
  { name: 'changes of one turn', atOnce: 5, turns: 1, transactions: 1 },
  { name: 'changes of two turns', atOnce: 2, turns: 2, transactions: 1 },
  { name: 'changes that come without end', atOnce: 1, turns: 12, transactions: 6 },
])
  t.test(`${name}: a transaction for those of a turn and the next`, async t => {
    const path = join(t.testdir({}), 'leases.db')
    const store = SqliteStore.open(path)
    const commits: Promise<void>[] = []
    for (let turn = 0; turn < turns; turn++) {
      for (let one = 0; one < atOnce; one++)
        commits.push(store.commit([putLease(lease(`10.0.${turn}.${one}`), null)]))
      await nextTurn()
    }
    await Promise.all(commits)
    await store.close()
    t.equal(transactionsOf(path), transactions)
  })

t.test('a file that is no database', t => {
  const path = join(t.testdir({}), 'leases.db')
  writeFileSync(
    path,
    'this is no database, and longer than a header of one hundred bytes has to be to be looked at'.repeat(3),
  )
  t.match(
    problemOf(() => SqliteStore.open(path)),
    { code: 'IPK_STORE_FAILED', message: /not a database/ },
  )
  t.end()
})

t.test('a layout from a newer version is refused, not touched', t => {
  const path = join(t.testdir({}), 'leases.db')
  const newer = new DatabaseSync(path)
  newer.exec('PRAGMA user_version = 999')
  newer.close()
  t.match(
    problemOf(() => SqliteStore.open(path)),
    {
      code: 'IPK_STORE_FAILED',
      message:
        /^store \S+leases\.db: layout 999 is newer than this version of ipkeeper-server knows \(\d+\)$/,
      // Another store would be empty, and give addresses again that pods have.
      hint: /^start the newer ipkeeper-server again, or put the copy .* back; see .*docs\/operations\/upgrade\.md$/,
    },
  )
  t.end()
})

t.test('a database from before there was a history', async t => {
  const path = join(t.testdir({}), 'leases.db')
  const old = new DatabaseSync(path)
  makeOldLayout(old, 1)
  const records = [
    lease('10.0.0.2', 3, { since: 1_700_000_000_000, source: 'line\nbreak "ü"' }),
    lease('10.0.0.3', 1, { state: 'held', attachment: null, since: 20, until: null, podUid: null }),
    lease('10.0.0.4', 1, { state: 'cooling', attachment: null, since: 30, until: 40 }),
  ]
  const put = old.prepare('INSERT INTO record (kind, key, generation, body) VALUES (?, ?, ?, ?)')
  for (const record of records)
    put.run('lease', putLease(record, null).key, record.generation, JSON.stringify(record))
  put.run('pool', 'net', 1, '{"generation":1,"name":"net","segment":"default","ranges":[]}')
  old.close()

  const store = SqliteStore.open(path)
  t.teardown(() => store.close())
  t.strictSame(await store.read('lease', putLease(lease('10.0.0.2'), null).key), records[0])
  const { holder } = lease('10.0.0.2')
  const common = { id: 0, segment: 'default', pool: 'net', holder, node: 'n1' }
  t.strictSame(
    (await store.history({ limit: 10 })).map(entry => ({ ...entry, id: 0 })),
    [
      {
        ...common,
        ...{ address: '10.0.0.4', at: 30, since: 30, event: 'cooling', podUid: 'u1', containerId: null },
        ...{ source: 'annotation ipkeeper.io/ip', until: 40 },
      },
      {
        ...common,
        ...{ address: '10.0.0.3', at: 20, since: 20, event: 'held', podUid: null, containerId: null },
        ...{ source: 'annotation ipkeeper.io/ip', until: null },
      },
      {
        ...common,
        ...{ address: '10.0.0.2', at: 1_700_000_000_000, since: 1_700_000_000_000, event: 'bound' },
        ...{ podUid: 'u1', containerId: 'c1', source: 'line\nbreak "ü"', until: null },
      },
    ],
    'each lease has the entry that would have begun it',
  )
  t.equal(await store.pruneHistory({ olderThan: 2 ** 52, maxEntries: 10, now: 50 }), 1, 'what is over goes')
})

for (const leases of [999, 1000, 1001, 2500]) {
  t.test(`a database from before there were checksums: ${leases} leases`, async t => {
    const path = join(t.testdir({}), 'leases.db')
    const old = new DatabaseSync(path)
    makeOldLayout(old, 3)
    old.exec('BEGIN')
    const put = old.prepare('INSERT INTO record (kind, key, generation, body) VALUES (?, ?, ?, ?)')
    const note = old.prepare('INSERT INTO note (kind, key, body) VALUES (?, ?, ?)')
    const entry = old.prepare('INSERT INTO history (segment, address, at, ends, body) VALUES (?, ?, ?, ?, ?)')
    for (let index = 0; index < leases; index++) {
      const record = lease(`10.0.${index >> 8}.${index & 255}`)
      put.run('lease', putLease(record, null).key, record.generation, JSON.stringify(record))
      const { holder } = record
      const body = JSON.stringify({ event: 'bound', since: index, holder, until: null })
      note.run('told', `key ${index}`, '{}')
      entry.run('default', record.address, index, null, body)
    }
    old.exec('COMMIT')
    old.close()

    const store = SqliteStore.open(path)
    t.teardown(() => store.close())
    let read = 0
    // Every one of them is compared with its checksum, and all together with the seal.
    await store.load(() => read++)
    store.loadNotes(() => read++)
    t.equal(read, 2 * leases)
    t.strictSame(await store.file.verify(true), [], 'nor is an entry of the history damaged')
    t.equal(store.file.fault(), undefined)
  })
}

t.test('an I/O failure rejects the change, and later ones work again', async t => {
  const path = join(t.testdir({}), 'leases.db')
  const store = SqliteStore.open(path)
  t.teardown(() => store.close())
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const broken = { ...lease('10.0.0.3'), mac: circular as unknown as string }
  const outcomes = await Promise.allSettled([
    store.commit([putLease(lease('10.0.0.2'), null)]),
    store.commit([putLease(broken, null)]),
  ])
  t.strictSame(
    outcomes.map(outcome => outcome.status),
    ['rejected', 'rejected'],
    'the whole transaction is rolled back',
  )
  await store.commit([putLease(lease('10.0.0.2'), null)])
  t.equal(await store.read('lease', putLease(broken, null).key), undefined)
})

t.test('a probe is a write: it would fail where a change fails', async t => {
  const path = join(t.testdir({}), 'leases.db')
  const store = SqliteStore.open(path)
  t.teardown(() => store.close())
  await store.commit([putLease(lease('10.0.0.2'), null)])
  const size = (): number => statSync(`${path}-wal`).size
  const before = size()
  await store.probe()
  t.ok(size() >= before + 4096, 'one page more in the log')
  await store.close()
  const again = SqliteStore.open(path)
  t.teardown(() => again.close())
  t.equal((await again.read('lease', putLease(lease('10.0.0.2'), null).key))?.generation, 1)
})
