import t from 'tap'
import {
  describeClaim,
  formersGoneSince,
  isKnownUnder,
  isPlaceholder,
  mayRunElsewhere,
  nextStep,
  owingNodes,
  untoldNodes,
  withChallenge,
  withClaim,
  withFormer,
  withoutChallenge,
  withoutClaim,
  withNotHere,
  withoutYield,
  withRefusal,
  withYield,
} from '../../../../ipkeeper-server/ipam/records/node-record.ts'
import type {
  AskedYield,
  FormerClaim,
  NodeClaim,
  NodeRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { nodeRecord } from '../../../rigs/records.ts'

const claim = (id: string, session = `${id}-1`): NodeClaim => ({ id, session, bootId: 'b1', since: 0 })
const [mine, other, third] = [claim('me'), claim('it'), claim('third')]
const record = (patch: Partial<NodeRecord> = {}): NodeRecord =>
  nodeRecord('n1', { generation: 3, addresses: ['192.0.2.1'], ...patch })

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

t.test('whether a machine has the name, or had it', t => {
  const cases: readonly (readonly [what: string, record: NodeRecord, known: boolean])[] = [
    ['it has', record({ claim: mine }), true],
    ['it had', record({ claim: other, formers: [third, mine] }), true],
    ['others have and had', record({ claim: other, formers: [third] }), false],
    ['nobody has', record(), false],
  ]
  for (const [what, of, known] of cases) t.equal(isKnownUnder(of, mine.id), known, what)
  t.end()
})

t.test('a former claimant that is added puts out the oldest', t => {
  t.strictSame(withFormer(record(), mine), record({ formers: [mine] }))
  const sixteen = Array.from({ length: 16 }, (_, index) => claim(`old-${index}`))
  t.strictSame(withFormer(record({ formers: sixteen }), mine).formers, [...sixteen.slice(1), mine])
  t.end()
})

t.test('who is waited for after a loss', t => {
  const gone = { since: 5, by: 'n9' }
  const cases: readonly (readonly [
    what: string,
    node: Partial<NodeRecord>,
    untold: boolean,
    owing: boolean,
  ])[] = [
    ['one of before epochs', {}, true, false],
    ['one of the epoch before', { epoch: 1 }, true, false],
    ['one that has told', { epoch: 2 }, false, false],
    ['one that has told, and has something left to tell', { epoch: 2, owes: true }, false, true],
    ['one that has told nothing, and is gone', { epoch: 1, owes: true, gone }, false, false],
  ]
  for (const [what, patch, untold, owing] of cases) {
    const nodes = [record(patch)]
    t.strictSame(untoldNodes(nodes, 2), untold ? ['n1'] : [], what)
    t.strictSame(owingNodes(nodes), owing ? ['n1'] : [], what)
  }
  t.end()
})

t.test('what says no more than that there is a node', t => {
  const cases: readonly (readonly [what: string, patch: Partial<NodeRecord>, isIt: boolean])[] = [
    ['nothing else', { addresses: [] }, true],
    ['that it is gone', { addresses: [], gone: { since: 5, by: 'n9' } }, true],
    ['an address', {}, false],
    ['a claim', { addresses: [], claim: mine }, false],
    ['who had it', { addresses: [], formers: [mine] }, false],
    ['an epoch', { addresses: [], epoch: 1 }, false],
  ]
  for (const [what, patch, isIt] of cases) t.equal(isPlaceholder(record(patch)), isIt, what)
  t.end()
})

t.test('sandboxes that have to give their addresses up', t => {
  const asked = (containerId: string, address = '10.22.0.2', by = 'n2'): AskedYield => ({
    ...{ network: 'net', containerId, ifname: 'eth0', segment: 'default', address, by, since: 7 },
  })
  const [one, two] = [asked('c1'), asked('c1', '10.22.0.3')]
  const first = withYield(record(), one)
  t.strictSame(first, record({ yields: [one] }))
  t.equal(withYield(first, asked('c1', '10.22.0.2', 'n3')), first, 'it is asked for once, whoever asks')
  const both = withYield(first, two)
  t.strictSame(both.yields, [one, two], 'another address of the same sandbox')
  t.equal(withoutYield(both, asked('c2')), both, 'another sandbox with that address')
  t.strictSame(withoutYield(both, one), record({ yields: [two] }))
  t.strictSame(withoutYield(first, asked('c1', '10.22.0.2', 'n3')), record(), 'nothing is left of the list')
  const before = record()
  t.equal(withoutYield(before, one), before, 'nothing was asked')
  const elsewhere = withNotHere(both, one)
  t.strictSame(elsewhere.yields, [{ ...one, notHere: true }, two])
  t.equal(withNotHere(elsewhere, one), elsewhere, 'it is said once')
  t.equal(withNotHere(both, asked('c2')), both, 'nobody asked for that')
  t.strictSame(withoutYield(elsewhere, one), record({ yields: [two] }))
  t.end()
})

t.test('machines that had the name and may run', t => {
  const mine = { ...claim('me'), hardware: 'h1', bootId: 'b2' }
  const rows: readonly (readonly [what: string, former: Partial<FormerClaim>, may: boolean])[] = [
    ['other hardware', { hardware: 'h2', bootId: 'b1' }, true],
    ['hardware that is not known', { bootId: 'b1' }, true],
    ['the same hardware in the same boot', { hardware: 'h1', bootId: 'b2' }, true],
    ['the same hardware in an earlier boot', { hardware: 'h1', bootId: 'b1' }, false],
    ['one that was declared gone', { hardware: 'h2', gone: { since: 1, by: 'n2' } }, false],
  ]
  for (const [what, former, may] of rows)
    t.equal(mayRunElsewhere(record({ claim: mine, formers: [{ ...claim('former'), ...former }] })), may, what)
  t.equal(mayRunElsewhere(record({ formers: [claim('former')] })), true, 'nobody has the name')
  t.equal(mayRunElsewhere(record({ claim: mine })), false)
  t.end()
})

t.test('for people', t => {
  t.equal(describeClaim(claim('3f2a91c0d1e2ffff')), 'ID 3f2a91c0d1e2 since 1970-01-01T00:00:00Z')
  t.end()
})
