import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { VirtualTime } from './virtual-time.ts'

t.test('an hour passes at once, in order, and everybody goes by the same time', async t => {
  const began = process.hrtime.bigint()
  const seen = await VirtualTime.run(async time => {
    const order: string[] = []
    const note = (what: string): number => order.push(`${time.now()} ${what}`)
    setTimeout(note, 60_000, 'a minute')
    const timer = setTimeout(note, 1000, 'never')
    clearTimeout(timer)
    setImmediate(note, 'immediate')
    void delay(60_000).then(() => note('the same minute, asked for later'))
    await nextTurn()
    note('a turn')
    await delay(3_600_000)
    note(`performance ${performance.now()}, Date ${new Date(Date.now()).toISOString()}`)
    return order
  })
  t.strictSame(seen, [
    '0 immediate',
    '0 a turn',
    '60000 a minute',
    '60000 the same minute, asked for later',
    '3600000 performance 3600000, Date 2026-01-01T01:00:00.000Z',
  ])
  t.ok(process.hrtime.bigint() - began < 30_000_000_000n, 'in less than half a minute')
})

t.test('whatever it is begun in', async t => {
  const work = async (time: VirtualTime): Promise<number> => {
    for (let turns = 0; turns < 10; turns++) await Promise.resolve()
    await time.pass(1000)
    return time.now()
  }
  const inTick = new Promise<number>((resolve, reject) => {
    process.nextTick(() => {
      VirtualTime.run(work).then(resolve, reject)
    })
  })
  t.equal(await inTick, 1000)
})

t.test('what is aborted does not go on', async t => {
  await VirtualTime.run(async time => {
    const ending = new AbortController()
    setTimeout(() => {
      ending.abort()
    }, 10)
    await t.rejects(delay(1000, undefined, { signal: ending.signal }), { name: 'AbortError' })
    t.equal(time.now(), 10)
    await t.rejects(delay(1000, undefined, { signal: ending.signal }), { name: 'AbortError' })
  })
})

t.test('afterwards all is as it was, also after a failure', async t => {
  const now = (): readonly unknown[] => [
    ...[setTimeout, clearTimeout, setImmediate],
    ...[performance, Date].map(object => Object.getOwnPropertyDescriptor(object, 'now')?.value as unknown),
  ]
  const before = now()
  await t.rejects(
    VirtualTime.run(() => Promise.reject(new Error('wrong'))),
    { message: 'wrong' },
  )
  await t.rejects(
    VirtualTime.run(() => new Promise(() => undefined)),
    { message: /no timer/ },
  )
  t.strictSame(now(), before)
  const began = Number(process.hrtime.bigint())
  await delay(20)
  t.ok(Number(process.hrtime.bigint()) - began > 15_000_000, 'real time passes again')
})
