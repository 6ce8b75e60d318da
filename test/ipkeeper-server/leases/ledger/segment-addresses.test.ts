import t from 'tap'
import {
  BlockOwners,
  RecentlyReleased,
  SegmentAddresses,
} from '../../../../ipkeeper-server/leases/ledger/segment-addresses.ts'
import { leaseKey } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import { blockOf } from '../../../../ipkeeper-server/ipam/pools/block-affinity.ts'
import type { StoreNews } from '../../../../ipkeeper-server/store/lease-store.ts'
import { MemoryStore } from '../../../../ipkeeper-server/store/memory/memory-store.ts'
import { formatAddress } from '../../../../shared/net/address.ts'
import { lease, putLease, reservationRecord } from '../../../rigs/records.ts'
import { sharedAspect } from '../../../rigs/shared-aspect.ts'
import { poolFrom } from '../test-service.ts'
import { lowest, two } from './small-pool.ts'

const all = { first: 0n, last: 1_000n }

t.test('what a node goes back to', t => {
  for (const { name, notes, taken = [], interval = all, found } of [
    { name: 'nothing', notes: [], found: undefined },
    { name: 'what it gave up', notes: [[5n, true]], found: 5n },
    {
      name: 'the longest free first',
      notes: [
        [5n, true],
        [3n, true],
      ],
      found: 5n,
    },
    {
      name: 'given up again, it is the last',
      notes: [
        [5n, true],
        [3n, true],
        [5n, false],
        [5n, true],
      ],
      found: 3n,
    },
    {
      name: 'not what has got a record again',
      notes: [
        [5n, true],
        [5n, false],
      ],
      found: undefined,
    },
    {
      name: 'not what is taken in another way',
      notes: [
        [5n, true],
        [3n, true],
      ],
      taken: [5n],
      found: 3n,
    },
    { name: 'not what is outside', notes: [[5n, true]], interval: { first: 6n, last: 9n }, found: undefined },
  ] as readonly {
    readonly name: string
    readonly notes: readonly (readonly [address: bigint, gone: boolean])[]
    readonly taken?: readonly bigint[]
    readonly interval?: typeof all
    readonly found: bigint | undefined
  }[]) {
    const late = new RecentlyReleased()
    for (const [address, gone] of notes) late.note(address, gone)
    t.equal(
      late.find(interval, address => !taken.includes(address)),
      found,
      name,
    )
  }
  t.end()
})

t.test('not more than some are remembered, the latest', t => {
  const late = new RecentlyReleased()
  for (let address = 0n; address < 300n; address++) late.note(address, true)
  t.equal(
    late.find(all, () => true),
    44n,
  )
  t.end()
})

t.test('who has addresses of a block', t => {
  const owners = new BlockOwners()
  const counts: readonly (readonly [address: bigint, node: string, step: 1 | -1])[] = [
    [5n, 'n1', 1],
    [63n, 'n1', 1],
    [64n, 'n1', 1],
    [70n, 'n2', 1],
  ]
  for (const count of counts) owners.count(...count)
  t.strictSame([...owners.blocksOf('n1')], [0n, 64n])
  t.strictSame([...owners.blocksOf('n2')], [64n])
  const others = (): boolean[] => [0n, 64n, 128n].map(block => owners.hasOthers(block, 'n1'))
  t.strictSame(others(), [false, true, false])
  t.equal(owners.hasOthers(0n, 'n3'), true)
  owners.count(70n, 'n2', -1)
  owners.count(5n, 'n1', -1)
  t.strictSame(others(), [false, false, false])
  t.strictSame([...owners.blocksOf('n1')], [0n, 64n], 'one of two is left')
  owners.count(63n, 'n1', -1)
  t.strictSame([...owners.blocksOf('n1')], [64n])
  t.end()
})

t.test('segments and families are kept apart', t => {
  const addresses = new SegmentAddresses()
  const lowestOf = (segment: string, family: 4 | 6): bigint | undefined =>
    addresses.lowestFree(segment, family, { first: 1n, last: 3n })?.value
  addresses.mark({ segment: 'default', address: '0.0.0.1' }, true)
  addresses.mark({ segment: 'default', address: '::1' }, true)
  addresses.mark({ segment: 'default', address: '::2' }, true)
  const found = (): (bigint | undefined)[] => [
    lowestOf('default', 4),
    lowestOf('default', 6),
    lowestOf('lab', 4),
  ]
  t.strictSame(found(), [2n, 3n, 1n])
  addresses.mark({ segment: 'default', address: '::1' }, false)
  t.strictSame(found(), [2n, 1n, 1n])
  t.throws(
    () => {
      addresses.mark({ segment: 'default', address: 'nonsense' }, true)
    },
    { code: 'IPK_INTERNAL' },
  )
  t.end()
})

t.test('where a node has leases: all addresses of its blocks, in any segment', t => {
  const addresses = new SegmentAddresses()
  const at = (address: string, node: string, segment = 'default') => lease(address, 1, { node, segment })
  addresses.countLease(at('10.0.0.70', 'n1'), 1, 'n1')
  addresses.countLease(at('10.0.0.3', 'n2'), 1, 'n1')
  addresses.countLease(at('10.0.0.3', 'n1', 'lab'), 1, 'n1')
  addresses.countLease(at('fd00::1', 'n1'), 1, 'n1')
  const blocks = new Map<string, number>()
  for (const { segment, ...address } of addresses.besides('n1')) {
    const block = `${segment} ${formatAddress({ ...address, value: blockOf(address.value) })}`
    blocks.set(block, (blocks.get(block) ?? 0) + 1)
  }
  t.strictSame(
    [...blocks],
    [
      ['default 10.0.0.64', 64],
      ['lab 10.0.0.0', 64],
      ['default fd00::', 64],
    ],
  )
  t.strictSame([...addresses.besides('n3')], [])
  t.end()
})

t.test('dynamic choice sees: leased, reserved, both, neither', async t => {
  const ledger = await Ledger.open(new MemoryStore())
  const reservation = reservationRecord(two.address, 'a')
  const reserve = { kind: 'reservation', key: leaseKey(two), expect: null, record: reservation } as const
  await ledger.commit([putLease(lease('10.0.0.2'), null)])
  await ledger.commit([reserve])
  t.equal(lowest(ledger), 3)
  await ledger.commit([{ kind: 'lease', key: leaseKey(two), expect: 1, record: null }])
  t.equal(lowest(ledger), 3, 'still reserved')
  t.equal(ledger.reservationsFor('shop', 'a').length, 1)
  await ledger.commit([{ ...reserve, expect: 1, record: null }])
  t.equal(lowest(ledger), 2)
  t.strictSame(ledger.reservationsFor('shop', 'a'), [])
})

t.test('in a store that nodes share each node keeps to itself', async t => {
  /** The store as another node sees it: the same records, heard of at once. */
  const heard: ((news: StoreNews) => void)[] = []
  const memory = new MemoryStore()
  const shared = sharedAspect(adopt => heard.push(adopt))
  const store = Object.assign(memory, { shared })
  const open = (node: string): Promise<Ledger> => Ledger.open(store, () => 0, node)
  const [one, other] = [await open('worker-1'), await open('worker-2')] as const
  const wide = poolFrom('net', ['10.0.0.0/16']).rangeSets[0]?.[0]?.usable[0]
  if (!wide) throw new Error('no run')
  const blockIn = (ledger: Ledger): bigint | undefined => {
    const address = ledger.lowestFree('default', 4, wide)
    return address && blockOf(address.value)
  }
  const take = async (ledger: Ledger, node: string): Promise<string> => {
    const address = formatAddress(ledger.lowestFree('default', 4, wide) ?? { family: 4, value: 0n })
    const write = putLease(lease(address, 1, { node }), null)
    await ledger.commit([write])
    for (const adopt of heard) adopt({ kind: 'lease', key: write.key, text: JSON.stringify(write.record) })
    return address
  }
  t.not(blockIn(one), blockIn(other))
  const before = blockIn(one)
  const first = await take(one, 'worker-1')
  t.equal(blockIn(one), before, 'goes on in the block that is its own')
  for (const adopt of heard) {
    const write = putLease(lease(first, 2, { node: 'worker-2' }), 1)
    adopt({ kind: 'lease', key: write.key, text: JSON.stringify(write.record) })
  }
  t.not(blockIn(one), before, 'leaves it when it is another node that has an address there')
  for (const adopt of heard)
    adopt({ kind: 'lease', key: leaseKey({ segment: 'default', address: first }), text: null })
  t.equal(blockIn(one), before, 'comes back when that has gone')
  // Another node has something in every block that it would look at.
  const crowd = Array.from({ length: 1_024 }, (_, index) =>
    putLease(lease(`10.0.${index >> 2}.${((index & 3) << 6) + 20}`, 1, { node: 'worker-2' }), null),
  )
  for (const { kind, key, record } of crowd)
    for (const adopt of heard) adopt({ kind, key, text: JSON.stringify(record) })
  const own = '10.0.77.7'
  const write = putLease(lease(own, 1, { node: 'worker-1' }), null)
  const lowest = (): string => formatAddress(one.lowestFree('default', 4, wide) ?? { family: 4, value: 0n })
  await one.commit([write])
  await one.commit([{ kind: 'lease', key: write.key, expect: 1, record: null }])
  t.equal(lowest(), own, 'goes back to what it had')
  await one.commit([putLease(lease(own, 1, { node: 'worker-2' }), null)])
  t.not(lowest(), own)
  const rested = ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5'].map(address =>
    putLease(lease(address, 1, { state: 'cooling', attachment: null, until: 1000 }), null),
  )
  await one.commit(rested)
  const order = Array.from(one.restingToReuse('net'), ({ address }) => address)
  t.strictSame(
    [...new Set(order)].sort(),
    Array.from(one.resting('net'), ({ address }) => address),
  )
  t.not(order.slice(0, 4).join(), [...order].sort().slice(0, 4).join(), 'its own order first')
})
