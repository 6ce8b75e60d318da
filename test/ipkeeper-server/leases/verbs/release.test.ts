import t from 'tap'
import { release } from '../../../../ipkeeper-server/leases/verbs/release.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { assertSound } from '../ledger/sound-ledger.ts'
import { poolFrom, TestService } from '../test-service.ts'

const open = async (retain: string | undefined): Promise<TestService> => {
  const story = await TestService.open()
  const kept = retain === undefined ? {} : { retain }
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50', ...kept })
  await story.del('c1')
  return story
}

for (const [retain, state, until] of [
  ['forever', 'held', null],
  ['30m', 'held', '2026-01-01T00:30:00.000Z'],
  [undefined, 'cooling', '2026-01-01T00:10:00.000Z'],
] as const) {
  t.test(`what is ${state} ${until ?? 'without an end'} is anybody's`, async t => {
    const story = await open(retain)
    const { ledger } = story.service
    t.match(await release(story.service, 'default', '10.22.0.50'), {
      released: { address: '10.22.0.50', state, until, pod: { namespace: 'shop', name: 'a' } },
      reservation: null,
    })
    t.strictSame(story.leases(), [])
    t.equal(ledger.counts().holder, 0, 'the holder goes with its last address')
    assertSound(ledger, 'after the release')
    t.equal(await story.add({ pod: 'b', container: 'c2', ip: '10.22.0.50' }), '10.22.0.50')
  })
}

t.test('another spelling, another segment', async t => {
  const story = await open('forever')
  const elsewhere = await thrownProblem(() => release(story.service, 'lab', '10.22.0.50'))
  t.match(elsewhere, {
    code: 'IPK_ADDRESS_FREE',
    message: '10.22.0.50 is neither kept for a holder nor cooling down in segment lab',
    hint: 'see: ipkeeperctl who 10.22.0.50',
  })
  await release(story.service, 'default', '::ffff:10.22.0.50')
  t.strictSame(story.leases(), [])
})

t.test('of two families one is released: the holder keeps the other', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  await story.add({ pod: 'a', container: 'c1', retain: 'forever' })
  await story.del('c1')
  await release(story.service, 'default', 'fd00:22::2')
  assertSound(story.service.ledger, 'after the release')
  t.equal(await story.add({ pod: 'b', container: 'c2' }), '10.22.0.3,fd00:22::2')
  t.equal(await story.add({ pod: 'a', container: 'c3' }), '10.22.0.2,fd00:22::3')
})

t.test('a reservation stays, and is told', async t => {
  const story = await open('forever')
  await reserve(story.service, { segment: 'default', address: '10.22.0.50', owner: 'shop/a', note: 'x' })
  t.match(await release(story.service, 'default', '10.22.0.50'), {
    reservation: { owner: 'shop/a', note: 'x' },
  })
  t.equal(await story.add({ pod: 'b', container: 'c2', ip: '10.22.0.50' }), 'IPK_ADDRESS_RESERVED')
})

t.test('refused while a sandbox has it', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50', retain: 'forever' })
  await story.add({ container: 'c2' })
  for (const [address, message, hint] of [
    [
      '10.22.0.50',
      '10.22.0.50 is bound to shop/a on node n1 (container c1, since 2026-01-01T00:00:00Z)',
      'delete shop/a first',
    ],
    [
      '10.22.0.2',
      '10.22.0.2 is bound to container c2 on node n1 (container c2, since 2026-01-01T00:00:00Z)',
      'delete container c2 first',
    ],
  ] as const) {
    const refused = await thrownProblem(() => release(story.service, 'default', address))
    t.match(refused, { code: 'IPK_ADDRESS_HELD', message, hint })
  }
  story.dead.add('c1')
  t.match(await thrownProblem(() => release(story.service, 'default', '10.22.0.50')), {
    code: 'IPK_ADDRESS_HELD',
    hint: /sandbox is gone without a DEL: the daemon ends it, see ipkeeperctl audit/,
  })
  t.equal(story.leases().length, 2)
})

t.test('refused: nothing to end, no address, no segment', async t => {
  const story = await TestService.open()
  for (const [segment, address, code] of [
    ['default', '10.22.0.50', 'IPK_ADDRESS_FREE'],
    ['default', '10.22.0.050', 'IPK_ADDRESS_INVALID'],
    ['default', '10.22.0.50/24', 'IPK_ADDRESS_INVALID'],
    ['Default', '10.22.0.50', 'IPK_REQUEST_INVALID'],
  ] as const)
    t.equal(
      (await thrownProblem(() => release(story.service, segment, address))).code,
      code,
      `${segment} ${address}`,
    )
})

t.test('at the same time as an ADD of its holder: one of them wins, and both know', async t => {
  const story = await open('forever')
  const [added, released] = await Promise.allSettled([
    story.add({ pod: 'a', container: 'c2' }),
    release(story.service, 'default', '10.22.0.50'),
  ])
  t.match(added, { value: '10.22.0.50' })
  t.match(released, { status: 'rejected', reason: { code: 'IPK_ADDRESS_HELD' } })
  assertSound(story.service.ledger, 'after both')
})
