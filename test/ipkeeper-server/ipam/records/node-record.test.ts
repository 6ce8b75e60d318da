import t from 'tap'
import {
  describeClaim,
  formersGoneSince,
  nextStep,
  withChallenge,
  withClaim,
  withoutChallenge,
  withoutClaim,
  withRefusal,
} from '../../../../ipkeeper-server/ipam/records/node-record.ts'
import type { FormerClaim, NodeClaim, NodeRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'

const claim = (id: string, session = `${id}-1`): NodeClaim => ({ id, session, bootId: 'b1', since: 0 })
const [mine, other, third] = [claim('me'), claim('it'), claim('third')]
const record = (patch: Partial<NodeRecord> = {}): NodeRecord => ({
  ...{ name: 'n1', generation: 3, addresses: ['192.0.2.1'], since: 0 },
  ...patch,
})

const steps: readonly (readonly [
  what: string,
  record: NodeRecord | undefined,
  step: string,
  asked?: number,
])[] = [
  ['nothing is there', undefined, 'take'],
  ['a version wrote it that knew of no claims', record(), 'take'],
  ['it is ours', record({ claim: mine }), 'mine'],
  [
    'it is ours, and somebody says that we are gone',
    record({ claim: mine, gone: { since: 1, by: 'n2' } }),
    'take',
  ],
  ['it is ours, and somebody else wants it', record({ claim: mine, challenge: other }), 'mine'],
  ["it is another one's", record({ claim: other }), 'challenge'],
  [
    'it is of another run of this folder, in another boot, or of a copy',
    record({ claim: claim('me', 'x') }),
    'challenge',
  ],
  ['we have asked', record({ claim: other, challenge: mine }), 'wait'],
  ['somebody else has asked', record({ claim: other, challenge: third }), 'queue'],
  [
    'an operator has asked, who does not want the name',
    record({ claim: other, challenge: { ...third, askedOn: 'n2' } }),
    'challenge',
  ],
  ['we were refused', record({ claim: other, refused: mine.session }), 'refused', 2],
  ['we were refused before we asked this time', record({ claim: other, refused: mine.session }), 'challenge'],
  ['somebody else was refused, and we have not asked', record({ claim: other, refused: 'x' }), 'challenge'],
  ['somebody else was refused since we asked', record({ claim: other, refused: 'x' }), 'refused', 2],
  ['what is read is older than our question', record({ claim: other, refused: 'x' }), 'challenge', 4],
  ['somebody else has asked since we did', record({ claim: other, challenge: third }), 'queue', 2],
]
for (const [what, present, step, asked] of steps) {
  t.test(`next: ${what}`, t => {
    t.equal(nextStep(present, mine, asked).kind, step)
    t.end()
  })
}

t.test('who had the name is remembered, once, but for oneself', t => {
  const taken = withClaim(record({ claim: other, challenge: mine, refused: 'x' }), mine)
  t.strictSame(taken, record({ claim: mine, formers: [other] }))
  const again = withClaim({ ...taken, claim: claim('it', 'it-2') }, mine)
  t.strictSame(again.formers, [claim('it', 'it-2')])
  t.strictSame(withClaim(record({ claim: claim('me', 'x') }), mine), record({ claim: mine }))
  t.strictSame(withClaim(record({ claim: third, formers: [other, mine] }), mine).formers, [other, third])
  t.strictSame(withClaim(record(), mine), record({ claim: mine }))
  t.end()
})

t.test('of those who had the name the newest are remembered', t => {
  let name = record()
  for (let boot = 0; boot < 100; boot++) name = withClaim(name, claim(`boot-${boot}`))
  t.strictSame(
    name.formers?.map(({ id }) => id),
    Array.from({ length: 16 }, (_, index) => `boot-${83 + index}`),
  )
  const long = Array.from({ length: 40 }, (_, index) => claim(`old-${index}`))
  t.equal(withClaim(record({ claim: other, formers: long }), mine).formers?.length, 16)
  t.end()
})

t.test('a contest', t => {
  const asked = withChallenge(record({ claim: other, refused: 'x' }), mine)
  t.strictSame(asked, record({ claim: other, challenge: mine }))
  t.strictSame(withRefusal(asked, mine), record({ claim: other, refused: mine.session }))
  t.strictSame(withoutChallenge(asked, mine), record({ claim: other }))
  t.equal(withoutChallenge(asked, third), asked, "another one's is not for us to take back")
  t.end()
})

t.test('a name that is given up', t => {
  const gone = { since: 5, by: 'n9' }
  const rows: readonly (readonly [what: string, before: NodeRecord, isBorne: boolean, after: NodeRecord])[] =
    [
      ['nobody else had', record({ claim: mine, challenge: other }), false, record({ gone })],
      ['somebody else may live under', record({ claim: mine }), true, record()],
      ['another machine had', record({ claim: mine, formers: [other] }), false, record({ formers: [other] })],
      ['this machine alone is known to have had', record({ formers: [mine] }), false, record({ gone })],
      ['both had', record({ formers: [mine, other] }), false, record({ formers: [other] })],
    ]
  for (const [what, before, isBorne, after] of rows)
    t.strictSame(withoutClaim(before, { id: mine.id, isBorne, gone }), after, what)
  const before = record({ gone: { since: 1, by: 'n2' } })
  t.equal(withoutClaim(before, { id: mine.id, isBorne: false, gone }), before, 'that was said before')
  t.end()
})

t.test('who claims a name is not gone', t => {
  const gone = { since: 5, by: 'n9' }
  for (const claimed of [undefined, mine, claim('me', 'before')])
    t.strictSame(
      withClaim(record({ ...(claimed && { claim: claimed }), epoch: 3, gone }), mine),
      record({ claim: mine, epoch: 3 }),
    )
  t.strictSame(
    withClaim(record({ claim: other, formers: [third], gone }), mine),
    record({
      claim: mine,
      formers: [
        { ...third, gone },
        { ...other, gone },
      ],
    }),
  )
  t.end()
})

t.test('since when all who had the name before are gone', t => {
  const said = (id: string, since: number): FormerClaim => ({ ...claim(id), gone: { since, by: 'n9' } })
  const cases: readonly (readonly [
    what: string,
    formers: readonly FormerClaim[],
    since: number | undefined,
  ])[] = [
    ['there was none', [], undefined],
    ['one of them may live', [said('a', 5), other], undefined],
    ['all are', [said('a', 5)], 5],
    ['since the last of them is', [said('a', 7), said('b', 5)], 7],
  ]
  for (const [what, formers, since] of cases) t.equal(formersGoneSince(record({ formers })), since, what)
  t.end()
})

t.test('for people', t => {
  t.equal(describeClaim(claim('3f2a91c0d1e2ffff')), 'ID 3f2a91c0d1e2 since 1970-01-01T00:00:00Z')
  t.end()
})
