import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ExpiryLoop } from '../../../../ipkeeper-server/leases/tasks/expire-leases.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { TestService } from '../test-service.ts'

/** A service on the real clock, whose addresses rest for so long. */
async function startExpiry(t: Test, rests: { cooldown: number; preferFor: number }) {
  const store = new FragileStore()
  const story = await TestService.open(store)
  const standard = { ...story.service.pools().standard, ...rests }
  story.time.useReal()
  const service = { ...story.service, pools: () => ({ pools: [], standard }) }
  Object.assign(story, { service })
  const errors: unknown[] = []
  const loop = new ExpiryLoop(service, error => errors.push(error))
  const unsubscribe = service.ledger.subscribe({
    kept: () => {
      loop.wake()
    },
  })
  t.teardown(() => {
    loop.stop()
  })
  return { store, story, loop, errors, unsubscribe }
}

/** Waits until it holds; fails the test after ten seconds. */
async function until(t: Test, what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!holds() && Date.now() < deadline) await delay(2)
  t.ok(holds(), what)
}

const recordsOf = (story: TestService): number => story.service.ledger.counts().lease

t.test('a record goes when its time is over, without anybody asking', async t => {
  const { story } = await startExpiry(t, { cooldown: 20, preferFor: 20 })
  await story.add({ pod: 'a', container: 'c1' })
  await story.del('c1')
  t.equal(recordsOf(story), 1)
  await until(t, 'tidied up', () => recordsOf(story) === 0)
  t.equal(await story.add({ pod: 'b', container: 'c2' }), '10.22.0.2')
})

for (const by of [-2 * 365 * 86_400_000, 3_600_000]) {
  t.test(`the clock is set by ${by / 1000} s meanwhile`, async t => {
    const { story } = await startExpiry(t, { cooldown: 400, preferFor: 400 })
    await story.add({ pod: 'a', container: 'c1' })
    const began = performance.now()
    await story.del('c1')
    story.time.set(by)
    await until(t, 'tidied up', () => recordsOf(story) === 0)
    t.ok(performance.now() - began >= 380, 'not before its time')
  })
}

t.test('a change that brings an earlier moment is not missed', async t => {
  const { story } = await startExpiry(t, { cooldown: 20, preferFor: 3_600_000 })
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50' })
  await story.add({ pod: 'b', container: 'c2' })
  await story.del('c1')
  await story.del('c2')
  await until(t, 'the later one came first', () => recordsOf(story) === 1)
  t.strictSame(story.leases(), ['10.22.0.50 cooling shop/a -'])
})

t.test('what was taken again meanwhile stays', async t => {
  const { story } = await startExpiry(t, { cooldown: 20, preferFor: 20 })
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50' })
  await story.del('c1')
  await story.add({ pod: 'a', container: 'c2', ip: '10.22.0.50' })
  await story.add({ pod: 'b', container: 'c3' })
  await story.del('c3')
  await until(t, 'the other one went', () => recordsOf(story) === 1)
  t.strictSame(story.leases(), ['10.22.0.50 bound shop/a c2'])
})

t.test('what was over before the start goes at the first look', async t => {
  const { story, unsubscribe, loop } = await startExpiry(t, { cooldown: 1, preferFor: 1 })
  unsubscribe()
  await story.add({ pod: 'a', container: 'c1' })
  await story.del('c1')
  await delay(5)
  loop.wake()
  await until(t, 'tidied up', () => recordsOf(story) === 0)
})

t.test('a store that fails is reported once, and not asked again at once', async t => {
  const { store, story, errors } = await startExpiry(t, { cooldown: 20, preferFor: 20 })
  for (const pod of ['a', 'b', 'c']) {
    await story.add({ pod, container: pod })
    await story.del(pod)
  }
  let asked = 0
  store.fails = () => ++asked > 0
  await until(t, 'reported', () => errors.length > 0)
  await delay(50)
  t.ok(asked <= 6, `asked ${asked} times for three records`)
  t.ok(errors.length <= 3, `${errors.length} reports`)
  t.match(errors[0], { code: 'IPK_STORE_FAILED' })
  t.strictSame(story.leases(), [], 'nobody has them')
  store.fails = () => false
  const answer = await story.add({ pod: 'd', container: 'd', ip: '10.22.0.2' })
  t.equal(answer, '10.22.0.2', 'who asks by name need not wait')
})

t.test('moments beyond what a timer can hold are waited for, not fired at once', async t => {
  const { story } = await startExpiry(t, { cooldown: 2 ** 40, preferFor: 2 ** 40 })
  await story.add({ pod: 'a', container: 'c1' })
  await story.del('c1')
  let looks = 0
  const { ledger } = story.service
  const expire = ledger.expire.bind(ledger)
  ledger.expire = now => {
    looks++
    return expire(now)
  }
  await delay(30)
  t.equal(looks, 0)
  t.equal(recordsOf(story), 1)
})

t.test('stopped is stopped', async t => {
  const { story, loop } = await startExpiry(t, { cooldown: 5, preferFor: 5 })
  await story.add({ pod: 'a', container: 'c1' })
  loop.stop()
  await story.del('c1')
  loop.wake()
  await delay(30)
  t.equal(recordsOf(story), 1)
})

t.test('a record that is left to others comes free all the same', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  const standard = { ...story.service.pools().standard, cooldown: 20, preferFor: 20 }
  story.time.useReal()
  const service = { ...story.service, pools: () => ({ pools: [], standard }) }
  Object.assign(story, { service })
  let seen = 0
  const loop = new ExpiryLoop(
    service,
    error => t.error(error),
    () => {
      seen++
      return false
    },
  )
  service.ledger.subscribe({
    kept: () => {
      loop.wake()
    },
  })
  t.teardown(() => {
    loop.stop()
  })
  await story.add({ pod: 'a', container: 'c1' })
  await story.del('c1')
  await until(t, 'looked at', () => seen === 1)
  t.equal(recordsOf(story), 1, 'its record stays')
  t.equal(await story.add({ pod: 'b', container: 'c2' }), '10.22.0.2')
})
