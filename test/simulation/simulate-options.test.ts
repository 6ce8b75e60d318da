import t from 'tap'
import { readWanted, type Wanted } from './simulate-options.ts'
import { kinds } from './steps.ts'

for (const [env, wanted] of [
  [{}, { kinds, first: 1, count: 100, isOne: false, hours: undefined, shrinkSeconds: 60 }],
  [
    { KIND: '', SEED: '', COUNT: '', HOURS: '' },
    { kinds, first: 1, count: 100 },
  ],
  [{ SEED: '7' }, { kinds, first: 7, isOne: true }],
  [
    { KIND: 'amnesia', SEED: '7', COUNT: '3' },
    { kinds: ['amnesia'], first: 7, count: 3, isOne: false },
  ],
  [
    { HOURS: '0.5', SEED: '7' },
    { hours: 0.5, first: 7, isOne: false },
  ],
  [
    { KIND: 'embedded', SEED: '7', KEEP: 'a-name', WHAT: 'it', SHRINK: '0' },
    { keep: 'a-name', what: 'it', shrinkSeconds: 0 },
  ],
] as readonly (readonly [Readonly<Record<string, string>>, Partial<Wanted>])[])
  t.test(JSON.stringify(env), t => {
    t.match(readWanted(env), wanted)
    t.end()
  })

for (const [env, says] of [
  [{ KIND: 'other' }, /no kind other; there are embedded, transactions, piecewise, amnesia$/],
  [{ SEED: '0' }, /SEED=0 is no number/],
  [{ COUNT: 'many' }, /COUNT=many is no number/],
  [{ SHRINK: '-1' }, /SHRINK=-1 is no number/],
  [{ HOURS: 'abc' }, /HOURS=abc is no number of hours/],
  [{ HOURS: '0.0' }, /HOURS=0.0 is no number of hours/],
  [{ HOURS: '1', COUNT: '1' }, /either COUNT or HOURS/],
  [{ KIND: 'embedded', SEED: '1', KEEP: '../name' }, /KEEP=..\/name is no name of a story/],
  [{ SEED: '1', KEEP: 'name' }, /KEEP wants KIND and SEED/],
  [
    { KIND: 'piecewise', SEED: '1', KEEP: 'claim-tried-again-without-a-pause' },
    /KEEP=claim-.* is there already/,
  ],
  [{ STORY: 'no-such-story' }, /STORY=no-such-story: there is no such story/],
] as readonly (readonly [Readonly<Record<string, string>>, RegExp])[])
  t.test(`refused: ${JSON.stringify(env)}`, t => {
    t.throws(() => readWanted(env), { name: 'Refused', message: says })
    t.end()
  })

t.test('hours begin with another seed each time', t => {
  const before = Math.floor(Date.now() / 1000) % 1_000_000_000
  t.ok(readWanted({ HOURS: '1' }).first >= before)
  t.end()
})
