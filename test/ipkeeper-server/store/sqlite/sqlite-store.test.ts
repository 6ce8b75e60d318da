import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { SqliteStore } from '../../../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { lease, putLease } from '../../../contract/lease-store-contract.ts'

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
    { code: 'IPK_STORE_FAILED', message: /newer than this version/ },
  )
  t.end()
})

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
