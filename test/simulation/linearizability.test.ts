import t from 'tap'
import { Judge, type Given, type Invariant } from './judge.ts'
import { isLinearizable, type Event, type Seen } from './linearizability.ts'

/** A line is what is seen, one after the other: the sandbox, and what of it. */
const parse = (text: string): readonly Event[] =>
  text.split('; ').map(part => ({ sandbox: Number(part.slice(0, 1)), seen: part.slice(2) as Seen }))

const accepted = [
  '1 ADD; 1 ADD answered; 1 DEL; 1 DEL answered; 2 ADD; 2 ADD answered',
  // The DEL may have been carried out before its answer, or without one.
  '1 ADD; 1 ADD answered; 1 DEL; 2 ADD; 2 ADD answered; 1 DEL answered',
  '1 ADD; 1 ADD answered; 1 DEL; 2 ADD; 2 ADD answered',
  // An ADD may have been carried out late, or never.
  '1 ADD; 2 ADD; 2 ADD answered',
  '1 ADD; 2 ADD; 2 ADD answered; 2 DEL; 2 DEL answered; 1 ADD answered',
  '1 ADD; 1 DEL; 1 DEL answered; 2 ADD; 2 ADD answered',
  '1 ADD; 2 ADD; 2 ADD answered; 2 DEL; 1 ADD answered; 2 DEL answered',
]

const refused = [
  '1 ADD; 1 ADD answered; 2 ADD; 2 ADD answered',
  '1 ADD; 2 ADD; 1 ADD answered; 2 ADD answered',
  // What comes later does not mend it.
  '1 ADD; 2 ADD; 1 ADD answered; 2 ADD answered; 1 DEL; 1 DEL answered',
  // The DEL of another sandbox frees nothing.
  '1 ADD; 1 ADD answered; 2 DEL; 2 DEL answered; 3 ADD; 3 ADD answered',
  '1 ADD; 1 ADD answered; 1 DEL; 2 ADD; 2 ADD answered; 3 ADD; 3 ADD answered',
]

for (const [texts, expected] of [
  [accepted, true],
  [refused, false],
] as const)
  for (const text of texts)
    t.test(`${expected ? 'accepted' : 'refused'}: ${text}`, async t => {
      t.equal(isLinearizable(parse(text)), expected)
      return Promise.resolve()
    })

/** Of one address, and of one pod that has an address of its own. */
const registers: readonly (readonly [Invariant, (sandbox: number) => Given])[] = [
  [
    'one owner',
    sandbox => ({
      ...{ container: `c${sandbox}`, machine: sandbox, address: '10.22.0.5' },
      wish: { pod: `pod-${sandbox}` },
    }),
  ],
  [
    'one address a pod',
    sandbox => ({
      ...{ container: `c${sandbox}`, machine: sandbox, address: `10.22.0.${sandbox + 2}` },
      wish: { pod: 'db-0', keep: 1000 },
    }),
  ],
]

/** What may be seen of a sandbox after what was seen of it last. */
const following: Readonly<Record<'nothing' | Seen, readonly Seen[]>> = {
  nothing: ['ADD'],
  ADD: ['ADD answered', 'DEL'],
  'ADD answered': ['DEL'],
  DEL: ['DEL answered'],
  'DEL answered': [],
}

const sandboxes = [0, 1, 2]

/** Each history of three sandboxes, the first of which begins first; none goes on after the moment at which it is wrong. */
function* histories(events: readonly Event[] = []): Generator<readonly Event[]> {
  yield events
  if (!isLinearizable(events)) return
  const begun = new Set(events.map(({ sandbox }) => sandbox)).size
  for (const sandbox of sandboxes.filter(number => number <= begun)) {
    const last = events.findLast(event => event.sandbox === sandbox)?.seen ?? 'nothing'
    for (const seen of following[last]) yield* histories([...events, { sandbox, seen }])
  }
}

function judged(events: readonly Event[], givenTo: (sandbox: number) => Given): readonly Invariant[] {
  const judge = new Judge(() => 0)
  for (const { sandbox, seen } of events)
    if (seen === 'ADD answered') judge.answered(givenTo(sandbox))
    else if (seen === 'DEL') judge.ended(givenTo(sandbox).container)
  return [...new Set(judge.violations.map(({ invariant }) => invariant))]
}

for (const [invariant, givenTo] of registers)
  t.test(`the judge refuses by "${invariant}" what is not linearizable, and nothing else`, async t => {
    const counts = { accepted: 0, refused: 0 }
    const differs: (readonly Event[])[] = []
    for (const events of histories()) {
      const isWell = isLinearizable(events)
      counts[isWell ? 'accepted' : 'refused']++
      const found = judged(events, givenTo)
      if (found.join() !== (isWell ? '' : invariant)) differs.push(events)
    }
    t.strictSame(differs, [])
    // That none is left out.
    t.strictSame(counts, { accepted: 18_408, refused: 192 })
    return Promise.resolve()
  })
