import t from 'tap'
import { sumUsage, usageOf, UsageTally } from '../../../../ipkeeper-server/ipam/pools/usage.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { canonicalPool } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { parseAddress } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { poolFrom, TestService } from '../../leases/test-service.ts'

/** Five addresses: 10.22.0.2 to .6. */
const pool = poolFrom('net', ['10.22.0.0/29'])

const usage = (story: TestService, of = pool): string => {
  const { ledger } = story.service
  const { capacity, used, held, free, nextFreeAt } = usageOf(ledger, of, story.now)
  // Both ways of counting agree in every story.
  const tally = new UsageTally([of], story.now)
  for (const lease of ledger.leaseOutlines())
    tally.lease(lease, () => ledger.reservation(lease) !== undefined)
  for (const reservation of ledger.reservations()) tally.reservation(reservation, ledger.lease(reservation))
  const sum = (count: 'capacity' | 'used' | 'held' | 'free'): bigint =>
    tally.rangeSets().reduce((total, set) => total + set[count], 0n)
  t.strictSame([sum('capacity'), sum('used'), sum('held'), sum('free')], [capacity, used, held, free])
  t.equal(sumUsage(tally.rangeSets()).nextFreeAt, nextFreeAt)
  return `${capacity}: ${used} used, ${held} held, ${free} free`
}

async function open(): Promise<TestService> {
  const story = await TestService.open()
  story.pool = pool
  return story
}

t.test('a life: free, used, kept, resting, free', async t => {
  const story = await open()
  t.equal(usage(story), '5: 0 used, 0 held, 5 free')
  await story.add({ pod: 'a', container: 'c1' })
  await story.add({ pod: 'b', container: 'c2', ip: '10.22.0.5' })
  await story.add({ pod: 'c', container: 'c3', retain: '30m' })
  t.equal(usage(story), '5: 3 used, 0 held, 2 free')
  await story.del('c1')
  t.equal(usage(story), '5: 2 used, 0 held, 3 free', 'what rests is free')
  await story.del('c2')
  t.equal(usage(story), '5: 1 used, 1 held, 3 free', 'what was asked for by name is kept while it rests')
  await story.del('c3')
  t.equal(usage(story), '5: 0 used, 2 held, 3 free')
  story.now += 11 * 60_000
  t.equal(usage(story), '5: 0 used, 1 held, 4 free', 'counted by the clock, tidied up or not')
  story.now += 30 * 60_000
  t.equal(usage(story), '5: 0 used, 0 held, 5 free')
})

t.test('a reservation counts once: as held, or as what its address is', async t => {
  const story = await open()
  const promise = async (address: string, owner: string): Promise<void> => {
    await reserve(story.service, { segment: 'default', address, owner, note: '' })
  }
  // Taken before the pool is known, which is when it would refuse the first two.
  for (const address of ['10.22.0.0', '10.22.0.1', '10.99.0.9']) await promise(address, 'shop/c')
  t.equal(usage(story), '5: 0 used, 0 held, 5 free', "gateway, network and strangers are nobody's")
  await promise('10.22.0.2', 'shop/a')
  await promise('10.22.0.3', 'shop/b')
  t.equal(usage(story), '5: 0 used, 2 held, 3 free')
  t.equal(await story.add({ pod: 'a', container: 'c1' }), '10.22.0.2')
  t.equal(usage(story), '5: 1 used, 1 held, 3 free')
  await story.del('c1')
  t.equal(usage(story), '5: 0 used, 2 held, 3 free', 'resting and reserved is held')
  await reserve(story.service, { segment: 'lab', address: '10.22.0.4', owner: 'shop/c', note: '' })
  t.equal(usage(story), '5: 0 used, 2 held, 3 free', 'nor is another segment')
})

t.test('when the next address comes free', async t => {
  const story = await open()
  const next = (): string | null => {
    usage(story)
    const { nextFreeAt } = usageOf(story.service.ledger, pool, story.now)
    return nextFreeAt === null ? null : new Date(nextFreeAt).toISOString().slice(11, 19)
  }
  t.equal(next(), null)
  for (const [container, retain] of [
    ['c1', '30m'],
    ['c2', 'forever'],
    ['c3', '20m'],
    ['c4', 'release'],
  ] as const)
    await story.add({ pod: container, container, retain })
  t.equal(next(), null, 'what is bound waits for its DEL')
  await story.del('c2')
  t.equal(next(), null, 'what is kept without an end does not come free')
  await story.del('c1')
  t.equal(next(), '00:30:00')
  await story.del('c3')
  t.equal(next(), '00:20:00', 'the earliest')
  await story.del('c4')
  t.equal(next(), '00:01:00', 'also what rests')
  story.now += 60_000
  t.equal(next(), '00:20:00', 'tidied up or not')
  await reserve(story.service, { segment: 'default', address: '10.22.0.4', owner: 'shop/c3', note: '' })
  t.equal(next(), '00:30:00', 'what is promised comes free for one pod only')
})

t.test('a range that changed: what lies outside does not count', async t => {
  const story = await open()
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.2' })
  await story.add({ pod: 'b', container: 'c2', ip: '10.22.0.6' })
  const subnet = parseCidr('10.22.0.0/29')!
  const address = parseAddress('10.22.0.2')!
  const narrower = canonicalPool('net', 'default', [
    [{ subnet, exclude: [{ first: address, last: address }] }],
  ])
  t.equal(usage(story, narrower), '4: 1 used, 0 held, 3 free')
  t.equal(usage(story, poolFrom('net', ['10.23.0.0/29'])), '5: 0 used, 0 held, 5 free')
})

t.test('a pool of 2^80 addresses', async t => {
  const story = await open()
  story.pool = poolFrom('six', ['fd00:22::/48'])
  await story.add({ pod: 'a', container: 'c1' })
  t.equal(
    usage(story, story.pool),
    '1208925819614629174706174: 1 used, 0 held, 1208925819614629174706173 free',
  )
})

t.test('how many leases there are, those outside of every pool too', async t => {
  const story = await open()
  await story.add({ pod: 'a', container: 'c1' })
  await story.add({ pod: 'b', container: 'c2', pool: poolFrom('far', ['10.33.0.0/24']) })
  await story.add({ pod: 'c', container: 'c3', retain: 'forever' })
  await story.del('c3')
  const tally = new UsageTally([pool], story.now)
  for (const lease of story.service.ledger.leaseOutlines()) tally.lease(lease, () => false)
  t.match(tally.states(), { bound: 2, held: 1, cooling: 0 })
})
