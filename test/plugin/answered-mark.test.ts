import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { leaveMark, withdrawMark } from '../../plugin/answered-mark.ts'
import { createIdentity } from '../../plugin/run-identity.ts'
import { isMarkName } from '../../shared/mark-name.ts'
import { stateFolders } from '../../shared/paths.ts'

t.test('an empty file of our own user, named like the run; folders are made when missing', t => {
  const base = t.testdir({ there: { [stateFolders.answered]: {} }, bare: {} })
  for (const stateDir of [join(base, 'there'), join(base, 'bare'), join(base, 'none')]) {
    leaveMark(stateDir, 'run-1')
    leaveMark(stateDir, 'run-2')
    const folder = join(stateDir, 'answered')
    t.strictSame(readdirSync(folder).sort(), ['run-1', 'run-2'], stateDir)
    const stats = statSync(join(folder, 'run-1'))
    t.strictSame([stats.mode & 0o777, stats.size, stats.isFile()], [0o600, 0, true])
  }
  t.equal(statSync(join(base, 'none', 'answered')).mode & 0o777, 0o700)
  t.end()
})

t.test('a name that is there has been decided upon, whatever it is', t => {
  const stateDir = t.testdir({ answered: { file: 'x', folder: {} }, victim: {} })
  symlinkSync(join(stateDir, 'victim', 'new'), join(stateDir, 'answered', 'link'))
  for (const name of ['file', 'folder', 'link'])
    t.throws(
      () => {
        leaveMark(stateDir, name)
      },
      { code: 'IPK_ANSWER_UNMARKED', message: /was restarted and has undone this ADD/ },
      name,
    )
  t.equal(readFileSync(join(stateDir, 'answered', 'file'), 'utf8'), 'x')
  t.notOk(existsSync(join(stateDir, 'victim', 'new')), 'no link is followed')
  t.end()
})

t.test('what else is in the way is named', t => {
  const base = t.testdir({ file: '', state: { answered: '' }, closed: { answered: {} } })
  const rows: readonly [stateDir: string, code: string][] = [
    [join(base, 'file'), 'ENOTDIR'],
    [join(base, 'state'), 'ENOTDIR'],
    [join(base, 'none', 'none'), 'ENOENT'],
    ['/proc/ipkeeper', 'ENOENT'],
    ['/dev/full', 'ENOTDIR'],
    [`/${'x'.repeat(5000)}`, 'ENAMETOOLONG'],
  ]
  for (const [stateDir, code] of rows)
    t.throws(
      () => {
        leaveMark(stateDir, 'run-1')
      },
      { code: 'IPK_ANSWER_UNMARKED', message: new RegExp(`cannot be noted in .*/answered \\(${code}\\)`) },
      stateDir.slice(0, 100),
    )
  t.end()
})

t.test('a mark is withdrawn, and nothing else', t => {
  const stateDir = t.testdir({ answered: { claimed: {}, other: '' }, bare: {} })
  leaveMark(stateDir, 'run-1')
  for (const name of ['run-1', 'run-1', 'claimed', 'never']) withdrawMark(stateDir, name)
  t.strictSame(readdirSync(join(stateDir, 'answered')).sort(), ['claimed', 'other'])
  withdrawMark(join(stateDir, 'bare'), 'run-1')
  t.strictSame(readdirSync(join(stateDir, 'bare')), [])
  t.end()
})

t.test('a folder that cannot be written to', t => {
  const base = t.testdir({ closed: {} })
  // Also by root: a link that leads to itself.
  symlinkSync('answered', join(base, 'closed', 'answered'))
  t.throws(
    () => {
      leaveMark(join(base, 'closed'), 'run-1')
    },
    { code: 'IPK_ANSWER_UNMARKED', message: /ELOOP/ },
  )
  t.end()
})

t.test('the name of every run is fit for a mark, and what could lead elsewhere is not', t => {
  t.ok(isMarkName(createIdentity(1_000_000.5, 4711).invocationId))
  t.ok(isMarkName('4711-1000000500-k3j2h1'))
  for (const text of ['', '.', '..', 'a/b', '../a', 'a\0', 'A', 'a b', 'ä', 'a\n', 'x'.repeat(129)])
    t.notOk(isMarkName(text), JSON.stringify(text))
  t.end()
})
