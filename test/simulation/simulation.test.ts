/**
 * Histories of whole daemons on simulated edges: each kind from seed 1 on, and then others at each commit. Those that were once
 * wrong are in stories.test.ts. More of them, and the story of one: make simulate (docs/contributing/simulation.md).
 *
 *   SIMULATED_SECONDS=30     seconds for the new ones
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readSource } from '../../scripts/read-source.ts'
import { coverageOf, TotalCoverage } from './coverage.ts'
import { configuresFrom, copiesFrom, historyOf } from './history-of.ts'
import { playHistory, type Outcome } from './play-history.ts'
import { kinds, type Kind } from './steps.ts'
import { tellStory } from './tell.ts'

const budget = Number(process.env['SIMULATED_SECONDS'] ?? 30)

/** How many of each kind: a half minute of one core. */
const played: Readonly<Record<Kind, number>> = {
  embedded: 40,
  transactions: 40,
  piecewise: 40,
  amnesia: 10,
}

/** How many of each kind from these seeds on. */
const newer: readonly (readonly [what: string, first: number, count: number])[] = [
  ['addresses are released by force and moved, and configurations change', configuresFrom, 10],
  ['disks are copied as well, and put back', copiesFrom, 10],
]

/**
 * What is too rare to happen in those: a sandbox that is cut off, and a node that is waited for; an address that another pod has by an older
 * ledger.
 */
const rare: readonly (readonly [kind: Kind, seed: number])[] = [
  ['amnesia', 284],
  ['embedded', 800_000_208],
]

const coverage = new TotalCoverage()

async function play(kind: Kind, seed: number): Promise<Outcome & { readonly told: readonly string[] }> {
  const history = historyOf(kind, seed)
  const outcome = await playHistory(history)
  coverage.add(kind, coverageOf(history, outcome.story))
  return { ...outcome, told: tellStory(history, outcome) }
}

async function assertWell(t: Test, kind: Kind, seed: number): Promise<boolean> {
  const { violations, told } = await play(kind, seed)
  if (violations.length === 0) return true
  t.strictSame(violations, [], `make simulate KIND=${kind} SEED=${seed}`)
  for (const line of told.slice(-60)) t.comment(line)
  return false
}

for (const [kind, count] of Object.entries(played) as [Kind, number][])
  t.test(`${count} histories: ${kind}`, async t => {
    let well = 0
    for (let seed = 1; seed <= count; seed++) if (await assertWell(t, kind, seed)) well++
    t.equal(well, count)
  })

for (const [what, from, count] of newer)
  t.test(`${count} of each kind in which ${what}`, async t => {
    for (let seed = from; seed < from + count; seed++)
      for (const kind of kinds) t.ok(await assertWell(t, kind, seed), `${kind} ${seed}`)
  })

t.test('and what is rare', async t => {
  for (const [kind, seed] of rare) t.ok(await assertWell(t, kind, seed))
})

t.test('in these, everything happens that can', t => {
  t.strictSame(coverage.never, [])
  t.end()
})

t.test('a history ends the same way each time', async t => {
  const [first, second] = [
    await playHistory(historyOf('transactions', 3)),
    await playHistory(historyOf('transactions', 3)),
  ]
  t.strictSame(second, first)
  t.ok(first.story.length > 30)
})

/** Others at each commit, and the same ones each time at one: a quick machine plays no more of them than this many a second. */
const mostASecond = 20
const { commit } = readSource(join(import.meta.dirname, '..', '..'), process.env)
const first = 1_000_000 + (Number.parseInt(commit.slice(0, 7), 16) || 0)

t.test(`new histories of commit ${commit}, from seed ${first} on`, async t => {
  const began = performance.now()
  const seconds = (): number => (performance.now() - began) / 1000
  let count = 0
  for (let seed = first; seconds() < budget && count < budget * mostASecond; seed++)
    for (const kind of kinds) {
      count++
      const { violations, told } = await play(kind, seed)
      t.strictSame(violations, [], `make simulate KIND=${kind} SEED=${seed}`)
      for (const line of violations.length > 0 ? told.slice(-60) : []) t.comment(line)
    }
  t.pass(`${count} histories`)
})
