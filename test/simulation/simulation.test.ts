/**
 * Histories of whole daemons on simulated edges, each kind from seed 1 on, and those that were once wrong. More of them, and the
 * story of one: make simulate (docs/contributing/simulation.md).
 */
import t, { type Test } from 'tap'
import { historyOf } from './history-of.ts'
import { playHistory } from './play-history.ts'
import type { Kind } from './steps.ts'

/** How many of each kind: a half minute of one core. */
const played: Readonly<Record<Kind, number>> = {
  embedded: 40,
  transactions: 40,
  piecewise: 40,
  amnesia: 10,
}

/** What was once wrong in a history, by its kind and seed. */
const once: readonly (readonly [kind: Kind, seed: number, what: string])[] = [
  [
    'piecewise',
    13,
    'a claim on a name was tried again without a pause, and kept its daemon from everything else',
  ],
  [
    'amnesia',
    18,
    "a change of a node's record that was pending at a loss took back what the node had told since",
  ],
  [
    'amnesia',
    240,
    'a refused DEL was planned anew on the expiry that had been built on it, and left its lease bound',
  ],
  ['amnesia', 163, 'a node that claimed its name while it told what it holds took back that it had'],
]

async function assertWell(t: Test, kind: Kind, seed: number): Promise<boolean> {
  const { violations, story } = await playHistory(historyOf(kind, seed))
  if (violations.length === 0) return true
  t.strictSame(violations, [], `make simulate KIND=${kind} SEED=${seed}`)
  for (const line of story.slice(-60)) t.comment(line)
  return false
}

for (const [kind, count] of Object.entries(played) as [Kind, number][])
  t.test(`${count} histories: ${kind}`, async t => {
    let well = 0
    for (let seed = 1; seed <= count; seed++) if (await assertWell(t, kind, seed)) well++
    t.equal(well, count)
  })

for (const [kind, seed, what] of once)
  t.test(`once: ${what}`, async t => {
    t.ok(await assertWell(t, kind, seed))
  })

t.test('a history ends the same way each time', async t => {
  const [first, second] = [
    await playHistory(historyOf('transactions', 3)),
    await playHistory(historyOf('transactions', 3)),
  ]
  t.strictSame(second, first)
  t.ok(first.story.length > 30)
})
