import t from 'tap'
import { selectReservations } from '../../../../ipkeeper-server/leases/queries/select-listed.ts'
import { reserve, unreserve, readLeaseKey } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { TestService } from '../test-service.ts'

const promise = (address: string, owner: string, more: { segment?: string; note?: string } = {}) => ({
  segment: 'default',
  note: '',
  address,
  owner,
  ...more,
})

t.test('what is reserved goes to its owner alone, asked for or not', async t => {
  const story = await TestService.open()
  const made = await reserve(story.service, promise('10.22.0.2', 'shop/db-0', { note: 'licence server' }))
  t.match(made, {
    address: '10.22.0.2',
    namespace: 'shop',
    name: 'db-0',
    note: 'licence server',
    generation: 1,
  })
  t.equal(await story.add({ pod: 'a', container: 'c1' }), '10.22.0.3', 'dynamic choice passes it over')
  const refused = await story.problem({ pod: 'z', container: 'c2', ip: '10.22.0.2' })
  t.match(refused, {
    code: 'IPK_ADDRESS_RESERVED',
    message: 'annotation ipkeeper.io/ip asks for 10.22.0.2, which is reserved for shop/db-0 (licence server)',
    hint: /ipkeeperctl unreserve 10\.22\.0\.2/,
  })
  t.equal(
    await story.add({ pod: 'db-0', namespace: 'other', container: 'c3' }),
    '10.22.0.4',
    'another namespace',
  )
  t.equal(await story.add({ pod: 'db-0', container: 'c4' }), '10.22.0.2')
  await story.del('c4')
  story.now += 10 ** 9
  story.service.ledger.expire(story.now)
  t.equal(await story.add({ pod: 'b', container: 'c5' }), '10.22.0.5', 'it stays reserved after its lease')
})

t.test('addresses are written in one way, whatever the caller wrote', async t => {
  const story = await TestService.open()
  await reserve(story.service, promise('FD00:22:0::0050', 'shop/a'))
  await reserve(story.service, promise('::ffff:10.22.0.9', 'shop/a'))
  t.strictSame(
    selectReservations(story.service, {}).reservations.map(({ address, owner }) => `${address} ${owner}`),
    ['10.22.0.9 shop/a', 'fd00:22::50 shop/a'],
  )
  await unreserve(story.service, 'default', 'fd00:22::0:50')
  t.equal(selectReservations(story.service, {}).reservations.length, 1)
})

t.test('again is no error: the note is new, the beginning is not', async t => {
  const story = await TestService.open()
  const first = await reserve(story.service, promise('10.22.0.9', 'shop/a', { note: 'one' }))
  story.now += 5000
  const second = await reserve(story.service, promise('10.22.0.9', 'shop/a', { note: 'two' }))
  t.match(second, { since: first.since, note: 'two', generation: 2 })
})

t.test('again without a note leaves the note', async t => {
  const story = await TestService.open()
  await reserve(story.service, promise('10.22.0.9', 'shop/a', { note: 'one' }))
  const unsaid = await reserve(story.service, { ...promise('10.22.0.9', 'shop/a'), note: undefined })
  t.match(unsaid, { note: 'one', generation: 2 })
  t.match(await reserve(story.service, promise('10.22.0.9', 'shop/a', { note: '' })), { note: '' })
  t.match(await reserve(story.service, { ...promise('10.22.0.8', 'shop/a'), note: undefined }), { note: '' })
})

t.test('what is reserved for another names the command that takes it back', async t => {
  const story = await TestService.open()
  for (const [segment, command] of [
    ['default', 'ipkeeperctl unreserve 10.22.0.9'],
    ['lab', 'ipkeeperctl unreserve 10.22.0.9 --segment lab'],
  ] as const) {
    await reserve(story.service, promise('10.22.0.9', 'shop/a', { segment }))
    const refused = thrownProblem(() => reserve(story.service, promise('10.22.0.9', 'shop/b', { segment })))
    t.match(await refused, { hint: `choose another address, or: ${command}` })
  }
})

t.test('an address that its owner has may be reserved for it, and one that rests for anybody', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1' })
  await reserve(story.service, promise('10.22.0.2', 'shop/a'))
  await story.add({ pod: 'b', container: 'c2' })
  await story.del('c2')
  await reserve(story.service, promise('10.22.0.3', 'shop/c'))
  await story.add({ pod: 'd', container: 'c4', retain: '30m' })
  await story.del('c4')
  t.match(await thrownProblem(() => reserve(story.service, promise('10.22.0.4', 'shop/e'))), {
    code: 'IPK_ADDRESS_HELD',
    message: '10.22.0.4 is kept for shop/d on node n1',
    hint: 'end it now: ipkeeperctl release 10.22.0.4; then reserve it again',
  })
  story.now += 31 * 60_000
  await reserve(story.service, promise('10.22.0.4', 'shop/e'))
})

t.test('refused', async t => {
  const story = await TestService.open()
  await reserve(story.service, promise('10.22.0.2', 'shop/a'))
  await story.add({ pod: 'b', container: 'c1' })
  await story.add({ container: 'c2' })
  for (const [wanted, code, message] of [
    [promise('10.22.0.2', 'shop/b'), 'IPK_ADDRESS_RESERVED', /10\.22\.0\.2 is reserved for shop\/a/],
    [promise('10.22.0.3', 'shop/a'), 'IPK_ADDRESS_HELD', /10\.22\.0\.3 is held by shop\/b on node n1/],
    [promise('10.22.0.4', 'shop/a'), 'IPK_ADDRESS_HELD', /held by container c2/],
    [promise('10.22.0.050', 'shop/a'), 'IPK_ADDRESS_INVALID', /"10\.22\.0\.050" is no IP address/],
    [promise('10.22.0.9/24', 'shop/a'), 'IPK_ADDRESS_INVALID', /no IP address/],
    [
      promise('10.22.0.0', 'shop/a'),
      'IPK_ADDRESS_UNUSABLE',
      /in pool net it is the network address of 10\.22/,
    ],
    [promise('10.22.0.1', 'shop/a'), 'IPK_ADDRESS_UNUSABLE', /it is the gateway of 10\.22\.0\.0\/24$/],
    [promise('10.22.0.255', 'shop/a'), 'IPK_ADDRESS_UNUSABLE', /it is the broadcast address of/],
    [promise('10.22.0.9', 'shop'), 'IPK_REQUEST_INVALID', /owner "shop" is neither NAMESPACE\/POD/],
    [promise('10.22.0.9', 'shop/'), 'IPK_REQUEST_INVALID', /no valid name: ""/],
    [promise('10.22.0.9', '/a'), 'IPK_REQUEST_INVALID', /no valid namespace: ""/],
    [promise('10.22.0.9', 'shop/a/b'), 'IPK_REQUEST_INVALID', /names kind "a"/],
    [promise('10.22.0.9', 'Shop/a'), 'IPK_REQUEST_INVALID', /no valid namespace: "Shop"/],
    [promise('10.22.0.9', 'shop/'), 'IPK_REQUEST_INVALID', /owner "shop\/" has no valid name: ""/],
    [promise('10.22.0.9', 'shop/a/b'), 'IPK_REQUEST_INVALID', /names kind "a", which has no pods/],
    [promise('10.22.0.2', 'shop/sts/a'), 'IPK_ADDRESS_RESERVED', /10\.22\.0\.2 is reserved for shop\/a$/],
    [promise('10.22.0.2', 'external:a'), 'IPK_ADDRESS_RESERVED', /reserved for shop\/a$/],
    [promise('10.22.0.3', 'external:b'), 'IPK_ADDRESS_HELD', /held by shop\/b/],
    [promise('10.22.0.3', 'shop/deploy/b'), 'IPK_ADDRESS_HELD', /held by shop\/b/],
    [
      promise('10.22.0.9', 'shop/a', { segment: 'Default' }),
      'IPK_REQUEST_INVALID',
      /segment "Default" is no name/,
    ],
  ] as const) {
    const problem = await thrownProblem(() => reserve(story.service, wanted))
    t.equal(problem.code, code, `${wanted.address} ${wanted.owner}`)
    t.match(problem.message, message)
  }
  t.equal(story.service.ledger.counts().reservation, 1, 'nothing was changed')
})

t.test('taken back: the address is free, a lease that uses it stays', async t => {
  const story = await TestService.open()
  await reserve(story.service, promise('10.22.0.2', 'shop/a'))
  await reserve(story.service, promise('10.22.0.3', 'shop/b'))
  await story.add({ pod: 'a', container: 'c1' })
  await unreserve(story.service, 'default', '10.22.0.2')
  await unreserve(story.service, 'default', '10.22.0.3')
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/a c1'])
  t.equal(await story.add({ pod: 'c', container: 'c2' }), '10.22.0.3')
  for (const [segment, address, code] of [
    ['default', '10.22.0.2', 'IPK_RESERVATION_MISSING'],
    ['lab', '10.22.0.3', 'IPK_RESERVATION_MISSING'],
    ['default', 'x', 'IPK_ADDRESS_INVALID'],
  ] as const) {
    t.equal((await thrownProblem(() => unreserve(story.service, segment, address))).code, code)
  }
})

t.test('of two at once for two pods, one is refused', async t => {
  const story = await TestService.open()
  const outcomes = await Promise.allSettled(
    ['shop/a', 'shop/b'].map(owner => reserve(story.service, promise('10.22.0.9', owner))),
  )
  t.strictSame(outcomes.map(outcome => outcome.status).sort(), ['fulfilled', 'rejected'])
})

t.test('for the pods of a workload, and for an owner that is no pod', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'web-0', container: 'c1' })
  await story.add({ pod: 'api-6d4cf56db6-x2x5z', container: 'c2', retain: 'forever' })
  await story.del('c2')
  for (const [address, owner] of [
    ['10.22.0.2', 'shop/sts/web'],
    ['10.22.0.3', 'shop/deployment/api'],
    ['10.22.0.9', 'external:printer-3'],
    ['10.22.0.10', 'shop/CronJob/nightly'],
    ['10.22.0.11', 'shop/pod/db-0'],
  ] as const)
    await reserve(story.service, promise(address, owner))
  t.strictSame(
    selectReservations(story.service, {}).reservations.map(({ address, owner }) => `${address} ${owner}`),
    [
      '10.22.0.2 shop/statefulset/web',
      '10.22.0.3 shop/deployment/api',
      '10.22.0.9 external:printer-3',
      '10.22.0.10 shop/cronjob/nightly',
      '10.22.0.11 shop/db-0',
    ],
    'what its pods have may be reserved for it, and each is listed as it can be written',
  )
  for (const { address, owner } of selectReservations(story.service, {}).reservations)
    t.match(await reserve(story.service, promise(address, owner)), { generation: 2 }, 'again is no error')
  t.match(await thrownProblem(() => reserve(story.service, promise('10.22.0.2', 'shop/ds/web'))), {
    code: 'IPK_ADDRESS_RESERVED',
    message: '10.22.0.2 is reserved for StatefulSet shop/web',
  })
})

for (const [segment, text, address] of [
  ['default', '10.22.0.50', '10.22.0.50'],
  ['lab', 'FD00:22:0::0050', 'fd00:22::50'],
  ['lab', '::ffff:10.22.0.9', '10.22.0.9'],
] as const) {
  t.test(`${segment} ${text}`, t => {
    const named = readLeaseKey(segment, text)
    t.strictSame(named.key, { segment, address })
    t.equal(named.address.family, address.includes(':') ? 6 : 4)
    t.end()
  })
}

for (const [segment, text, code, hint] of [
  ['default', '10.22.0.050', 'IPK_ADDRESS_INVALID', /write one address, such as 10\.22\.0\.50/],
  ['default', '10.22.0.50/16', 'IPK_ADDRESS_INVALID', /without "\/prefix"/],
  ['default', '10.22.0.50,fd00::1', 'IPK_ADDRESS_INVALID', /one address/],
  ['default', '', 'IPK_ADDRESS_INVALID', /one address/],
  ['Lab', '10.22.0.50', 'IPK_REQUEST_INVALID', /"ipam\.segment"/],
  ['', '10.22.0.50', 'IPK_REQUEST_INVALID', /"ipam\.segment"/],
] as const) {
  t.test(`refused: "${segment}" "${text}"`, t => {
    t.throws(() => readLeaseKey(segment, text), { code, hint })
    t.end()
  })
}
