/**
 * Plays histories of whole daemons (test/simulation), and tells what was wrong as a story, as short as it could be made;
 * make simulate gives the variables:
 *
 *   KIND=transactions    embedded, transactions, piecewise or amnesia; all in turn unless set
 *   SEED=7               this one, and its story
 *   COUNT=100            so many of each kind from SEED (1 unless set) on, until one is wrong; 100 where SEED is not set
 *   HOURS=0.5            new ones until the time is over, from SEED on (one by the time unless set), also after a wrong one
 *   SHRINK=60            seconds for making a wrong one shorter; 0 tells it as it is
 *   KEEP=name            writes the wrong one of KIND and SEED, made shorter, to test/simulation/stories/name.json
 *   WHAT='...'           says in it what was wrong
 *   STORY=name           tells this one of test/simulation/stories
 *   FAULT=late-del       with a fault that was mended put back: a name of test/simulation/faults.ts
 *
 * Exit 1 when something was wrong, 2 when a variable is.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, relative } from 'node:path'
import { TotalCoverage } from '../test/simulation/coverage.ts'
import { historyOf } from '../test/simulation/history-of.ts'
import type { Outcome } from '../test/simulation/play-history.ts'
import { playMany, Players, type Played, type Seed } from '../test/simulation/players.ts'
import { shrink } from '../test/simulation/shrink.ts'
import { readWanted, Refused, type Wanted } from '../test/simulation/simulate-options.ts'
import { readStory, storyFile, storyText } from '../test/simulation/stories.ts'
import type { History, Kind } from '../test/simulation/steps.ts'
import { tellStory } from '../test/simulation/tell.ts'

const say = (text: string): void => {
  console.log(`simulate: ${text}`)
}

const players = new Players()

/** Ends with what there is so far; the second time at once. */
let interrupted: number | undefined
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const)
  process.once(signal, () => {
    interrupted = 128 + number
    // What is under way ends soon, unless it never does.
    setTimeout(() => void players.close(), 5_000).unref()
  })

/** Milliseconds: of one that never ends, each try takes as long. */
const shrinkPatience = 4_000

function tell(history: History, outcome: Outcome): void {
  for (const line of tellStory(history, outcome)) console.log(line)
}

/** Makes a wrong history shorter, tells it, and keeps it where that is wanted. */
async function tellWrong(
  history: History,
  outcome: Outcome,
  { shrinkSeconds, keep, what }: Wanted,
): Promise<void> {
  const [first] = outcome.violations
  if (!first) return
  const { invariant } = first
  const began = performance.now()
  const seconds = (): number => (performance.now() - began) / 1000
  say(`wrong: ${invariant}: ${first.says}`)
  const shrunk = await shrink(history, {
    ...{ play: async one => await players.play(one, shrinkPatience), invariant },
    goOn: () => interrupted === undefined && seconds() < shrinkSeconds,
    onShorter: (steps, tries) => {
      say(`${steps} of ${history.moments.length} steps after ${tries} tries, ${seconds().toFixed(1)} s`)
    },
  })
  if (shrinkSeconds > 0)
    say(
      `${shrunk.history.moments.length} of ${history.moments.length} steps are enough` +
        (shrunk.isSmallest
          ? ', and each of them is needed'
          : '; there was no time to try for fewer (SHRINK)'),
    )
  tell(shrunk.history, shrunk.outcome ?? outcome)
  if (keep === undefined) return
  const file = storyFile(keep)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, storyText({ what: what ?? first.says, broke: invariant, history: shrunk.history }))
  say(`kept in ${relative(process.cwd(), file)}; again: make simulate STORY=${keep}`)
}

const again = ({ kind, seed }: Seed): string =>
  `make simulate KIND=${kind} SEED=${seed}${players.fault === undefined ? '' : ` FAULT=${players.fault}`}`

/** Returns whether it is well. */
async function playOne(history: History, wanted: Wanted): Promise<boolean> {
  const outcome = await players.play(history)
  if (outcome.violations.length > 0) await tellWrong(history, outcome, wanted)
  else tell(history, outcome)
  return outcome.violations.length === 0
}

function* seedsFrom(first: number, count: number, kinds: readonly Kind[]): Generator<Seed, undefined> {
  for (let seed = first; seed < first + count; seed++) for (const kind of kinds) yield { kind, seed }
}

/** Those of a count until one is wrong, or of a time also after that. Returns whether all were well. */
async function playAll(wanted: Wanted): Promise<boolean> {
  const { first, count, hours, kinds } = wanted
  const coverage = new TotalCoverage()
  const wrong: (Seed & { readonly outcome: Outcome })[] = []
  const began = performance.now()
  const seconds = (): number => (performance.now() - began) / 1000
  let many = 0
  const soFar = (): string =>
    `${many} histories in ${(seconds() / 60).toFixed(1)} min, ${(many / seconds()).toFixed(1)} a second: ` +
    (wrong.length === 0 ? 'all well' : `${wrong.length} wrong`)
  const isOver = (): boolean =>
    interrupted !== undefined || (hours === undefined ? wrong.length > 0 : seconds() > hours * 3600)
  const onPlayed = (seed: Seed, played: Played): boolean => {
    // One that was ended by an interrupt says nothing.
    if (interrupted !== undefined && played.story.length === 0) return false
    many++
    coverage.add(seed.kind, played.coverage)
    const [violation] = played.violations
    if (violation) {
      wrong.push({ ...seed, outcome: played })
      if (hours !== undefined)
        say(`wrong: ${seed.kind} ${seed.seed}: ${violation.invariant}: ${violation.says}`)
    }
    return !isOver()
  }
  say(
    `${kinds.join(', ')} from seed ${first} on${hours === undefined ? '' : `, for ${hours} h (SEED=${first})`}`,
  )
  const progress = setInterval(() => {
    say(soFar())
  }, 60_000)
  const atOnce = Math.min(availableParallelism(), 2)
  await playMany(players, seedsFrom(first, hours === undefined ? count : Infinity, kinds), {
    atOnce,
    onPlayed,
  })
  clearInterval(progress)
  const [one] = wrong
  if (hours === undefined && one) {
    await tellWrong(historyOf(one.kind, one.seed), one.outcome, wanted)
    say(`again: ${again(one)}`)
    return false
  }
  for (const line of coverage.table()) console.log(line)
  for (const { outcome, ...seed } of wrong) say(`${outcome.violations[0]?.invariant ?? ''}: ${again(seed)}`)
  say(`${interrupted === undefined ? '' : 'interrupted after '}${soFar()}`)
  return wrong.length === 0
}

async function run(wanted: Wanted): Promise<boolean> {
  const { story, keep, kinds, first, isOne, fault } = wanted
  players.fault = fault
  if (story !== undefined) return await playOne(readStory(story).history, wanted)
  if (!isOne) return await playAll(wanted)
  let isWell = true
  for (const kind of kinds) {
    const isThisWell = await playOne(historyOf(kind, first), wanted)
    say(`${isThisWell ? 'all well' : 'again'}: ${again({ kind, seed: first })}`)
    isWell &&= isThisWell
  }
  if (isWell && keep !== undefined) throw new Refused(`nothing is wrong in it, and nothing was kept`)
  return isWell
}

try {
  process.exitCode = (await run(readWanted(process.env))) ? (interrupted ?? 0) : 1
} catch (error) {
  if (!(error instanceof Refused)) throw error
  console.error(`simulate: ${error.message}`)
  process.exitCode = 2
} finally {
  await players.close()
}
