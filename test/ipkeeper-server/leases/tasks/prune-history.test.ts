import t from 'tap'
import { HistoryPruner } from '../../../../ipkeeper-server/leases/tasks/prune-history.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { TestService } from '../test-service.ts'

const hour = 3_600_000

/** A service, and a pruner whose hours the test lets pass. */
async function startPruner() {
  const store = new FragileStore()
  const story = await TestService.open(store)
  const limits = { maxAge: 24 * hour, maxEntries: 1000 }
  const pruned: number[] = []
  const errors: unknown[] = []
  const waits: number[] = []
  let wake: (() => void) | undefined
  const timers = {
    now: () => story.now,
    after: (ms: number, call: () => void) => {
      waits.push(ms)
      wake = call
      return () => undefined
    },
  }
  const { ledger } = story.service
  let { clock } = story
  const restart = (): void => {
    clock = story.time.start()
  }
  let done = Promise.resolve(0)
  const pruner = new HistoryPruner({
    ledger: {
      pruneHistory: rule => {
        done = ledger.pruneHistory(rule)
        return done
      },
    },
    limits: () => limits,
    now: story.clock.now,
    steadyFor: () => clock.steadyFor(),
    onPruned: entries => pruned.push(entries),
    onError: error => errors.push(error),
    timers,
  })
  const nextHour = async (): Promise<void> => {
    story.now += hour
    wake?.()
    await done.catch(() => undefined)
    // The pruner notices a turn later.
    await new Promise(setImmediate)
  }
  const entries = async (): Promise<number> => (await ledger.history({ limit: 1000 })).length
  return { store, story, pruner, limits, pruned, errors, waits, nextHour, entries, restart }
}

async function live(story: TestService, container: string): Promise<void> {
  await story.add({ pod: container, container })
  await story.del(container)
}

t.test('by age: at the start, then every hour, and never sooner', async t => {
  const { story, pruner, pruned, waits, nextHour, entries } = await startPruner()
  await live(story, 'c1')
  story.now += 23 * hour
  await live(story, 'c2')
  await pruner.start()
  t.strictSame(pruned, [])
  t.equal(await entries(), 4)
  await nextHour()
  await nextHour()
  t.strictSame(pruned, [2])
  t.equal(await entries(), 2)
  t.strictSame(waits, [hour, hour, hour])
})

t.test('by number, as it is set at that moment', async t => {
  const { story, pruner, pruned, limits, nextHour, entries } = await startPruner()
  for (const container of ['c1', 'c2', 'c3']) await live(story, container)
  await pruner.start()
  limits.maxEntries = 1
  await nextHour()
  t.equal(await entries(), 1)
  t.strictSame(pruned, [5])
})

t.test('a store that fails is told of, and tried again after an hour', async t => {
  const { store, story, pruner, pruned, errors, limits, nextHour } = await startPruner()
  await live(story, 'c1')
  story.now += hour
  limits.maxEntries = 0
  store.fails = () => true
  await pruner.start()
  t.match(errors, [{ code: 'IPK_STORE_FAILED' }])
  store.fails = () => false
  await nextHour()
  t.strictSame(pruned, [2])
  t.equal(errors.length, 1)
})

t.test('stopped: no other hour, and a store that closes under it is no error', async t => {
  const { store, pruner, errors, waits } = await startPruner()
  const first = pruner.start()
  pruner.stop()
  await first
  await store.close()
  await pruner.start()
  t.strictSame(waits, [])
  t.strictSame(errors, [])
})

t.test('a clock that leapt ahead makes nothing old, until it has stayed so for a day', async t => {
  const { story, pruner, pruned, nextHour, entries } = await startPruner()
  await live(story, 'c1')
  story.time.set(2 * 365 * 24 * hour)
  await live(story, 'c2')
  await pruner.start()
  const all = await entries()
  for (let hours = 0; hours < 23; hours++) await nextHour()
  t.strictSame([pruned, await entries()], [[], all])
  await nextHour()
  t.ok((await entries()) < all, 'now it is believed')
})

t.test('nor does a daemon that is started anew believe it', async t => {
  const { story, pruner, pruned, nextHour, entries, restart } = await startPruner()
  await live(story, 'c1')
  story.time.set(2 * 365 * 24 * hour)
  await live(story, 'c2')
  restart()
  await pruner.start()
  const all = await entries()
  for (let hours = 0; hours < 23; hours++) await nextHour()
  t.strictSame([pruned, await entries()], [[], all])
  await nextHour()
  t.ok((await entries()) < all)
})

t.test('one that was set back meanwhile has lost nothing', async t => {
  const { story, pruner, pruned, nextHour, entries } = await startPruner()
  await live(story, 'c1')
  story.time.set(2 * 365 * 24 * hour)
  await pruner.start()
  await nextHour()
  story.time.set(-2 * 365 * 24 * hour)
  const all = await entries()
  for (let hours = 0; hours < 20; hours++) await nextHour()
  t.strictSame([pruned, await entries()], [[], all])
})
