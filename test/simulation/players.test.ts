import t from 'tap'
import { historyOf } from './history-of.ts'
import { playHistory } from './play-history.ts'
import { playMany, Players, type Seed } from './players.ts'

t.test('a process plays as this one does, and what never ends is given up', async t => {
  const players = new Players()
  try {
    const history = historyOf('embedded', 1)
    const expected = await playHistory(history)
    t.match(await players.play({ kind: 'embedded', seed: 1 }), expected)
    t.match(await players.play(history, 1), {
      violations: [{ invariant: 'a history ends', at: history.end, says: 'it was played for 0.001 s' }],
      story: [],
    })
    t.match(await players.play(history), expected, 'another process takes its place')
  } finally {
    await players.close()
  }
})

t.test('all are played until it is enough', async t => {
  const seeds: readonly Seed[] = [1, 2, 3, 4, 5].map(seed => ({ kind: 'embedded', seed }))
  for (const [enough, played] of [
    [5, [1, 2, 3, 4, 5]],
    [2, [1, 2]],
  ] as const) {
    const players = new Players()
    const heard: number[] = []
    const onPlayed = ({ seed }: Seed): boolean => heard.push(seed) < enough
    await playMany(players, seeds.values(), { atOnce: 1, onPlayed })
    await players.close()
    t.strictSame(heard, played)
  }
})
