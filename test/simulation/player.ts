/** Plays the histories that it is told of by its parent, one after the other; players.ts starts it. */
import { coverageOf } from './coverage.ts'
import { historyOf } from './history-of.ts'
import { playHistory } from './play-history.ts'
import type { Asked, Played } from './players.ts'

process.on('message', (asked: Asked) => {
  void play(asked).then(played => process.send?.(played))
})

async function play(asked: Asked): Promise<Played> {
  const history = 'moments' in asked ? asked : historyOf(asked.kind, asked.seed)
  const outcome = await playHistory(history)
  return { ...outcome, coverage: coverageOf(history, outcome.story) }
}
