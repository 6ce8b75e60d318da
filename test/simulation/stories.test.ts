/** What was once wrong, played again; and the way from a wrong history to such a file. */
import { readdirSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { EngineDouble } from '../rigs/engine-double.ts'
import { historyOf } from './history-of.ts'
import { playHistory, type Outcome } from './play-history.ts'
import { shrink } from './shrink.ts'
import { parseStory, readStory, storiesFolder, storyFile, storyText } from './stories.ts'
import type { History } from './steps.ts'
import { tellStory } from './tell.ts'

for (const file of readdirSync(storiesFolder).sort()) {
  const name = file.replace(/\.json$/, '')
  const { what, history } = readStory(name)
  t.test(`once: ${what}`, async t => {
    const { violations } = await playHistory(history)
    t.strictSame(violations, [], `make simulate STORY=${name}`)
  })
}

/** Says that leases are deleted, and has them still. */
class Hoarder extends EngineDouble {
  override carryOut(...[writes]: Parameters<EngineDouble['carryOut']>): ReturnType<EngineDouble['carryOut']> {
    return super.carryOut(writes.filter(({ kind, text }) => kind !== 'lease' || text !== null))
  }
}

const playWithFault = async (history: History): Promise<Outcome> =>
  await playHistory(history, { engine: new Hoarder() })

t.test('a fault is found, its history made short, told, kept, and played again', async t => {
  let [seed, history] = [0, historyOf('transactions', 1)]
  let outcome: Outcome
  do {
    history = historyOf('transactions', ++seed)
    outcome = await playWithFault(history)
  } while (outcome.violations.length === 0 && seed < 30)
  const [violation] = outcome.violations
  if (!violation) throw new Error(`nothing was wrong up to seed ${seed}`)

  const { invariant } = violation
  const shrunk = await shrink(history, { play: playWithFault, invariant, goOn: () => true })
  const { moments } = shrunk.history
  t.ok(shrunk.isSmallest)
  t.ok(
    moments.length > 0 && moments.length <= 6,
    `${moments.length} of ${history.moments.length} steps are left`,
  )
  for (const [left] of moments.entries()) {
    const { violations } = await playWithFault({
      ...shrunk.history,
      moments: moments.filter((_, place) => place !== left),
    })
    t.notOk(
      violations.some(other => other.invariant === invariant),
      `step ${left + 1} is needed`,
    )
  }

  const told = shrunk.outcome ? tellStory(shrunk.history, shrunk.outcome) : []
  t.equal(told.filter(line => line.startsWith('>>')).length, 1, 'one moment is marked')
  t.match(told.find(line => line.startsWith('>>')) ?? '', `WRONG: ${invariant}: `)

  const folder = t.testdir({})
  writeFileSync(
    storyFile('hoarder', folder),
    storyText({ what: 'a test', broke: invariant, history: shrunk.history }),
  )
  const kept = readStory('hoarder', folder)
  t.match(kept, { what: 'a test', broke: invariant })
  t.ok((await playWithFault(kept.history)).violations.some(other => other.invariant === invariant))
  t.strictSame((await playHistory(kept.history)).violations, [], 'without the fault')
})

t.test('a story can be read by a person, and comes back as it was', async t => {
  const history = historyOf('amnesia', 1)
  const text = storyText({ what: 'it', broke: 'one owner', history })
  t.match(text, /^ {4}\{ "at": \d+, "do": "start", "pod": "[a-z-]+\d?", "on": [012], /m)
  t.strictSame(await playHistory(parseStory(text).history), await playHistory(history))
})

const story = (change: object): string =>
  JSON.stringify({ what: 'it', broke: 'one owner', kind: 'embedded', seed: 1, end: 1, steps: [], ...change })

for (const [name, change, says] of [
  ['kind', { kind: 'other' }, /no kind other/],
  ['invariant', { broke: 'other' }, /no invariant "other"/],
  ['step', { steps: [{ at: 0, do: 'dance' }] }, /nothing is called "dance"/],
  ['pod', { steps: [{ at: 0, do: 'start', pod: 'other' }] }, /no pod other/],
  ['mood', { steps: [{ at: 0, do: 'engine', on: 0, is: 'sad' }] }, /an engine is never sad/],
] as const)
  t.test(`a story with a ${name} that there is no more is refused`, t => {
    t.throws(() => parseStory(story(change)), { message: says })
    t.end()
  })

t.test('lines that come again and again are told once', t => {
  const texts = ['a', 'b', 'c', 'b', 'c', 'b', 'c', 'd', 'd', 'WRONG: x', 'WRONG: y']
  const story = texts.map((text, at) => `${at}.000 ${text}`)
  t.strictSame(tellStory({ ...historyOf('embedded', 1), moments: [] }, { violations: [], story }), [
    '       0.000 a',
    '       1.000 b',
    '       2.000 c',
    '             (these 2 lines 2 times more, until 6.000)',
    '       7.000 d',
    '       8.000 d',
    '>>     9.000 WRONG: x',
    '      10.000 WRONG: y',
  ])
  t.end()
})
