/** Plays the histories that it is told of by its parent, one after the other; players.ts starts it. */
import { faults } from './faults.ts'
import type { Asked, Played } from './players.ts'
import { putBack } from './put-back.ts'

const [, , name] = process.argv
const fault = name === undefined ? undefined : faults[name]
if (fault) putBack(fault)
// What is imported from here on has it.
const { coverageOf } = await import('./coverage.ts')
const { historyOf } = await import('./history-of.ts')
const { playHistory } = await import('./play-history.ts')

process.on('message', (asked: Asked) => {
  void play(asked).then(played => process.send?.(played))
})

async function play(asked: Asked): Promise<Played> {
  const history = 'moments' in asked ? asked : historyOf(asked.kind, asked.seed)
  const outcome = await playHistory(history)
  return { ...outcome, coverage: coverageOf(history, outcome.story) }
}
