import t from 'tap'
import { planRelease } from '../../../../ipkeeper-server/ipam/plan/plan-release.ts'
import { assertSound } from '../../leases/ledger/sound-ledger.ts'
import { configured } from '../../leases/story.ts'
import { poolFrom, TestService, type PodWords } from '../../leases/test-service.ts'
import { planExpiry } from '../../../../ipkeeper-server/ipam/plan/plan-release.ts'
import type { LeaseRecord, Write } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { commitPlan } from '../../../../ipkeeper-server/leases/ledger/commit-plan.ts'
import { leftToItsNode, tidiesUp } from '../../../../ipkeeper-server/ipam/plan/plan-release.ts'
import {
  forgetOldest,
  mostForgotten,
  mostRemembered,
  planForget,
} from '../../../../ipkeeper-server/ipam/plan/plan-release.ts'
import type { PoolBook } from '../../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import { MemoryStore } from '../../../../ipkeeper-server/store/memory/memory-store.ts'
import { formatAddress } from '../../../../shared/net/address.ts'
import { lease, putLease } from '../../../rigs/records.ts'
import { describeRetention } from '../../../../ipkeeper-server/ipam/plan/plan-release.ts'
import { noRequest } from '../../../../ipkeeper-server/ipam/request/request.ts'
import { parseRetention, type Retention } from '../../../../ipkeeper-server/ipam/records/retention.ts'

/** Releases the kept address of a service. */
async function release(story: TestService, address: string): Promise<void> {
  const { ledger } = story.service
  const lease = ledger.lease({ segment: 'default', address })
  if (!lease) throw new Error(address)
  await ledger.commit(planRelease(ledger, lease, { pools: story.book, now: story.now }))
  assertSound(ledger, 'after the release')
}

async function kept(words: PodWords): Promise<TestService> {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  await story.add(words)
  await story.del(words.container)
  return story
}

t.test('a kept address rests, and its holder keeps the other one', async t => {
  const story = await kept({ pod: 'a', container: 'c1', retain: 'forever' })
  await release(story, '10.22.0.2')
  t.strictSame(story.leases(), ['10.22.0.2 cooling shop/a -', 'fd00:22::2 held shop/a -'])
  t.equal(await story.add({ pod: 'b', container: 'c2' }), '10.22.0.3,fd00:22::3')
  await release(story, 'fd00:22::2')
  t.equal(
    await story.add({ pod: 'a', container: 'c3' }),
    '10.22.0.4,fd00:22::4',
    'nothing is kept for it any more',
  )
})

t.test('one that was asked for by name rests as after any DEL', async t => {
  const story = await kept({ pod: 'a', container: 'c1', ip: '10.22.0.50', retain: 'forever' })
  await release(story, '10.22.0.50')
  const lease = story.service.ledger.lease({ segment: 'default', address: '10.22.0.50' })
  t.equal(lease?.until, story.now + 600_000)
  t.equal(await story.add({ pod: 'b', container: 'c2', ip: '10.22.0.50' }), '10.22.0.50,fd00:22::3')
})

t.test('a pool that gives the least recently used remembers it', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('ring', ['10.22.0.0/29'])
  story.book = {
    ...story.book,
    pools: [configured('ring', [['10.22.0.0/29']], { policy: { strategy: 'least-recently-used' } })],
  }
  await story.add({ pod: 'a', container: 'c1', retain: 'forever' })
  await story.del('c1')
  await release(story, '10.22.0.2')
  t.equal(story.service.ledger.lease({ segment: 'default', address: '10.22.0.2' })?.remembered, true)
})

/** Tidies up whatever is over at this moment, as the loop does. */
async function expire(story: TestService): Promise<readonly LeaseRecord[]> {
  const { ledger } = story.service
  const over = ledger.expire(story.now)
  for (const lease of over)
    await commitPlan(ledger, () => ({ change: planExpiry(ledger, lease, story.book) }))
  return over
}

const counts = (story: TestService): string => {
  const { lease, holder, attachment } = story.service.ledger.counts()
  return `${lease} leases, ${holder} holders, ${attachment} attachments`
}

t.test('a resting address goes without a trace', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1' })
  await story.del('c1')
  t.equal(counts(story), '1 leases, 0 holders, 0 attachments')
  story.now += 59_999
  t.strictSame(await expire(story), [])
  story.now += 1
  t.equal((await expire(story)).length, 1)
  t.equal(counts(story), '0 leases, 0 holders, 0 attachments')
})

t.test('a kept address goes with its holder', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1', retain: '30m' })
  await story.del('c1')
  t.equal(counts(story), '1 leases, 1 holders, 0 attachments')
  story.now += 30 * 60_000
  await expire(story)
  t.equal(counts(story), '0 leases, 0 holders, 0 attachments')
})

t.test('of two kept addresses one goes: the holder stays for the other', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  await story.add({ pod: 'a', container: 'c1', retain: '30m' })
  await story.del('c1')
  const [four] = [...story.service.ledger.leases()]
  await story.service.ledger.commit(planExpiry(story.service.ledger, four!, story.book))
  t.strictSame(story.leases(), ['fd00:22::2 held shop/a -'])
  t.strictSame(
    story.service.ledger.holder(four!.holder)?.leases,
    [{ segment: 'default', address: 'fd00:22::2' }],
    'which keeps that one',
  )
  story.now += 30 * 60_000
  await expire(story)
  t.equal(counts(story), '0 leases, 0 holders, 0 attachments')
})

t.test('a resting address of a holder who has another one leaves the holder alone', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50' })
  await story.del('c1')
  await story.add({ pod: 'a', container: 'c2', ip: '10.22.0.60' })
  story.now += 600_000
  await expire(story)
  t.strictSame(story.leases(), ['10.22.0.60 bound shop/a c2'])
  t.equal(counts(story), '1 leases, 1 holders, 1 attachments')
})

t.test('a pool that gives the least recently used remembers when a kept address was used', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('ring', ['10.22.0.0/29'])
  const ring = configured('ring', [['10.22.0.0/29']], { policy: { strategy: 'least-recently-used' } })
  story.book = { ...story.book, pools: [ring] }
  await story.add({ pod: 'a', container: 'c1', retain: '30m' })
  await story.del('c1')
  const released = story.now
  story.now += 30 * 60_000
  await expire(story)
  t.equal(counts(story), '1 leases, 0 holders, 0 attachments')
  t.match([...story.service.ledger.leases()], [{ state: 'cooling', remembered: true, since: released }])
  t.strictSame(story.leases(), [], 'nobody has it')
  t.strictSame(await expire(story), [], 'once')
  t.equal(await story.add({ pod: 'b', container: 'c2' }), '10.22.0.3')
})

const over = 1_000_000

t.test('who deletes the record of an address whose time is over', t => {
  const table: readonly [
    what: string,
    elected: boolean | undefined,
    of: 'own' | 'other' | 'gone',
    since: number,
    tidies: boolean,
  ][] = [
    ['its own node, at once', false, 'own', 0, true],
    ['another one leaves it', false, 'other', 0, false],
    ['for good, since somebody is elected', false, 'other', leftToItsNode * 10, false],
    ['even of a node that is gone', false, 'gone', leftToItsNode * 10, false],
    ['the elected one leaves it to a node that is there', true, 'other', 0, false],
    ['for a while', true, 'other', leftToItsNode - 1, false],
    ['and no longer', true, 'other', leftToItsNode, true],
    ['of a node that is gone, at once', true, 'gone', 0, true],
    ['where nobody is elected, each one', undefined, 'other', leftToItsNode, true],
    ['after the same while', undefined, 'other', leftToItsNode - 1, false],
    ['though nobody can say who is gone', undefined, 'gone', 0, false],
  ]
  for (const [what, elected, of, since, tidies] of table) {
    const tidier = { node: 'own', elected, isGone: (node: string) => node === 'gone' }
    t.equal(tidiesUp(tidier, { node: of, until: over }, over + since), tidies, what)
  }
  t.equal(
    tidiesUp({ node: 'own', elected: true, isGone: () => false }, { node: 'other', until: null }, 1e15),
    false,
  )
  t.end()
})

const numbered = (index: number): string => formatAddress({ family: 4, value: 0x0a000000n + BigInt(index) })

/** An address of pool ring that was released at a moment and is remembered. */
const unused = (index: number, since: number, patch: Partial<LeaseRecord> = {}): LeaseRecord =>
  lease(numbered(index), 1, {
    pool: 'ring',
    state: 'cooling',
    attachment: null,
    remembered: true,
    since,
    until: since + 1,
    ...patch,
  })
const inUse = (index: number, patch: Partial<LeaseRecord> = {}): LeaseRecord =>
  lease(numbered(index), 1, { pool: 'ring', ...patch })

const forgotten = (writes: readonly Write[]): string[] =>
  writes.map(({ kind, key, record }) => {
    if (kind !== 'lease') throw new Error(kind)
    return `${(JSON.parse(key) as string[])[1] ?? ''} ${record === null ? 'deleted' : record.state}`
  })

async function ledgerWith(records: readonly LeaseRecord[]): Promise<Ledger> {
  const ledger = await Ledger.open(new MemoryStore())
  await ledger.commit(records.map(record => putLease(record, null)))
  return ledger
}

t.test('room is made for those that join, the longest unused go', async t => {
  // One more than there is room for, released in the order of their numbers but for the first two.
  const full = Array.from({ length: mostRemembered }, (_, index) =>
    unused(index, index < 2 ? 1 - index : index),
  )
  const bound = [inUse(900_000), inUse(900_001), inUse(900_002)]
  const ledger = await ledgerWith([...full, ...bound])
  const release = (record: LeaseRecord): LeaseRecord => ({ ...unused(0, 10 ** 6), address: record.address })
  const [one, two, three] = bound.map(release)
  t.strictSame(forgotten(forgetOldest(ledger, [])), [])
  t.strictSame(forgotten(forgetOldest(ledger, [one!])), ['10.0.0.1 deleted'])
  t.strictSame(forgotten(forgetOldest(ledger, [one!, two!])), ['10.0.0.1 deleted', '10.0.0.0 deleted'])
  t.strictSame(
    forgotten(forgetOldest(ledger, [one!, inUse(2)])),
    [],
    'one that comes into use makes room for one that joins',
  )
  t.strictSame(
    forgotten(forgetOldest(ledger, [one!, two!, three!, inUse(1)])),
    ['10.0.0.0 deleted', '10.0.0.2 deleted'],
    'what the same change writes is not forgotten by it',
  )
  t.strictSame(
    forgotten(forgetOldest(ledger, [unused(5, 10 ** 6)])),
    [],
    'one that is remembered already needs no room',
  )
  t.strictSame(
    forgotten(forgetOldest(ledger, [{ ...one!, pool: 'other' }])),
    [],
    'each pool has its own room',
  )
})

t.test('far too many are forgotten a part at a time, the longest unused first', async t => {
  const many = Array.from({ length: mostRemembered + 100 }, (_, index) => unused(index, index))
  const ledger = await ledgerWith([...many, inUse(900_000)])
  const joining = { ...unused(0, 10 ** 6), address: numbered(900_000) }
  for (const [left, expected] of [
    [101, mostForgotten],
    [101 - mostForgotten, 101 - mostForgotten],
    [0, 0],
  ] as const) {
    const writes = forgetOldest(ledger, [joining])
    t.equal(writes.length, expected, `${left} too many`)
    await ledger.commit(writes)
  }
})

t.test('what only rests counts, but is not forgotten', async t => {
  const records = Array.from({ length: mostRemembered }, (_, index) => {
    const { remembered: _remembered, ...resting } = unused(index, index)
    return index < 3 && _remembered ? resting : unused(index, index)
  })
  const ledger = await ledgerWith([...records, inUse(900_000)])
  const joining = { ...unused(0, 10 ** 6), address: numbered(900_000) }
  t.strictSame(forgotten(forgetOldest(ledger, [joining])), ['10.0.0.3 deleted'])
})

t.test('a new configuration', t => {
  const standard: PoolBook['standard'] = {
    retention: 'release',
    cooldown: 1,
    preferFor: 1,
    strategy: 'lowest-free',
  }
  const ring = (strategy: 'lowest-free' | 'least-recently-used'): PoolBook => ({
    pools: [configured('ring', [['10.0.0.0/8']], { policy: { strategy } })],
    standard,
  })
  const records = [unused(1, 100), unused(2, 200, { until: 5000 }), inUse(3), unused(4, 1, { pool: 'gone' })]
  for (const [name, book, expected] of [
    ['the pool remembers still', ring('least-recently-used'), ['10.0.0.4 deleted']],
    [
      'it gives the lowest now',
      ring('lowest-free'),
      ['10.0.0.1 deleted', '10.0.0.2 cooling', '10.0.0.4 deleted'],
    ],
    ['it is gone', { pools: [], standard }, ['10.0.0.1 deleted', '10.0.0.2 cooling', '10.0.0.4 deleted']],
  ] as const) {
    t.strictSame(forgotten(planForget(records, book, 1000)), expected, name)
  }
  const [write] = planForget([unused(2, 200, { until: 5000 })], ring('lowest-free'), 1000)
  t.strictSame(write?.expect, 1)
  t.match(write?.record, { generation: 2, until: 5000 })
  t.notOk(write?.record && 'remembered' in write.record)
  t.end()
})

function read(text: string): Retention {
  const retention = parseRetention(text)
  if (retention === undefined) throw new Error(text)
  return retention
}

interface Row {
  readonly pod?: PodWords['retain'] & string
  readonly source?: string
  readonly pool?: string
  readonly standard?: string
  readonly words?: Partial<PodWords>
  readonly says: string
}

const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: '' }
const source = 'annotation ipkeeper.io/retain of namespace shop'

const rows: readonly Row[] = [
  {
    says: "release, by the daemon's default: after DEL it cools down for 1m, and until then only a pod that asks for it by name gets it",
  },
  {
    words: { ip: '10.22.0.9' },
    says: "release, by the daemon's default: after DEL it cools down for 10m, and until then only a pod that asks for it by name gets it",
  },
  { standard: '7d', says: "7d, by the daemon's default: after DEL it is kept for shop/web-0 for 7d" },
  {
    standard: '7d',
    pool: '7d',
    says: "7d, by the daemon's default: after DEL it is kept for shop/web-0 for 7d",
  },
  { pool: '30m', says: '30m, by pool net: after DEL it is kept for shop/web-0 for 30m' },
  {
    pool: '30m',
    pod: 'forever',
    source,
    says: `forever, by ${source}: after DEL it is kept for shop/web-0 without an end`,
  },
  {
    pod: 'while-owner-exists',
    source,
    words: { owner: statefulSet },
    says: `while-owner-exists, by ${source}: after DEL it is kept for shop/web-0 while StatefulSet shop/web exists`,
  },
  {
    pod: 'while-owner-exists',
    says: 'while-owner-exists, by the pod: after DEL it is kept for shop/web-0 without an end, since its owner is not known',
  },
]

t.test('an address that does not rest at all, and one whose reservation says what becomes of it', async t => {
  const story = await TestService.open()
  const { standard } = story.book
  story.book = { ...story.book, standard: { ...standard, cooldown: 0 } }
  await story.add({ pod: 'web-0', container: 'c1' })
  const [lease] = [...story.service.ledger.leases()] as [LeaseRecord]
  const terms = { pools: story.book, now: story.now }
  t.equal(
    describeRetention(lease, noRequest, terms),
    "release, by the daemon's default: after DEL it cools down for 0s, and until then only a pod that asks for it by name gets it",
  )
  t.match(
    describeRetention({ ...lease, retain: 'forever' }, noRequest, { ...terms, isReserved: true }),
    /^forever, by its reservation: after DEL it is kept for shop\/web-0 without an end$/,
  )
})

for (const { pod, source, pool, standard = 'release', words, says } of rows) {
  t.test(says, async t => {
    const story = await TestService.open(undefined, read(standard))
    const settings = {
      pool: poolFrom('net', ['10.22.0.0/24']),
      rules: {},
      network: {},
      policy: { ...story.book.standard, retention: read(pool ?? standard) },
    }
    if (pool !== undefined) story.book = { ...story.book, pools: [settings] }
    await story.add({ pod: 'web-0', container: 'c1', ...(pod !== undefined && { retain: pod }), ...words })
    const [lease] = [...story.service.ledger.leases()] as [LeaseRecord]
    const request = {
      ...noRequest,
      ...(pod !== undefined && { retain: read(pod) }),
      ...(source !== undefined && { retainSource: source }),
    }
    t.equal(describeRetention(lease, request, { pools: story.book, now: story.now }), says)
  })
}
