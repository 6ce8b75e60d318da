/** The wall clock is set while the daemon runs, or while it does not: what is kept or rests ends after its time, no later. */
import t from 'tap'
import { MemoryStore } from '../../../../ipkeeper-server/store/memory/memory-store.ts'
import { TestService } from '../test-service.ts'
import { assertSound } from '../ledger/sound-ledger.ts'

const [minute, hour, year] = [60_000, 3_600_000, 365 * 86_400_000]

const named = '10.22.0.50'
const kept = '10.22.0.60'

/** One address rests that was asked for by name (10 min), one is kept for its pod (30 min), and one just rests (1 min). */
async function releaseThree(story: TestService): Promise<void> {
  await story.add({ pod: 'a', container: 'a', ip: named })
  await story.add({ pod: 'b', container: 'b', ip: kept, retain: '30m' })
  t.equal(await story.add({ pod: 'c', container: 'c' }), '10.22.0.2')
  for (const id of ['a', 'b', 'c']) await story.del(id)
}

/** What of the three is still there to whoever would choose one. */
function resting(story: TestService): string[] {
  story.service.ledger.expire(story.clock.now())
  return story.leases().map(line => line.split(' ').slice(0, 2).join(' '))
}

const all = ['10.22.0.2 cooling', `${named} cooling`, `${kept} held`]

for (const [what, by] of [
  ['back by two years', -2 * year],
  ['back by a minute', -minute],
  ['forward by an hour', hour],
  ['forward by two years', 2 * year],
] as const) {
  t.test(`set ${what}, while the daemon runs`, async t => {
    const story = await TestService.open()
    await releaseThree(story)
    story.time.pass(30_000)
    story.time.set(by)
    t.strictSame(resting(story), all, 'nothing is over yet')
    assertSound(story.service.ledger, what)
    story.time.pass(29_999)
    t.strictSame(resting(story), all)
    story.time.pass(1)
    t.strictSame(resting(story), all.slice(1), 'a minute')
    t.equal(await story.add({ pod: 'x', container: 'x', ip: kept }), 'IPK_ADDRESS_KEPT')
    story.time.pass(9 * minute)
    t.strictSame(resting(story), all.slice(2), 'ten minutes')
    story.time.pass(20 * minute - 1)
    t.strictSame(resting(story), all.slice(2))
    story.time.pass(1)
    t.strictSame(resting(story), [], 'half an hour')
    t.equal(await story.add({ pod: 'x', container: 'x', ip: kept }), kept)
    assertSound(story.service.ledger, 'at the end')
  })
}

for (const running of [true, false]) {
  t.test(`set back by two years ${running ? 'before' : 'after'} the daemon is stopped`, async t => {
    const store = new MemoryStore()
    const before = await TestService.open(store)
    await releaseThree(before)
    before.time.pass(30_000)
    before.time.set(-2 * year)
    if (running) before.clock.now()
    const story = await TestService.open(store, undefined, undefined, undefined, before.time)
    t.strictSame(resting(story), all)
    for (const { since, until } of story.service.ledger.leases()) {
      t.equal(since, story.now)
      t.ok(until !== null && until <= story.now + 30 * minute)
    }
    story.time.pass(minute)
    t.strictSame(resting(story), all.slice(1))
    story.time.pass(9 * minute)
    t.strictSame(resting(story), all.slice(2))
    story.time.pass(20 * minute)
    t.strictSame(resting(story), [])
    assertSound(story.service.ledger, 'at the end')
  })
}

t.test('what is released after the clock was set back is not the longest rested', async t => {
  const story = await TestService.open()
  const strategy = 'least-recently-used' as const
  story.book = { ...story.book, standard: { ...story.book.standard, strategy } }
  const addresses: string[] = []
  const live = async (pod: string): Promise<void> => {
    addresses.push(await story.add({ pod, container: pod }))
    await story.del(pod)
    story.time.pass(2 * minute)
    story.service.ledger.expire(story.clock.now())
  }
  for (const pod of ['a', 'b', 'c']) await live(pod)
  story.time.set(-2 * year)
  for (const pod of ['d', 'e']) await live(pod)
  const order = Array.from(story.service.ledger.resting('net'), ({ address }) => address)
  t.strictSame(order, addresses, 'in the order of their release')
  const again = await TestService.open(story.store, undefined, undefined, undefined, story.time)
  t.strictSame(
    [...again.service.ledger.resting('net')].map(({ address }) => address).slice(-3),
    addresses.slice(0, 3),
    'after a restart those of times to come keep their order, behind the others',
  )
})

t.test('an ADD that its DEL has overtaken comes too late, whatever the clock says', async t => {
  for (const by of [hour, -hour, 2 * year]) {
    const story = await TestService.open()
    await story.del('c1', 'eth0', 'net', { bootId: 'boot-1', startedAt: 200 })
    story.time.set(by)
    await story.del('c2', 'eth0', 'net', { bootId: 'boot-1', startedAt: 300 })
    t.equal(await story.add({ container: 'c1', startedAt: 100 }), 'IPK_DEL_OVERTOOK', String(by))
  }
})

t.test('what an undo brings back is kept for no longer than its time', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'b', container: 'b', ip: kept, retain: '30m' })
  await story.del('b')
  await story.add({ pod: 'b', container: 'b2', invocation: 'run-1', confirms: true, ip: kept, retain: '30m' })
  story.time.set(-2 * year)
  await story.del('b2')
  t.strictSame(resting(story), [`${kept} held`])
  const [lease] = story.service.ledger.leases()
  t.equal(lease?.until, story.now + 30 * minute)
  const again = await TestService.open(story.store, undefined, undefined, undefined, story.time)
  t.match([...again.service.ledger.leases()], [{ until: story.now + 30 * minute }], 'so it was written')
})
