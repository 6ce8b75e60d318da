import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { until } from '../rigs/poll.ts'
import { Mishaps, type Mishap } from './mishaps.ts'
import { SeededRandom } from '../rigs/seeded-random.ts'

t.test('what cannot happen at first is awaited, also while it tries', async t => {
  const answers = [false, false, true]
  const seen: boolean[] = []
  const slow: Mishap = {
    kind: 'slow',
    happen: async () => {
      await delay(20)
      seen.push(mishaps.allHappened)
      return answers.shift() ?? true
    },
  }
  const mishaps: Mishaps = new Mishaps({
    ...{ rows: [slow], first: [slow], random: new SeededRandom(1), atOnce: 2, pause: [0, 5] },
  })
  const running = mishaps.run()
  await until('it has happened', () => mishaps.allHappened)
  mishaps.stop()
  await running
  t.strictSame(seen.slice(0, 3), [false, false, false], 'not before it is over')
  t.ok((mishaps.count.get('slow') ?? 0) >= 1)
})

t.test('a thing that something is being done to is left alone', async t => {
  const thing = { name: 'host-1' }
  let [inside, together] = [0, 0]
  const row: Mishap = {
    kind: 'alone',
    happen: ({ withOne }) =>
      withOne(thing, async () => {
        together = Math.max(together, ++inside)
        await delay(5)
        inside--
      }),
  }
  const mishaps = new Mishaps({ rows: [row], random: new SeededRandom(2), atOnce: 3, pause: [0, 3] })
  const running = mishaps.run()
  await until('it happened often', () => (mishaps.count.get('alone') ?? 0) > 5)
  mishaps.stop()
  await running
  t.equal(together, 1)
})
