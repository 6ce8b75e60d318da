import t from 'tap'
import { OptionalParts } from '../../../ipkeeper-server/host/optional-part.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { settled, TestTimers } from '../../rigs/test-timers.ts'

function brokenPart(lookEvery?: number) {
  const timers = new TestTimers()
  const [told, tries]: [string[], number[]] = [[], []]
  let fault: string | undefined = 'taken'
  const parts = new OptionalParts({
    ...{ now: timers.now, timers },
    onBroken: (name, { message }) => told.push(`${name}: ${message}`),
    onMended: name => told.push(`${name}: well`),
  })
  const part = parts.add({
    name: 'page',
    begin: () => {
      tries.push(timers.now() / 1000)
      if (fault !== undefined) throw new Problem('IPK_PAGE_LISTEN', fault)
    },
    ...(lookEvery !== undefined && { lookEvery }),
  })
  return { ...{ timers, told, tries, parts, part }, set: (next: string | undefined) => (fault = next) }
}

t.test('what does not work is tried less and less often, and told once for each change', async t => {
  const { timers, told, tries, parts, part, set } = brokenPart()
  await part.start()
  t.match(parts.states(), [{ name: 'page', problem: { code: 'IPK_PAGE_LISTEN' }, since: 0 }])
  await timers.pass(100_000)
  t.same(tries, [0, 1, 3, 7, 15, 31, 61, 91])
  t.same(told, ['page: taken'])
  set('another reason')
  await timers.pass(30_000)
  set(undefined)
  await timers.pass(30_000)
  t.same(told, ['page: taken', 'page: another reason', 'page: well'])
  t.match(parts.states(), [{ problem: undefined, since: 151_000 }])
  await timers.pass(1_000_000)
  t.equal(tries.at(-1), 151, 'what works is left alone')
})

t.test('what breaks is tried again soon, however often its users say so', async t => {
  const { timers, told, tries, part, set } = brokenPart()
  set(undefined)
  await part.start()
  set('gone')
  for (const at of [5_000, 100, 100]) {
    await timers.pass(at)
    part.broke(new Problem('IPK_PAGE_LISTEN', 'gone'))
  }
  await timers.pass(10_000)
  set(undefined)
  await timers.pass(30_000)
  t.same(tries, [0, 6, 7, 9, 13, 21])
  t.same(told, ['page: gone', 'page: well'])
})

t.test('many nodes do not ask at once, and what is not configured any more is not told', async t => {
  const timers = new TestTimers()
  const tries: number[] = []
  const parts = new OptionalParts({
    ...{ now: timers.now, timers },
    onBroken: () => undefined,
    onMended: () => undefined,
  })
  const part = parts.add({
    name: 'history-export',
    begin: () => {
      tries.push(timers.now())
      throw new Problem('IPK_HISTORY_EXPORT', 'away')
    },
    spread: () => 0.75,
  })
  await part.start()
  await timers.pass(5_000)
  t.same(tries, [0, 750, 2_250])
  await parts.remove(part)
  await timers.pass(100_000)
  t.same([parts.states(), tries.length], [[], 3])
})

t.test('what nobody uses is looked at, until it is stopped', async t => {
  const { timers, told, tries, part, set } = brokenPart(15_000)
  set(undefined)
  await part.start()
  await timers.pass(20_000)
  set('ended')
  await timers.pass(20_000)
  t.same(tries, [0, 15, 30, 31, 33, 37])
  t.same(told, ['page: ended'])
  await part.stop()
  await timers.pass(100_000)
  await settled()
  t.equal(tries.length, 6)
  t.equal(timers.waiting, 0)
})
