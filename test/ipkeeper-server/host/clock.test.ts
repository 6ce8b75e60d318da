import t from 'tap'
import { Clock, describeJump, systemClocks, type Jump } from '../../../ipkeeper-server/host/clock.ts'
import { TestClock } from '../../rigs/test-clock.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

type Step = readonly [what: 'pass' | 'set' | 'sleep' | 'look', milliseconds?: number]

function watched(time: TestClock): { readonly clock: Clock; readonly jumps: number[] } {
  const clock = time.start()
  const jumps: number[] = []
  clock.onJump = ({ by }) => {
    jumps.push(by)
  }
  return { clock, jumps }
}

t.test('what happens to the clocks, and what is said of it', t => {
  const rows: readonly [name: string, steps: readonly Step[], jumps: readonly number[]][] = [
    ['time goes by', [['pass', 3 * day]], []],
    ['set forward', [['set', hour]], [hour]],
    ['set back', [['set', -730 * day]], [-730 * day]],
    [
      'set while time goes by, and nobody looks',
      [
        ['pass', day],
        ['set', -hour],
      ],
      [-hour],
    ],
    ['too little to be called a jump', [['set', 999]], []],
    [
      'a little, again and again',
      [['set', -600], ['look'], ['set', -600], ['look'], ['set', -600], ['look'], ['set', -600]],
      [-1200, -1200],
    ],
    ['the machine slept', [['sleep', 8 * hour]], []],
    [
      'it slept, and was set by NTP when it woke',
      [
        ['sleep', 8 * hour],
        ['set', -5000],
      ],
      [-5000],
    ],
    ['set, and set back after somebody looked', [['set', hour], ['look'], ['set', -hour]], [hour, -hour]],
    [
      'set, and set back before anybody looks',
      [
        ['set', hour],
        ['set', -hour],
      ],
      [],
    ],
  ]
  for (const [name, steps, expected] of rows) {
    const time = new TestClock()
    const { clock, jumps } = watched(time)
    for (const [what, by = 0] of steps) {
      if (what === 'look') clock.now()
      else time[what](by)
    }
    t.equal(clock.now(), time.wall, name)
    clock.now()
    t.strictSame(jumps, expected, name)
    t.equal(clock.jumps().count, expected.length, name)
    t.strictSame(clock.jumps().last?.by, expected.at(-1), name)
  }
  t.end()
})

t.test('who is told of a jump may ask for the time', t => {
  const time = new TestClock()
  const clock = time.start()
  const told: (Jump & { readonly now: number })[] = []
  clock.onJump = jump => {
    told.push({ ...jump, now: clock.now() })
  }
  time.set(-hour)
  const now = clock.now()
  t.strictSame(told, [{ by: -hour, at: now, now }])
  t.end()
})

t.test('for how long it has not been set', t => {
  const time = new TestClock()
  const { clock } = watched(time)
  time.pass(minute)
  t.equal(clock.steadyFor(), minute, 'of what was before the start nothing is known')
  time.set(hour)
  t.equal(clock.steadyFor(), 0)
  time.pass(minute)
  t.equal(clock.steadyFor(), minute)
  t.end()
})

t.test('a process that is stopped between two readings has seen no jump', t => {
  let passed = 0
  let stopped = 0
  const clock = new Clock({
    wall: () => {
      // Stopped for an hour after this reading, once or twice.
      const wall = passed
      if (stopped-- > 0) passed += hour
      return wall
    },
    monotonic: () => passed,
    boot: () => passed,
  })
  const jumps: number[] = []
  clock.onJump = ({ by }) => jumps.push(by)
  for (const times of [1, 2]) {
    stopped = times
    clock.now()
    passed += minute
    clock.now()
  }
  t.strictSame(jumps, [])
  t.end()
})

t.test('in words', t => {
  for (const [by, text] of [
    [-730 * day, 'the clock was set back by 730 days'],
    [hour, 'the clock was set forward by 60 min'],
    [-2 * hour, 'the clock was set back by 2 h'],
    [1000, 'the clock was set forward by 1 s'],
    [-119_000, 'the clock was set back by 119 s'],
  ] as const)
    t.equal(describeJump({ by }), text)
  t.end()
})

t.test('the clocks of this machine', t => {
  const { wall, monotonic, boot } = systemClocks
  t.ok(Math.abs(wall() - Date.now()) < 1000)
  const [before, after] = [monotonic(), Number(process.hrtime.bigint()) / 1e6]
  t.ok(before <= after && after - before < 1000, 'CLOCK_MONOTONIC, as plugins read it')
  t.ok(boot() >= monotonic() - 20, 'with the time asleep')
  t.end()
})
