/** A cycle of episodes, which has every kind of fault: two minutes. `make soak` goes on with seeds that nobody has tried. */
import t from 'tap'
import { distFolder, missing } from '../rigs/requirements.ts'
import { livesFor, playEpisode } from './episode.ts'
import { cycle, nameIn, promised } from './fault-kinds.ts'
import { soakNeeds } from './needs.ts'
import { tellStory } from './story.ts'

const skip = missing(...soakNeeds)
const seeds = Array.from({ length: cycle }, (_, seed) => seed)
const [happened, lived] = [new Set<string>(), new Set<string>()]

for (const seed of seeds) {
  t.test(`the episode of seed ${seed}`, { skip, timeout: 180_000 }, async t => {
    const verdict = await playEpisode({ seed, dist: distFolder })
    const { plan, faults, mishaps, evidence, took } = verdict
    t.comment(`${plan.store}: ${evidence.events.length} events in ${(took / 1000).toFixed(0)} s`)
    for (const kind of verdict.lives.keys()) lived.add(kind)
    for (const [kind, count] of mishaps) {
      happened.add(nameIn(kind, plan.store))
      t.comment(`${kind}: ${count}`)
    }
    const [first] = faults
    if (first) t.fail(first.text, { story: tellStory(verdict, `make soak SEED=${seed}`) })
    else t.pass('all promises kept')
    t.ok(evidence.events.length > 50, 'pods lived')
  })
}

t.test('every kind of fault happened, and pods lived in every way', { skip }, t => {
  t.strictSame(
    promised().filter(kind => !happened.has(kind)),
    [],
  )
  t.strictSame(
    livesFor({})
      .map(({ kind }) => kind)
      .filter(kind => !lived.has(kind)),
    [],
  )
  t.end()
})
