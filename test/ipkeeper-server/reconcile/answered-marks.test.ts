import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { AnsweredMarks } from '../../../ipkeeper-server/reconcile/answered-marks.ts'
import { leaveMark } from '../../../plugin/answered-mark.ts'

t.test('whoever comes first has decided', async t => {
  const stateDir = t.testdir({})
  const marks = new AnsweredMarks(stateDir)
  t.equal(marks.hasFolder, false)
  marks.makeFolder()
  t.equal(new AnsweredMarks(stateDir).hasFolder, true)
  leaveMark(stateDir, 'run-1')
  t.equal(await marks.claim('run-1'), 'plugin')
  t.equal(await marks.claim('run-2'), 'daemon')
  t.equal(await marks.claim('run-2'), 'daemon', 'a claim of an earlier daemon is a claim')
  t.throws(() => {
    leaveMark(stateDir, 'run-2')
  })
  t.strictSame(
    await marks.list(),
    new Map([
      ['run-1', 'plugin'],
      ['run-2', 'daemon'],
    ]),
  )
  t.equal(statSync(join(stateDir, 'answered')).mode & 0o777, 0o700)
  await marks.remove('run-1', 'plugin')
  await marks.remove('run-2', 'daemon')
  t.strictSame(readdirSync(join(stateDir, 'answered')), [])
})

t.test('whose a mark is can be asked without claiming it', async t => {
  const stateDir = t.testdir({ answered: { mine: '', yours: {} } })
  const marks = new AnsweredMarks(stateDir)
  t.strictSame(await Promise.all(['mine', 'yours', 'nobodys'].map(name => marks.ownerOf(name))), [
    'plugin',
    'daemon',
    undefined,
  ])
  await t.rejects(new AnsweredMarks(join(stateDir, 'none')).ownerOf('mine'), { code: 'ENOENT' })
})

t.test('of many at once exactly one', async t => {
  const stateDir = t.testdir({})
  const marks = new AnsweredMarks(stateDir)
  marks.makeFolder()
  for (let nth = 0; nth < 200; nth++) {
    const name = `run-${nth}`
    const claimed = marks.claim(name)
    if (nth % 2 === 0) await Promise.resolve()
    let left = true
    try {
      leaveMark(stateDir, name)
    } catch {
      left = false
    }
    t.equal(await claimed, left ? 'plugin' : 'daemon', name)
  }
})

t.test('what is no mark is left alone, and what cannot be removed stays', async t => {
  const stateDir = t.testdir({ answered: { 'run-1': { junk: '' }, '.hidden': '', UPPER: '', 'a b': '' } })
  symlinkSync('/etc/passwd', join(stateDir, 'answered', 'run-2'))
  const marks = new AnsweredMarks(stateDir)
  t.strictSame([...(await marks.list()).keys()].sort(), ['run-1', 'run-2'])
  for (const [name, owner] of await marks.list()) await marks.remove(name, owner)
  t.strictSame(readdirSync(join(stateDir, 'answered')).sort(), ['.hidden', 'UPPER', 'a b', 'run-1'])
  t.ok(existsSync('/etc/passwd'))
})

t.test(
  'a folder that is gone has no marks, and none can be claimed; one that is none is an error',
  async t => {
    const stateDir = t.testdir({})
    const marks = new AnsweredMarks(stateDir)
    t.strictSame(await marks.list(), new Map())
    await t.rejects(marks.claim('run-1'), { code: 'ENOENT' })
    writeFileSync(join(stateDir, 'answered'), '')
    await t.rejects(marks.list(), { code: 'ENOTDIR' })
    await t.rejects(marks.claim('run-1'), { code: 'ENOTDIR' })
  },
)

t.test('a folder that cannot be read', async t => {
  const stateDir = t.testdir({})
  mkdirSync(join(stateDir, 'answered'))
  const marks = new AnsweredMarks(stateDir)
  rmdirSync(join(stateDir, 'answered'))
  // Also to root: a link that leads to itself.
  symlinkSync('answered', join(stateDir, 'answered'))
  await t.rejects(marks.list(), { code: 'ELOOP' })
})
