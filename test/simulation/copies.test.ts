import t from 'tap'
import { playHistory } from './play-history.ts'
import { machinesOf, wishes, type History, type Kind, type Step } from './steps.ts'

const start = (pod: string, on = 0): Step => ({
  ...{ do: 'start', on, as: 'new' },
  pod: wishes.findIndex(wish => wish.pod === pod),
})
const putBack = (what: 'folder' | 'disk'): Step => ({ do: 'put back', on: 0, what, away: 1_000 })
const clone = (same: boolean, named = true): Step => ({ do: 'clone', on: 0, of: 'disk', same, named })

/** A step every ten seconds. */
const historyOf = (kind: Kind, steps: readonly Step[]): History => ({
  ...{ kind, seed: 1, configured: true, copies: true, end: 10_000 * (steps.length + 1) },
  moments: steps.map((step, place) => ({ at: 10_000 * (place + 1), step })),
})

interface Row {
  readonly what: string
  readonly kind: Kind
  readonly steps: readonly Step[]
  readonly says: RegExp
  readonly saysNot?: RegExp
}

const rows: readonly Row[] = [
  {
    what: 'of pods that run what an older folder lacks is recorded again',
    kind: 'embedded',
    steps: [start('app-a'), putBack('folder'), start('app-b')],
    says: /n0: records 10\.22\.0\.2 of c2 again\n[^]* of app-b on n0 has 10\.22\.0\.3/,
  },
  {
    what: 'also where the engine has the lease, and only the journal is older',
    kind: 'transactions',
    steps: [start('app-a'), putBack('folder'), start('app-b')],
    says: /n0: records 10\.22\.0\.2 of c2 again\n[^]* of app-b on n0 has 10\.22\.0\.3/,
  },
  {
    what: 'an older folder knows what the copy had',
    kind: 'embedded',
    steps: [start('app-a'), { do: 'copy', on: 0 }, putBack('folder'), start('app-b')],
    says: / of app-b on n0 has 10\.22\.0\.3/,
    saysNot: /records/,
  },
  {
    what: 'after the boot of an older disk nothing runs that it lacks',
    kind: 'embedded',
    steps: [start('app-a'), putBack('disk'), start('app-b')],
    says: / of app-b on n0 has 10\.22\.0\.2/,
    saysNot: /records/,
  },
  {
    what: 'what a shared store has of such a pod people end',
    kind: 'transactions',
    steps: [start('app-a'), putBack('disk'), start('app-b')],
    says: / of app-b on n0 has 10\.22\.0\.3[^]*10\.22\.0\.2 of c2, of which there is no record, is released by force/,
  },
  {
    what: 'a disk in the place of its machine, on other hardware',
    kind: 'embedded',
    steps: [start('web-0'), clone(false), start('web-0')],
    says: / on n0 has 10\.22\.0\.5[^]* on n0 has 10\.22\.0\.5/,
  },
  {
    what: 'a clone on other hardware, with the name of a machine that lives',
    kind: 'transactions',
    steps: [start('web-0'), clone(false), start('app-a', 3)],
    says: /n0: refuses its name to another machine\n[^]*is refused: IPK_NODE_NAME_TAKEN/,
  },
  {
    what: 'a clone on other hardware, with a name of its own, is a node of its own',
    kind: 'transactions',
    steps: [start('web-0'), clone(false, false), start('app-a', 3)],
    says: / of app-a on n3 has /,
    saysNot: /refuses its name/,
  },
  {
    what: 'a clone that nothing tells from its original is found out by that',
    kind: 'transactions',
    steps: [start('web-0'), clone(true, false), start('app-a', 3)],
    says: /n0: refuses its name to another machine\n[^]*is refused: IPK_NODE_NAME_TAKEN/,
  },
]

for (const { what, kind, steps, says, saysNot } of rows)
  t.test(`${kind}: ${what}`, async t => {
    const { violations, story } = await playHistory(historyOf(kind, steps))
    t.strictSame(violations, [])
    const told = story.map(line => `${line.replace(/^\S+ /, '')}\n`).join('')
    t.match(told, says)
    if (saysNot) t.notMatch(told, saysNot)
  })

t.test('there is one clone at most', async t => {
  const { story } = await playHistory(historyOf('transactions', [clone(false, false), clone(false, false)]))
  const serving = story.filter(line => / n\d: serves$/.test(line))
  t.equal(serving.length, machinesOf('transactions') + 1)
})
