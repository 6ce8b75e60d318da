import t from 'tap'
import { Serial } from '../../../../ipkeeper-server/leases/verbs/turns.ts'

/** A task that begins and ends when the test says so. */
function task(log: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  return {
    run: async (): Promise<string> => {
      log.push(`${name} begins`)
      try {
        return await promise
      } finally {
        log.push(`${name} ends`)
      }
    },
    end: () => {
      resolve(name)
    },
    fail: () => {
      reject(new Error(name))
    },
  }
}

/** Lets everything run that can. */
const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('tasks of one key run one after another, in order; others side by side', async t => {
  const serial = new Serial()
  const log: string[] = []
  const [a1, a2, a3, b1] = ['a1', 'a2', 'a3', 'b1'].map(name => task(log, name))
  const results = [
    serial.run('a', a1!.run),
    serial.run('a', a2!.run),
    serial.run('b', b1!.run),
    serial.run('a', a3!.run),
  ]
  await settle()
  t.strictSame(log, ['a1 begins', 'b1 begins'])
  t.equal(serial.busy, 2)
  a2!.end()
  a1!.end()
  await settle()
  t.strictSame(log.slice(2), ['a1 ends', 'a2 begins', 'a2 ends', 'a3 begins'])
  a3!.end()
  b1!.end()
  t.strictSame(await Promise.all(results), ['a1', 'a2', 'b1', 'a3'])
  t.equal(serial.busy, 0, 'nothing is remembered')
})

t.test("a task that fails is its caller's affair alone", async t => {
  const serial = new Serial()
  const log: string[] = []
  const [first, second] = ['first', 'second'].map(name => task(log, name))
  const failing = serial.run('a', first!.run)
  const next = serial.run('a', second!.run)
  first!.fail()
  await t.rejects(failing, { message: 'first' })
  second!.end()
  t.equal(await next, 'second')
  t.strictSame(log, ['first begins', 'first ends', 'second begins', 'second ends'])
  t.equal(serial.busy, 0)
})

t.test('a task that throws before its first await', async t => {
  const serial = new Serial()
  await t.rejects(
    serial.run('a', () => {
      throw new Error('at once')
    }),
    { message: 'at once' },
  )
  t.equal(await serial.run('a', async () => Promise.resolve(1)), 1)
})

t.test('idle waits for all, also for what comes meanwhile, and for what fails', async t => {
  const serial = new Serial()
  await serial.idle()
  const log: string[] = []
  const [first, second] = ['first', 'second'].map(name => task(log, name))
  serial.run('a', first!.run).catch(() => undefined)
  let idle = false
  const done = serial.idle().then(() => (idle = true))
  serial.run('b', second!.run).catch(() => undefined)
  first!.fail()
  await settle()
  t.equal(idle, false)
  second!.end()
  await done
  t.equal(serial.busy, 0)
})
