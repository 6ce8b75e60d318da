import t, { type Test } from 'tap'
import type { HistoryEntry } from '../../../../ipkeeper-server/ipam/records/history-entry.ts'
import { HistorySender } from '../../../../ipkeeper-server/leases/tasks/send-history.ts'
import { unpackEntries } from '../../../../ipkeeper-server/store/history-archive.ts'
import { TestTimers } from '../../../rigs/test-timers.ts'
import { MemoryArchive } from '../memory-archive.ts'
import { TestService } from '../test-service.ts'

const hour = 3_600_000
const day = 24 * hour

interface Site {
  readonly story: TestService
  readonly archive: MemoryArchive
  readonly limits: { maxAge: number; sharedEntries: number }
  readonly troubles: unknown[]
  /** Lets so many milliseconds pass. */
  readonly pass: (milliseconds: number) => Promise<void>
  /** Another run of the daemon. */
  readonly restart: (story?: TestService) => Promise<void>
  /** A pod that lives and dies: two entries. */
  readonly live: (container: string) => Promise<void>
  /** What the engine has, the oldest first. */
  readonly sent: () => Promise<HistoryEntry[]>
}

async function site(t: Test): Promise<Site> {
  const archive = new MemoryArchive()
  const limits = { maxAge: 90 * day, sharedEntries: 10_000 }
  const troubles: unknown[] = []
  const timers = new TestTimers()
  let stretches = 0
  let story = await TestService.open()
  const begin = (): HistorySender => {
    const sender = new HistorySender({
      ...{ ledger: story.service.ledger, archive, timers, node: () => 'n1', limits: () => limits },
      ...{ now: () => story.now, steadyFor: () => 2 * day },
      newStretch: () => `${++stretches}`.padStart(12, 'a'),
      onTrouble: error => troubles.push(error),
    })
    sender.start()
    return sender
  }
  let sender = begin()
  t.teardown(() => sender.stop())
  const pass = async (milliseconds: number): Promise<void> => {
    story.now += milliseconds
    await timers.pass(milliseconds)
    await sender.idle()
  }
  return {
    get story() {
      return story
    },
    ...{ archive, limits, troubles, pass },
    restart: async (other = story) => {
      await sender.stop()
      story = other
      sender = begin()
    },
    live: async container => {
      await story.add({ pod: container, container })
      await story.del(container)
    },
    sent: async () =>
      (await Promise.all([...archive.parts.values()].map(({ data }) => unpackEntries(data)))).flat(),
  }
}

t.test('what is recorded together is sent together, and nothing while nothing happens', async t => {
  const { story, archive, live, pass, sent } = await site(t)
  await pass(10_000)
  t.equal(archive.puts, 0, 'no history, no part')
  for (const container of ['a', 'b', 'c']) await live(container)
  await pass(4_000)
  t.equal(archive.puts, 0)
  await pass(1_000)
  t.equal(archive.puts, 1)
  t.strictSame(await sent(), await story.store.history({ after: 0, limit: 100 }))
  await pass(30 * 60_000)
  t.equal(archive.puts, 1)
  await live('d')
  await pass(5_000)
  t.equal(archive.puts, 2)
  t.equal(archive.parts.size, 1, 'the part grows')
  t.equal((await sent()).length, 8)
})

t.test('every hour it is told that nothing else was recorded', async t => {
  const { archive, live, pass } = await site(t)
  await live('a')
  await pass(5_000)
  const [first] = archive.parts.values()
  await pass(hour)
  const [again] = archive.parts.values()
  t.equal(archive.parts.size, 1)
  t.strictSame({ ...again, to: first?.to }, first)
  t.equal((again?.to ?? 0) - (first?.to ?? 0), hour)
})

t.test('a part that is whole is followed by another one', async t => {
  const { archive, live, pass, sent } = await site(t)
  for (let count = 0; count < 270; count++) await live(`c${count}`)
  await pass(5_000)
  t.strictSame(
    [...archive.parts.values()].map(({ first, last, entries }) => [first, last, entries]),
    [
      [1, 500, 500],
      [501, 540, 40],
    ],
  )
  t.strictSame(
    (await sent()).map(({ id }) => id),
    Array.from({ length: 540 }, (_, index) => index + 1),
  )
})

t.test('after a restart it goes on where the engine ends, without notes of its own', async t => {
  const { archive, live, pass, restart, sent } = await site(t)
  await live('a')
  await pass(5_000)
  await restart()
  await live('b')
  await pass(5_000)
  t.equal(archive.parts.size, 1)
  t.strictSame(
    (await sent()).map(({ id }) => id),
    [1, 2, 3, 4],
  )
})

t.test('another journal under the same name begins another stretch, and takes nothing away', async t => {
  const { archive, live, pass, restart, sent } = await site(t)
  await live('a')
  await pass(5_000)
  await restart(await TestService.open())
  await live('b')
  await pass(5_000)
  t.equal(new Set([...archive.parts.values()].map(({ stretch }) => stretch)).size, 2)
  t.strictSame(
    (await sent()).map(
      ({ containerId, holder }) => containerId ?? (holder.kind === 'pod' ? holder.name : ''),
    ),
    ['a', 'a', 'b', 'b'],
  )
})

t.test('while the engine is away nothing is lost, and it is said once', async t => {
  const { archive, troubles, live, pass, sent } = await site(t)
  archive.isAway = true
  await live('a')
  await pass(5_000)
  await live('b')
  await pass(60_000)
  t.match(troubles, [{ message: 'away' }])
  archive.isAway = false
  await pass(30_000)
  t.strictSame(troubles.slice(1), [undefined])
  t.equal((await sent()).length, 4)
})

t.test('limits: the oldest whole parts go, and what is twice as old as any may be', async t => {
  const { archive, limits, live, pass } = await site(t)
  limits.sharedEntries = 600
  await live('first')
  await pass(5_000)
  for (let count = 1; count < 560; count++) await live(`c${count}`)
  await pass(5_000)
  t.strictSame(
    [...archive.parts.values()].map(({ first, last }) => [first, last]),
    [
      [501, 1000],
      [1001, 1120],
    ],
  )
  limits.maxAge = day
  await archive.put({ node: 'gone', stretch: 'f', first: 1, last: 1, from: 0, to: 1, entries: 1, data: '' })
  await pass(3 * day)
  t.strictSame([...archive.parts.values()], [], 'also of nodes that are gone')
})

t.test('none is sent where none is wanted', async t => {
  const { archive, limits, live, pass } = await site(t)
  limits.sharedEntries = 0
  await live('a')
  await pass(hour)
  t.equal(archive.puts, 0)
})
