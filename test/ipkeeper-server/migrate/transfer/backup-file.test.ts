import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { readBackupFile, writeBackupFile } from '../../../../ipkeeper-server/migrate/transfer/backup-file.ts'
import { backupParts } from '../../../../ipkeeper-server/migrate/transfer/backup-lines.ts'
import { copyLedger } from '../../../../ipkeeper-server/migrate/transfer/ledger-copy.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { TestService } from '../../leases/test-service.ts'

const head = { version: '0.0.0', createdAt: '2026-01-01T00:00:00.000Z', node: 'n1', store: 'memory' }

async function write(t: Test): Promise<string> {
  const story = await TestService.open()
  for (const name of ['a', 'b', 'c']) await story.add({ pod: `web-${name}`, container: name })
  await story.add({ pod: 'fixed', container: 'd', ip: '10.22.0.77' })
  await story.del('b')
  const path = join(t.testdir(), 'ledger')
  await writeBackupFile(path, backupParts(await copyLedger(story.store), head))
  return path
}

const fault = async (path: string): Promise<Problem> =>
  await readBackupFile(path).then(
    () => {
      throw new Error('it was taken for a backup')
    },
    (error: unknown) => (error instanceof Problem ? error : Promise.reject(error as Error)),
  )

t.test('a backup is read back, packed or not', async t => {
  const path = await write(t)
  t.equal(statSync(path).mode & 0o777, 0o600, 'for nobody else')
  const packed = await readBackupFile(path)
  t.match(packed.head, { ...head, format: 1 })
  t.equal(packed.digest.history.count, 5)
  writeFileSync(path, gunzipSync(readFileSync(path)))
  t.strictSame((await readBackupFile(path)).digest, packed.digest)
})

t.test('what is not whole is refused', async t => {
  const path = await write(t)
  const text = gunzipSync(readFileSync(path)).toString()
  const lines = text.split('\n')
  const rows: Readonly<Record<string, readonly [content: string | Buffer, says: RegExp]>> = {
    'no backup': ['hello', /it is no backup of ipkeeper/],
    'other JSON': ['{"kind":"List"}\n', /it is no backup of ipkeeper/],
    empty: ['', /it is empty/],
    'cut in the middle of a line': [text.slice(0, text.indexOf('10.22.0.77')), /line \d+ is cut or broken/],
    'without its last line': [lines.slice(0, -2).join('\n'), /it ends after line \d+, before its last one/],
    'a line less': [lines.toSpliced(3, 1).join('\n'), /lines of records, and says that there are/],
    'a line twice': [lines.toSpliced(3, 0, lines[3] ?? '').join('\n'), /lines of records/],
    'another node': [
      text.replace('"node":"n1","named"', '"node":"n2","named"'),
      /its records are not those that were saved/,
    ],
    'another moment': [
      text.replace(/("history":\{[^\n]*"at":)/, '$11'),
      /its history are not those|its history/,
    ],
    'a kind that nobody knows': [text.replace('"kind":"lease"', '"kind":"loan"'), /line \d+ is no record/],
    'under another key': [
      text.replace('"key":"[\\"default\\",\\"10.22.0.77\\"]"', '"key":"x"'),
      /line \d+ is no record/,
    ],
    'something behind its end': [`${text}${lines[3] ?? ''}\n`, /is behind its end/],
    'of a later format': [text.replace('"format":1', '"format":2'), /format 2, and this ipkeeper knows 1/],
    'packed and cut': [gzipSync(text).subarray(0, -12), /cannot be read \(it is cut off\)/],
  }
  for (const [what, [content, says]] of Object.entries(rows)) {
    writeFileSync(path, content)
    const problem = await fault(path)
    t.equal(problem.code, 'IPK_BACKUP_INVALID', what)
    t.match(problem.message, says, what)
    t.not(problem.hint, '', what)
  }
  t.match(await fault(join(t.testdirName, 'none')), {
    message: /cannot be read \(ENOENT\)/,
    hint: 'there is no such file: name another one',
  })
})

t.test('a backup into a folder that is not there says so', async t => {
  async function* nothing(): AsyncGenerator<string> {
    yield await Promise.resolve('')
  }
  await t.rejects(writeBackupFile(join(t.testdir({}), 'none', 'ledger'), nothing()), {
    code: 'IPK_BACKUP_INVALID',
    hint: /^there is no folder \S+\/none: make it/,
  })
})

t.test('a backup that fails leaves the earlier one, and nothing else', async t => {
  const path = await write(t)
  const before = readFileSync(path)
  async function* broken(): AsyncGenerator<string> {
    yield await Promise.resolve('{"ipkeeper":"backup"')
    throw new Problem('IPK_INTERRUPTED', 'interrupted')
  }
  await t.rejects(writeBackupFile(path, broken()), { code: 'IPK_INTERRUPTED' })
  async function* cut(): AsyncGenerator<string> {
    yield await Promise.resolve(`${JSON.stringify({ ipkeeper: 'backup', format: 1, ...head })}\n`)
  }
  await t.rejects(writeBackupFile(path, cut()), { code: 'IPK_BACKUP_INVALID' }, 'an answer that ended early')
  t.ok(readFileSync(path).equals(before))
  t.notOk(existsSync(`${path}.unfinished`))
})
