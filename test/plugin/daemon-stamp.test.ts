import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isWithinGrace, readAnswer, stampAnswer } from '../../plugin/daemon-stamp.ts'

t.test('the grace: 30 s back, and no future but for a second', t => {
  const now = 1_700_000_000_000
  for (const [answeredAt, expected] of [
    [undefined, false],
    [now, true],
    [now - 30_000, true],
    [now - 30_001, false],
    [now + 1_000, true],
    [now + 1_001, false],
    [0, false],
    [NaN, false],
  ] as const)
    t.equal(isWithinGrace(answeredAt, now), expected, String(answeredAt))
  t.end()
})

t.test('a stamp is made, moved, and read', t => {
  const stateDir = t.testdir({})
  t.equal(readAnswer(stateDir), undefined)
  const before = Date.now()
  stampAnswer(stateDir, before)
  const made = readAnswer(stateDir) ?? 0
  t.ok(isWithinGrace(made, Date.now()), 'made now')
  for (const moment of [1_600_000_000_000, 1_700_000_000_500, before]) {
    stampAnswer(stateDir, moment)
    t.ok(Math.abs((readAnswer(stateDir) ?? 0) - moment) < 1, String(moment))
  }
  const stats = statSync(join(stateDir, 'daemon-answered'))
  t.strictSame([stats.mode & 0o777, stats.size], [0o600, 0])
  t.end()
})

t.test('a stamp that cannot be made is none', t => {
  const base = t.testdir({ file: '', victim: 'x', linked: {}, folder: { 'daemon-answered': {} } })
  stampAnswer(join(base, 'none'), 1)
  stampAnswer(join(base, 'file'), 1)
  stampAnswer('/proc/none', 1)
  for (const stateDir of [join(base, 'none'), join(base, 'file'), '/proc/none'])
    t.equal(readAnswer(stateDir), undefined, stateDir)
  t.doesNotThrow(() => {
    stampAnswer(join(base, 'folder'), 1)
  })
  const victim = join(base, 'victim')
  const { mtimeMs } = statSync(victim)
  symlinkSync(victim, join(base, 'linked', 'daemon-answered'))
  stampAnswer(join(base, 'linked'), 5_000)
  t.equal(statSync(victim).mtimeMs, mtimeMs, 'a link is not followed')
  const dangling = join(base, 'dangling')
  mkdirSync(dangling)
  symlinkSync(join(base, 'made'), join(dangling, 'daemon-answered'))
  stampAnswer(dangling, 5_000)
  t.throws(() => readFileSync(join(base, 'made')))
  writeFileSync(victim, '')
  t.end()
})
