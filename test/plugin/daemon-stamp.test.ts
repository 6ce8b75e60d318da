import { mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isWithinGrace, sinceAnswer, stampAnswer, type Moment } from '../../plugin/daemon-stamp.ts'

const hour = 3_600_000
const boot = '6a1c9e0e-8f31-4c7e-9d5c-3a0a2f6b7d11'
const moment = (more: Partial<Moment> = {}): Moment => ({
  ...{ wall: 1_700_000_000_000, monotonic: 5_000_000, bootId: boot },
  ...more,
})

t.test('the grace: 30 s back, and no future but for a second', t => {
  for (const [answeredFor, expected] of [
    [undefined, false],
    [0, true],
    [30_000, true],
    [30_001, false],
    [-1_000, true],
    [-1_001, false],
    [1e12, false],
    [NaN, false],
  ] as const)
    t.equal(isWithinGrace(answeredFor), expected, String(answeredFor))
  t.end()
})

t.test('by the clock that nobody sets', t => {
  const { wall, monotonic } = moment()
  const rows: readonly [name: string, now: Moment, expected: number][] = [
    ['at once', moment(), 0],
    ['ten seconds later', moment({ wall: wall + 10_000, monotonic: monotonic + 10_000 }), 10_000],
    ['and the clock was set forward', moment({ wall: wall + hour, monotonic: monotonic + 10_000 }), 10_000],
    ['and the clock was set back', moment({ wall: wall - 1e10, monotonic: monotonic + 10_000 }), 10_000],
    ['a minute later, and set back', moment({ wall, monotonic: monotonic + 60_000 }), 60_000],
    ['after a reboot', moment({ wall: wall + hour, monotonic: monotonic + 1, bootId: 'another' }), hour],
    ['where the boot is not known', moment({ wall: wall + 10_000, bootId: undefined }), 10_000],
  ]
  for (const [name, now, expected] of rows) {
    const stateDir = t.testdir({})
    stampAnswer(stateDir, moment())
    t.ok(Math.abs((sinceAnswer(stateDir, now) ?? NaN) - expected) < 1, name)
  }
  for (let uptime = 1; uptime < 1e12; uptime = uptime * 3 + 1234.5678) {
    const stateDir = t.testdir({})
    stampAnswer(stateDir, moment({ monotonic: uptime }))
    const since = sinceAnswer(stateDir, moment({ monotonic: uptime + 20_000, wall: 5 }))
    t.ok(Math.abs((since ?? NaN) - 20_000) <= 501, `up for ${uptime}`)
  }
  t.end()
})

t.test('who else touches the file is believed by its time of change', t => {
  const stateDir = t.testdir({})
  stampAnswer(stateDir, moment())
  const path = join(stateDir, 'daemon-answered')
  utimesSync(path, 1_700_000_000, 1_699_999_960)
  t.equal(sinceAnswer(stateDir, moment()), 40_000)
  stampAnswer(stateDir, moment({ bootId: undefined }))
  t.equal(sinceAnswer(stateDir, moment()), 0, 'of a plugin that does not know its boot')
  t.end()
})

t.test('a stamp is made, moved, and read', t => {
  const stateDir = t.testdir({})
  t.equal(sinceAnswer(stateDir, moment()), undefined)
  for (const wall of [1_600_000_000_000, 1_700_000_000_500]) {
    stampAnswer(stateDir, moment({ wall }))
    const stats = statSync(join(stateDir, 'daemon-answered'))
    t.strictSame([stats.mode & 0o777, stats.size], [0o600, 0])
    t.ok(Math.abs(stats.mtimeMs - wall) < 1, 'for people, when it was')
  }
  t.end()
})

t.test('a stamp that cannot be made is none', t => {
  const base = t.testdir({ file: '', victim: 'x', linked: {}, folder: { 'daemon-answered': {} } })
  for (const stateDir of [join(base, 'none'), join(base, 'file'), '/proc/none']) {
    stampAnswer(stateDir, moment())
    t.equal(sinceAnswer(stateDir, moment()), undefined, stateDir)
  }
  t.doesNotThrow(() => {
    stampAnswer(join(base, 'folder'), moment())
  })
  const victim = join(base, 'victim')
  const { mtimeMs } = statSync(victim)
  symlinkSync(victim, join(base, 'linked', 'daemon-answered'))
  stampAnswer(join(base, 'linked'), moment())
  t.equal(statSync(victim).mtimeMs, mtimeMs, 'a link is not followed')
  const dangling = join(base, 'dangling')
  mkdirSync(dangling)
  symlinkSync(join(base, 'made'), join(dangling, 'daemon-answered'))
  stampAnswer(dangling, moment())
  t.throws(() => readFileSync(join(base, 'made')))
  writeFileSync(victim, '')
  t.end()
})
