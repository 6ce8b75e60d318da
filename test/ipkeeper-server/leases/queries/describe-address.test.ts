import t from 'tap'
import type { AddressReply } from '../../../../shared/api/address.schema.ts'
import { canonicalPool } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { describeAddress } from '../../../../ipkeeper-server/leases/queries/describe-address.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { TestService } from '../test-service.ts'

const minute = 60_000

/** A pool that is known, by a pod that has its first address. */
async function open(): Promise<TestService> {
  const story = await TestService.open()
  await story.add({ pod: 'first', container: 'c0' })
  return story
}

const fifty = { pod: 'a', container: 'c1', ip: '10.22.0.50' }

/** The first ADD says who is to give the addresses, the second what it gave. */
async function addByFallback(story: TestService): Promise<void> {
  const words = { pod: 'x', container: 'c9', fallback: 'host-local', invocation: 'i9' }
  await story.add(words)
  await story.add({ ...words, given: ['10.22.9.5/16', 'FD00:9::5/64'] })
}

const cases: readonly (readonly [
  what: string,
  address: string,
  arrange: (story: TestService) => Promise<unknown>,
  expected: Partial<Record<keyof AddressReply, unknown>>,
])[] = [
  [
    'free',
    '10.22.0.50',
    async () => Promise.resolve(),
    {
      ...{ state: 'free', sentence: '10.22.0.50 is free in pool net', pool: 'net', unusable: null },
      ...{ lease: null, attachment: null, reservation: null, holderSince: null, tenures: [], elsewhere: [] },
    },
  ],
  [
    'bound',
    '10.22.0.50',
    async story => {
      await story.add({ ...fifty, mac: '02:42:ac:11:00:02', retain: '30m' })
      story.now += minute
    },
    {
      state: 'bound',
      sentence:
        '10.22.0.50 is bound to shop/a (container c1 on node n1; annotation ipkeeper.io/ip), which has had it since 2026-01-01T00:00:00Z',
      lease: {
        containerId: 'c1',
        pod: { uid: 'uid-of-c1' },
        retain: '30m',
        mac: '02:42:ac:11:00:02',
        until: null,
      },
      attachment: { netns: '/run/netns/c1', provedDead: false, addresses: ['10.22.0.50/24'] },
      holderSince: '2026-01-01T00:00:00.000Z',
      tenures: [{ from: '2026-01-01T00:00:00.000Z', to: null }],
    },
  ],
  [
    'bound, the sandbox is dead',
    '10.22.0.50',
    async story => {
      await story.add(fifty)
      story.dead.add('c1')
    },
    {
      state: 'bound',
      sentence: /\(container c1 on node n1, whose sandbox is proved dead; annotation/,
      attachment: { provedDead: true },
    },
  ],
  [
    'taken over: had since before this sandbox',
    '10.22.0.50',
    async story => {
      await story.add(fifty)
      story.now += minute
      await story.add({ ...fifty, container: 'c2', uid: 'uid-of-c1' })
    },
    {
      sentence: /container c2 .* since 2026-01-01T00:00:00Z$/,
      lease: { since: '2026-01-01T00:01:00.000Z' },
      holderSince: '2026-01-01T00:00:00.000Z',
      tenures: [{ containerId: 'c2' }, { containerId: 'c1' }],
    },
  ],
  [
    'kept for a time',
    '10.22.0.50',
    async story => {
      await story.add({ ...fifty, retain: '30m' })
      await story.del('c1')
    },
    {
      state: 'held',
      sentence: '10.22.0.50 is kept for shop/a until 2026-01-01T00:30:00Z',
      lease: { until: '2026-01-01T00:30:00.000Z' },
      attachment: null,
    },
  ],
  [
    'kept for ever, for a container',
    '10.22.0.2',
    async story => {
      await story.del('c0')
      story.now += 2 * minute
      await story.add({ container: 'c1', ip: '10.22.0.2', retain: 'forever' })
      await story.del('c1')
    },
    { state: 'held', sentence: '10.22.0.2 is kept for container c1 without an end' },
  ],
  [
    'resting',
    '10.22.0.50',
    async story => {
      await story.add(fifty)
      await story.del('c1')
    },
    {
      state: 'cooling',
      sentence:
        '10.22.0.50 is cooling down until 2026-01-01T00:10:00Z; it was released by shop/a, and a pod that asks for it by name gets it at once',
    },
  ],
  [
    'time over, not tidied up',
    '10.22.0.50',
    async story => {
      await story.add({ ...fifty, retain: '30m' })
      await story.del('c1')
      story.now += 30 * minute
    },
    {
      state: 'expired',
      sentence: '10.22.0.50 was kept for shop/a until 2026-01-01T00:30:00Z; that is over, and it is free',
      tenures: [{ ended: 'time over' }, { ended: 'deleted, kept' }],
    },
  ],
  [
    'reserved, unused',
    '10.22.0.77',
    story =>
      reserve(story.service, {
        segment: 'default',
        address: '10.22.0.77',
        owner: 'shop/db-0',
        note: 'licence',
      }),
    {
      state: 'reserved',
      sentence: '10.22.0.77 is unused in pool net; it is reserved for shop/db-0 (licence)',
      reservation: { owner: 'shop/db-0', note: 'licence' },
    },
  ],
  [
    'reserved, and its owner has it',
    '10.22.0.50',
    async story => {
      await reserve(story.service, { segment: 'default', address: '10.22.0.50', owner: 'shop/a', note: '' })
      await story.add(fifty)
    },
    { state: 'bound', sentence: /^10\.22\.0\.50 is bound to shop\/a .*; it is reserved for shop\/a$/ },
  ],
  [
    'given by the fallback',
    '10.22.9.5',
    addByFallback,
    {
      state: 'fallback',
      sentence: '10.22.9.5 was assigned by fallback host-local to shop/x (container c9 on node n1)',
      pool: null,
      attachment: { delegatedTo: 'host-local', addresses: ['10.22.9.5/16', 'FD00:9::5/64'] },
    },
  ],
  [
    'given by the fallback, as it spells it',
    'fd00:9::5',
    addByFallback,
    { state: 'fallback', address: 'fd00:9::5' },
  ],
  [
    'the gateway',
    '10.22.0.1',
    async () => Promise.resolve(),
    {
      state: 'unusable',
      sentence: '10.22.0.1 cannot be assigned: in pool net it is the gateway of 10.22.0.0/24',
      ...{ pool: 'net', unusable: 'the gateway of 10.22.0.0/24' },
    },
  ],
  [
    'of no pool',
    '192.0.2.7',
    async () => Promise.resolve(),
    { state: 'outside', sentence: '192.0.2.7 is in no pool known so far in segment default', pool: null },
  ],
  [
    'of a pool of another segment',
    '10.23.0.7',
    async story => {
      const subnet = parseCidr('10.23.0.0/24')!
      await story.add({ pod: 'l', container: 'cl', pool: canonicalPool('lab-net', 'lab', [[{ subnet }]]) })
    },
    { state: 'outside', elsewhere: ['lab'] },
  ],
]
for (const [what, address, arrange, expected] of cases) {
  t.test(what, async t => {
    const story = await open()
    await arrange(story)
    const reply = await describeAddress(story.service, 'default', address)
    t.match(reply, expected)
    t.match(reply, { segment: 'default', address })
  })
}

t.test('no more than the last three tenures', async t => {
  const story = await open()
  for (const container of ['c1', 'c2', 'c3']) {
    await story.add({ ...fifty, container })
    await story.del(container)
  }
  const { tenures } = await describeAddress(story.service, 'default', '10.22.0.50')
  t.strictSame(
    tenures.map(({ state, containerId }) => `${state} ${containerId ?? '-'}`),
    ['cooling -', 'bound c3', 'cooling -'],
  )
})

t.test('a change that is on its way to the disk', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  let go = (): void => undefined
  store.delay = () => new Promise(resolve => (go = resolve))
  const adding = story.add(fifty)
  await new Promise(setImmediate)
  t.match(await describeAddress(story.service, 'default', '10.22.0.50'), {
    ...{ state: 'bound', holderSince: '2026-01-01T00:00:00.000Z', tenures: [] },
  })
  go()
  await adding
})

t.test('refused', async t => {
  const story = await open()
  for (const [segment, address, code] of [
    ['default', 'web-0', 'IPK_ADDRESS_INVALID'],
    ['Lab', '10.22.0.5', 'IPK_REQUEST_INVALID'],
  ] as const)
    t.equal((await thrownProblem(() => describeAddress(story.service, segment, address))).code, code)
})
