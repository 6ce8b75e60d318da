import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { diskFaultOf, fileFaultOf } from '../../../../ipkeeper-server/store/room/disk-fault-of.ts'
import { Problem } from '../../../../shared/problem/problem.ts'

const failure = (facts: object, cause?: unknown): Error =>
  Object.assign(new Error('it failed', { cause }), facts)

t.test('what an error says of the disk', t => {
  const folder = t.testdir({})
  for (const [name, error, fault] of [
    ['of the system', failure({ code: 'EDQUOT' }), 'EDQUOT'],
    [
      'the cause of a problem',
      new Problem('IPK_STORE_FAILED', 'x', { cause: failure({ code: 'EROFS' }) }),
      'EROFS',
    ],
    ['the cause of the cause', failure({}, failure({}, failure({ code: 'EIO' }))), 'EIO'],
    ['SQLITE_FULL', failure({ code: 'ERR_SQLITE_ERROR', errcode: 13 }), 'ENOSPC'],
    ['SQLITE_IOERR_WRITE, and the disk takes a block', failure({ errcode: 10 | (3 << 8) }), undefined],
    ['SQLITE_BUSY', failure({ errcode: 5 }), undefined],
    ['no permission', failure({ code: 'EACCES' }), undefined],
    ['no error', 'ENOSPC', undefined],
  ] as const)
    t.equal(diskFaultOf(error, folder), fault, name)
  t.equal(diskFaultOf(failure({ errcode: 10 }), join(folder, 'none')), undefined, 'a folder that is gone')
  t.end()
})

t.test("SQLite's own words: a database that must not grow is full", t => {
  const folder = t.testdir({})
  mkdirSync(join(folder, 'a'))
  const database = new DatabaseSync(join(folder, 'a', 'x.db'))
  database.exec('PRAGMA max_page_count = 2; CREATE TABLE x (y)')
  let thrown: unknown
  try {
    database.exec('INSERT INTO x VALUES (zeroblob(100000))')
  } catch (error) {
    thrown = error
  }
  database.close()
  t.equal(diskFaultOf(thrown, folder), 'ENOSPC')
  t.end()
})

t.test('what an error says of one file', t => {
  const path = join(t.testdir({ 'leases.db': '' }), 'leases.db')
  writeFileSync(path, Buffer.alloc(90_000))
  const limit = (bytes: string) => () =>
    `Max cpu time   unlimited unlimited seconds\nMax file size             ${bytes} unlimited bytes\n`
  const refused = new Problem('IPK_STORE_FAILED', 'x', { cause: failure({ errcode: 10 | (3 << 8) }) })
  for (const [name, error, bytes, found] of [
    ['of the system', failure({ code: 'EFBIG' }), 'unlimited', { fault: 'EFBIG', path }],
    [
      'with its file',
      failure({ code: 'EPERM', path: '/s/x' }),
      'unlimited',
      { fault: 'EPERM', path: '/s/x' },
    ],
    ['of SQLite, near the limit', refused, '102400', { fault: 'EFBIG', path }],
    ['of SQLite, far from it', refused, '1024000', undefined],
    ['of SQLite, without a limit', refused, 'unlimited', undefined],
    ['SQLITE_BUSY', failure({ errcode: 5 }), '102400', undefined],
    ['another one', failure({ code: 'EACCES' }), '102400', undefined],
  ] as const)
    t.strictSame(fileFaultOf(error, path, limit(bytes)), found, name)
  try {
    execFileSync('chattr', ['+i', path], { stdio: 'ignore' })
  } catch {
    t.end()
    return
  }
  try {
    t.strictSame(fileFaultOf(refused, path, limit('unlimited')), { fault: 'EPERM', path }, 'chattr +i')
  } finally {
    // Before the folder is removed.
    execFileSync('chattr', ['-i', path])
  }
  t.end()
})
