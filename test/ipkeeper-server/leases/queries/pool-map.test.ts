import t from 'tap'
import { listFreeing, mapPool, type MapPart } from '../../../../ipkeeper-server/leases/queries/pool-map.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import { setAside } from '../../../../ipkeeper-server/leases/verbs/undo-add.ts'
import type { MapCounts, PoolMapReply } from '../../../../shared/api/map.schema.ts'
import { toProblem } from '../../../../shared/problem/problem.ts'
import { lease, putLease } from '../../../rigs/records.ts'
import { poolFrom, TestService } from '../test-service.ts'

const noTurn = (): Promise<void> => Promise.resolve()

const spell = (counts: MapCounts): string =>
  Object.entries(counts)
    .filter(([, count]) => count !== 0)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ')

/** "10.22.0.2 bound shop/a" for each address that is not free. */
const addressesOf = ({ addresses }: PoolMapReply): string[] =>
  addresses.map(({ address, state, why, lease, reservation }) =>
    [
      ...[address, state],
      ...(why === null ? [] : [`(${why})`]),
      ...(lease?.pod ? [`${lease.pod.namespace}/${lease.pod.name}`] : []),
      ...(reservation ? [`for ${reservation.owner}`] : []),
    ].join(' '),
  )

t.test('a small block shows every state', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/28'])
  await story.add({ pod: 'bound', container: 'c1' })
  await story.add({ pod: 'held', container: 'c2', retain: 'forever' })
  await story.del('c2')
  await story.add({ pod: 'cooling', container: 'c3' })
  await story.del('c3')
  await story.add({ pod: 'aside', container: 'c4' })
  const lease = story.service.ledger.lease({ segment: 'default', address: '10.22.0.5' })
  await story.del('c4')
  await setAside(story.service, lease ? [lease] : [], '02:00:00:00:00:99 on the network has 10.22.0.5')
  await reserve(story.service, { segment: 'default', address: '10.22.0.9', owner: 'shop/web-0', note: '' })
  await reserve(story.service, { segment: 'default', address: '10.22.0.2', owner: 'shop/bound', note: '' })
  const map = await mapPool(story.service, 'net', {}, noTurn)
  t.strictSame(addressesOf(map), [
    '10.22.0.0 unusable (the network address)',
    '10.22.0.1 unusable (the gateway)',
    '10.22.0.2 bound shop/bound for shop/bound',
    '10.22.0.3 held shop/held',
    '10.22.0.4 cooling shop/cooling',
    '10.22.0.5 aside shop/aside',
    '10.22.0.9 reserved for shop/web-0',
    '10.22.0.15 unusable (the broadcast address)',
  ])
  t.match(map, { within: '10.22.0.0/28', detail: 'addresses', whole: true, blocks: [] })
  t.equal(
    spell(map.counts),
    '1 bound, 1 held, 1 cooling, 1 aside, 1 reserved, 8 free, 3 unusable',
    'the sum is the size of the block',
  )
  story.now += 60_000
  t.notOk(
    addressesOf(await mapPool(story.service, 'net', {}, noTurn)).some(line => line.includes('cooling')),
    'a rest that is over is free, though its record may still be there',
  )
})

t.test('a /16 is 256 blocks, one of which is 256 addresses', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/16'])
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.3.7' })
  await story.add({ pod: 'b', container: 'c2', ip: '10.22.3.8' })
  const map = await mapPool(story.service, 'net', {}, noTurn)
  t.match(map, { within: '10.22.0.0/16', detail: 'blocks', whole: true, addresses: [] })
  t.equal(spell(map.counts), '2 bound, 65531 free, 3 unusable')
  t.equal(map.blocks.length, 256)
  t.strictSame(
    [0, 3, 255].map(
      index => map.blocks[index] && `${map.blocks[index].cidr}: ${spell(map.blocks[index].counts)}`,
    ),
    [
      '10.22.0.0/24: 254 free, 2 unusable',
      '10.22.3.0/24: 2 bound, 254 free',
      '10.22.255.0/24: 255 free, 1 unusable',
    ],
  )
  const block = await mapPool(story.service, 'net', { within: '10.22.3.0/24' }, noTurn)
  t.strictSame(addressesOf(block), ['10.22.3.7 bound shop/a', '10.22.3.8 bound shop/b'])
})

t.test('of a /64 only the parts are shown in which something is, as fine as 256 of them allow', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['fd00:22::/64'])
  const blocksOf = ({ blocks }: PoolMapReply): string[] =>
    blocks.map(({ cidr, counts }) => `${cidr}: ${spell(counts)}`)
  await story.add({ pod: 'a', container: 'c1', ip: 'fd00:22::50' })
  await reserve(story.service, {
    segment: 'default',
    address: 'fd00:22::dead:beef',
    owner: 'shop/x',
    note: '',
  })
  const map = await mapPool(story.service, 'net', {}, noTurn)
  t.match(map, { within: 'fd00:22::/64', detail: 'blocks', whole: false })
  t.strictSame(map.counts, {
    ...{ bound: 1, held: 0, cooling: 0, aside: 0, reserved: 1, unusable: 2 },
    free: (2n ** 64n - 4n).toString(),
  })
  t.strictSame(blocksOf(map), [
    'fd00:22::/120: 1 bound, 253 free, 2 unusable',
    'fd00:22::dead:be00/120: 1 reserved, 255 free',
  ])
  for (let index = 0; index < 256; index++)
    await reserve(story.service, {
      ...{ segment: 'default', owner: 'shop/x', note: '' },
      address: `fd00:22::1:${(index * 256).toString(16)}`,
    })
  const wider = await mapPool(story.service, 'net', {}, noTurn)
  t.strictSame(
    wider.blocks.slice(0, 3).map(({ cidr, counts }) => `${cidr}: ${spell({ ...counts, free: 0 })}`),
    [
      'fd00:22::/116: 1 bound, 2 unusable',
      'fd00:22::1:0/116: 16 reserved',
      'fd00:22::1:1000/116: 16 reserved',
    ],
  )
  const sum = wider.blocks.reduce((total, { counts }) => total + Number(counts.reserved), 0)
  t.equal(sum, 257)
  t.equal(wider.blocks.length, 18)
})

t.test('a view begins at 256 addresses and is no larger than the range needs', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/29', '10.23.0.0/16'], ['fd00:22::/120'])
  await story.add({ pod: 'a', container: 'c1' })
  const { ranges } = await mapPool(story.service, 'net', {}, noTurn)
  t.strictSame(
    ranges.map(({ subnet, view }) => `${subnet} ${view}`),
    ['10.22.0.0/29 10.22.0.0/29', '10.23.0.0/16 10.23.0.0/16', 'fd00:22::/120 fd00:22::/120'],
  )
})

t.test('what is no block of the pool is refused', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1' })
  const codeOf = async (pool: string, part: MapPart = {}): Promise<string> =>
    await mapPool(story.service, pool, part, noTurn).then(
      ({ within }) => within,
      (error: unknown) => toProblem(error).code,
    )
  t.equal(await codeOf('net', { within: '10.22.0.128/25' }), '10.22.0.128/25')
  t.equal(await codeOf('net', { around: '10.22.0.9' }), '10.22.0.0/24')
  t.equal(await codeOf('nobody'), 'IPK_POOL_UNKNOWN')
  for (const within of ['10.22.0.0/16', '10.23.0.0/24', '10.22.0.1/24', 'fd00::/120', 'x', '10.22.0.0/33'])
    t.equal(await codeOf('net', { within }), 'IPK_REQUEST_INVALID', within)
  for (const around of ['10.23.0.1', 'fd00::1', 'x'])
    t.equal(await codeOf('net', { around }), 'IPK_REQUEST_INVALID', around)
})

t.test('gives others their turn', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/16'])
  for (let index = 0; index < 1_200; index++) await story.add({ pod: `p${index}`, container: `c${index}` })
  let turns = 0
  const { counts } = await mapPool(story.service, 'net', {}, async () => {
    turns++
    await story.del(`c${turns}`)
  })
  t.equal(turns, 2)
  t.equal(Number(counts.bound) + Number(counts.cooling), 1_200)
})

t.test('what comes free next', async t => {
  const story = await TestService.open()
  const keep = async (name: string, retain: string): Promise<void> => {
    await story.add({ pod: name, container: name, retain })
    await story.del(name)
  }
  await keep('c', '30m')
  await keep('a', '10m')
  await keep('never', 'forever')
  await keep('b', '20m')
  await keep('reserved', '5m')
  await reserve(story.service, { segment: 'default', address: '10.22.0.6', owner: 'shop/reserved', note: '' })
  const list = async (limit: number) => {
    const { freeing, more } = await listFreeing(story.service, 'net', limit, noTurn)
    return [...freeing.map(({ pod }) => pod?.name), more]
  }
  t.strictSame(await list(20), ['a', 'b', 'c', 0])
  t.strictSame(await list(2), ['a', 'b', 1])
  story.now += 600_000
  t.strictSame(await list(20), ['b', 'c', 0])
})

t.test('others have their turn also while nothing but leases of other segments is passed', async t => {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/16'])
  await story.add({ pod: 'a', container: 'c1' })
  const others = Array.from({ length: 2_000 }, (_, index) =>
    lease(`10.22.${index >> 8}.${index & 255}`, 1, { segment: 'blue' }),
  )
  await story.service.ledger.commit(others.map(record => putLease(record, null)))
  let turns = 0
  const turn = (): Promise<void> => {
    turns++
    return Promise.resolve()
  }
  const map = await mapPool(story.service, 'net', {}, turn)
  t.match([spell(map.counts), turns], [/^1 bound/, 4])
  t.match(await listFreeing(story.service, 'net', 20, turn), { freeing: [], more: 0 })
  t.equal(turns, 8)
})
