import t from 'tap'
import { BackgroundTask, systemTimers } from '../../../ipkeeper-server/host/background-task.ts'
import { settled, TestTimers } from '../../rigs/test-timers.ts'

interface Site {
  readonly timers: TestTimers
  readonly task: BackgroundTask
  /** When rounds began. */
  readonly rounds: number[]
}

function makeTask(next: (round: number) => number | undefined = () => undefined): Site {
  const timers = new TestTimers()
  const rounds: number[] = []
  const task = new BackgroundTask({
    timers,
    round: () => {
      rounds.push(timers.now())
      return next(rounds.length)
    },
  })
  return { timers, task, rounds }
}

t.test('when rounds begin', async t => {
  for (const [name, wishes, next, expected] of [
    ['nothing is done unasked', [], () => 5, []],
    ['at once', [0], () => undefined, [0]],
    ['later', [30], () => undefined, [30]],
    ['the earliest wish counts', [30, 10, 20], () => undefined, [10]],
    ['a moment that has passed is now', [-5], () => undefined, [0]],
    [
      'a round says when the next one is due',
      [10],
      (round: number) => (round < 3 ? 20 : undefined),
      [10, 30, 50],
    ],
  ] as const) {
    const { timers, task, rounds } = makeTask(next)
    for (const wish of wishes) task.wake(wish)
    await timers.pass(100)
    t.strictSame(rounds, expected, name)
    t.equal(timers.waiting, 0, 'nothing waits')
  }
})

t.test('waking brings a planned round forward', async t => {
  const { timers, task, rounds } = makeTask(round => (round === 1 ? 1000 : undefined))
  task.wake()
  await timers.pass(10)
  task.wake(5)
  await timers.pass(2000)
  t.strictSame(rounds, [0, 15])
})

t.test('a task that rests begins no round, however often it is woken', async t => {
  const { timers, task, rounds } = makeTask(() => {
    task.rest(30)
    task.wake()
    return undefined
  })
  task.wake()
  await timers.pass(10)
  task.wake()
  await timers.pass(75)
  t.strictSame(rounds, [0, 30, 60])
})

t.test('waking during a round has another one follow it', async t => {
  const timers = new TestTimers()
  const gates: (() => void)[] = []
  const task = new BackgroundTask({
    timers,
    round: () =>
      new Promise(resolve => {
        gates.push(() => {
          resolve(undefined)
        })
      }),
  })
  task.wake()
  await timers.pass(0)
  t.equal(gates.length, 1)
  task.wake()
  task.wake(50)
  await timers.pass(20)
  t.equal(gates.length, 1, 'never two at once')
  gates[0]?.()
  await settled()
  await timers.pass(0)
  t.equal(gates.length, 2)
  gates[1]?.()
  await settled()
  await timers.pass(100)
  t.equal(gates.length, 2, 'the later wish was met by the same round')
})

t.test('run() resolves when its round has ended, and follows one that is under way', async t => {
  const timers = new TestTimers()
  const steps: string[] = []
  let open: () => void = () => undefined
  const task = new BackgroundTask({
    timers,
    round: async () => {
      const name = `round ${steps.filter(step => step.endsWith('begins')).length + 1}`
      steps.push(`${name} begins`)
      if (name === 'round 1') await new Promise<void>(resolve => (open = resolve))
      steps.push(`${name} ends`)
      return undefined
    },
  })
  const first = task.run()
  await settled()
  const second = task.run().then(() => steps.push('second resolves'))
  open()
  await Promise.all([first, second])
  t.strictSame(steps, ['round 1 begins', 'round 1 ends', 'round 2 begins', 'round 2 ends', 'second resolves'])
})

t.test('a round that throws', async t => {
  for (const [retryAfter, expected] of [
    [undefined, [0]],
    [40, [0, 40, 80]],
  ] as const) {
    const timers = new TestTimers()
    const [rounds, errors]: [number[], unknown[]] = [[], []]
    const task = new BackgroundTask({
      timers,
      round: () => {
        rounds.push(timers.now())
        throw new Error('no')
      },
      onError: error => errors.push(error),
      ...(retryAfter !== undefined && { retryAfter }),
    })
    task.wake()
    await timers.pass(100)
    t.strictSame(rounds, expected)
    t.equal(errors.length, expected.length, 'each failure is reported')
  }
  const silent = new BackgroundTask({
    round: () => {
      throw new Error('unexpected')
    },
  })
  await t.rejects(silent.run(), /unexpected/, 'without somebody to hear of it, it is a bug')
})

t.test('stop', async t => {
  const { timers, task, rounds } = makeTask()
  task.wake(10)
  await task.stop()
  task.wake()
  await task.run()
  await timers.pass(100)
  t.strictSame(rounds, [], 'what was planned does not happen')
  t.equal(timers.waiting, 0)
  t.equal(task.isStopped, true)

  let open: () => void = () => undefined
  let ended = false
  const busy = new BackgroundTask({
    round: async () => {
      await new Promise<void>(resolve => (open = resolve))
      ended = true
      return 0
    },
  })
  void busy.run()
  await settled()
  const stopping = busy.stop()
  open()
  await stopping
  t.equal(ended, true, 'resolves after the round under way')
})

t.test('moments further away than setTimeout can wait for', async t => {
  const { timers, task, rounds } = makeTask()
  const month = 40 * 24 * 3_600_000
  task.wake(month)
  await timers.pass(month - 1)
  t.strictSame(rounds, [])
  await timers.pass(1)
  t.strictSame(rounds, [month])
})

t.test('the timers of the system', async t => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const before = systemTimers.now()
  const cancel = systemTimers.after(1, () => t.fail('it was cancelled'))
  cancel()
  systemTimers.after(2, () => {
    resolve(undefined)
  })
  // Timers alone do not keep the process.
  const alive = setTimeout(() => undefined, 10_000)
  await promise
  clearTimeout(alive)
  t.ok(systemTimers.now() > before)
})
