/**
 * Random histories of a few pods on a few pools and nodes, played on a whole lease service and on a small model of what
 * ipkeeper promises; after each step both have to say the same. Other histories at each run:
 *
 *   HISTORY_RUNS=50000    so many histories; 5000 unless set
 *   HISTORY_SEED=1        those of this seed; random when absent
 *   HISTORY_PATH=12:0:3   only the one at this place, as a failure names it
 */
import fc from 'fast-check'
import t from 'tap'
import { playHistory, type Tally } from './histories/play-history.ts'
import { shortestStory } from './histories/shorten-history.ts'
import { histories } from './histories/steps.ts'

const promisedRuns = 5000

const setting = (name: string, otherwise: number): number => {
  const text = process.env[name] ?? ''
  return /^-?[0-9]{1,10}$/.test(text) ? Number(text) : otherwise
}

const runs = setting('HISTORY_RUNS', promisedRuns)
const seed = setting('HISTORY_SEED', Math.floor(Math.random() * 2 ** 31))
const path = process.env['HISTORY_PATH'] ?? ''

/** What as many histories as `make test` plays have to bring about: a generator that drifts away from it proves nothing. */
const wanted = [
  'ADD',
  'ADD IPK_ADDRESS_HELD',
  'ADD IPK_ADDRESS_KEPT',
  'ADD IPK_ADDRESS_OUTSIDE',
  'ADD IPK_ADDRESS_RESERVED',
  'ADD IPK_ADDRESS_UNUSABLE',
  'ADD IPK_ALREADY_ADDED',
  'ADD IPK_CANDIDATES_BUSY',
  'ADD IPK_CANDIDATES_TAKEN',
  'ADD IPK_DEL_OVERTOOK',
  'ADD IPK_FACTS_MISSING',
  'ADD IPK_HOLDER_LIVE',
  'ADD IPK_INTERRUPTED',
  'ADD IPK_NAMESPACE_REFUSED',
  'ADD IPK_NODE_REFUSED',
  'ADD IPK_ORDINAL_BEYOND_LIST',
  'ADD IPK_POOL_FULL',
  'ADD IPK_POOL_OVERLAP',
  'ADD IPK_POOL_UNKNOWN',
  'ADD IPK_QUOTA',
  'ADD IPK_REQUESTS_DISAGREE',
  'ADD IPK_STORE_FAILED',
  'DEL',
  'DEL IPK_STORE_FAILED',
  'DEL of an ADD that nobody has the answer of',
  'GC ends one',
  'GC leaves a younger one',
  'at once',
  'got answered again',
  'got by name',
  'got by ordinal',
  'got candidate: any',
  'got candidate: its own',
  'got inherited',
  'got inherited from a pod that is lost',
  'got its own',
  'got longest rested',
  'got lowest free',
  'got reserved for the pod',
  'got reserved for the workload',
  'got what was moved to it',
  'move what is bound',
  'move what is held',
  'reserve',
  'the clock is set back',
  'the clock is set forward',
  'reserve IPK_ADDRESS_HELD',
  'reserve IPK_ADDRESS_RESERVED',
  'reserve for a workload',
  'undo',
  'undo after other changes',
]

t.test('whatever happens, each step ends as promised', async t => {
  const tally: Tally = new Map()
  const details = await fc.check(
    fc.asyncProperty(histories, history => playHistory(history, tally)),
    { seed, ...(path === '' ? { numRuns: runs } : { numRuns: 1, path }) },
  )
  if (details.failed) {
    const replay = `HISTORY_SEED=${seed} HISTORY_PATH=${details.counterexamplePath ?? ''}`
    const [history] = details.counterexample ?? []
    const story = history ? await shortestStory(history) : 'interrupted'
    for (const line of story.split('\n')) t.comment(line)
    t.fail(`replay: ${replay} node test/properties/histories.test.ts`)
    return
  }
  const counts = [...tally].sort(([, a], [, b]) => b - a).map(([what, count]) => `${what} ${count}`)
  t.pass(`${details.numRuns} histories, seed ${seed}: ${counts.join(', ')}`)
  if (path !== '' || runs < promisedRuns) return
  t.strictSame(
    wanted.filter(what => !tally.has(what)),
    [],
    'everything came about that the histories are about',
  )
})
