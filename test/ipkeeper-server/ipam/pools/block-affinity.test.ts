import t from 'tap'
import {
  chooseInBlocks,
  inOrderOf,
  blockOf,
  blocksFor,
  type BlockView,
} from '../../../../ipkeeper-server/ipam/pools/block-affinity.ts'

/** 10.22.0.0 */
const net = 0x0a160000n
const slash16 = { first: net + 2n, last: net + 65534n }
const nodes = Array.from({ length: 200 }, (_, index) => `worker-${index + 1}`)

const firstOf = (node: string, run = slash16): bigint => [...blocksFor(node, run)][0]?.first ?? -1n

/** What a node sees where these addresses are taken, these blocks are somebody else's, and this address was its own. */
function view(taken: ReadonlySet<bigint>, others: ReadonlySet<bigint> = new Set(), late?: bigint): BlockView {
  return {
    firstFree: ({ first, last }) => {
      for (let value = first; value <= last; value++) if (!taken.has(value)) return value
      return undefined
    },
    isOfOtherNode: block => others.has(block),
    recentlyReleased: () => late,
  }
}

const everything = ({ first, last }: { first: bigint; last: bigint }): Set<bigint> =>
  new Set(Array.from({ length: Number(last - first) + 1 }, (_, index) => first + BigInt(index)))

t.test('a run is cut at the ends of blocks, and each part comes once', async t => {
  for (const [first, last] of [
    [2n, 254n],
    [0n, 63n],
    [63n, 64n],
    [10n, 12n],
    [2n, 65534n],
    [100n, 4000n],
  ] as const) {
    const run = { first: net + first, last: net + last }
    for (const node of nodes.slice(0, 20)) {
      const parts = [...blocksFor(node, run)].sort((a, b) => Number(a.first - b.first))
      const seams = parts.slice(1).map((part, index) => part.first - (parts[index]?.last ?? 0n))
      const whole = parts.every(part => blockOf(part.first) === blockOf(part.last))
      t.strictSame([parts[0]?.first, parts.at(-1)?.last, whole], [run.first, run.last, true])
      t.ok(seams.every(seam => seam === 1n))
    }
  }
  return Promise.resolve()
})

t.test('an order is the same on every node and in every version', async t => {
  const begins = (node: string): string[] =>
    Array.from([...blocksFor(node, slash16)].slice(0, 4), ({ first }) => String(first - net))
  t.strictSame(begins('worker-1'), ['64704', '50944', '37184', '23424'])
  t.strictSame(begins('worker-2'), ['17280', '8000', '64256', '54976'])
  const resting = ['a', 'b', 'c', 'd'].map(key => ({ key, node: 'worker-3' }))
  t.strictSame(inOrderOf('worker-1', resting, 8), ['b', 'd', 'a', 'c'])
  t.strictSame(inOrderOf('worker-2', resting, 8), ['a', 'd', 'b', 'c'])
  return Promise.resolve()
})

t.test('nodes begin in blocks of their own, as far as chance goes', async t => {
  const begins = new Set(nodes.map(node => firstOf(node)))
  // 200 of 1,024: chance lets 182 be different.
  t.ok(begins.size > 170, String(begins.size))
  return Promise.resolve()
})

t.test('of a /64 the first block is known without a look at the others', async t => {
  const run = { first: (0xfd00n << 112n) + 2n, last: (0xfd00n << 112n) + (1n << 64n) - 1n }
  const [block] = blocksFor('worker-1', run)
  t.ok(block && block.first >= run.first && block.last <= run.last)
  return Promise.resolve()
})

t.test('what is chosen', async t => {
  const node = 'worker-1'
  const parts = [...blocksFor(node, slash16)]
  const at = (index: number): bigint => parts[index]?.first ?? -1n
  const block = (index: number): bigint => blockOf(at(index))
  const blocks = (...indexes: number[]): Set<bigint> => new Set(indexes.map(block))
  const full = (...indexes: number[]): Set<bigint> =>
    new Set(indexes.flatMap(index => [...everything(parts[index] ?? { first: 0n, last: -1n })]))
  const all = Array.from(parts.keys())
  const place = 13n
  const behindPlace = everything({ first: at(0) + place, last: at(0) + 63n })
  for (const [what, taken, others, chosen] of [
    ['the lowest of the first block', full(), blocks(), at(0)],
    ['the lowest that is free there', new Set([at(0)]), blocks(), at(0) + 1n],
    ['when that is full, of the next in its own order', full(0), blocks(), at(1)],
    ['one where nobody else is', full(), blocks(0, 1), at(2)],
    [
      'when somebody is in all that it looks at, the first with a gap',
      full(0),
      blocks(...all),
      at(1) + place,
    ],
    ['there the next one after its own place', new Set([at(0) + place]), blocks(...all), at(0) + place + 1n],
    ['or what is before it', behindPlace, blocks(...all), at(0)],
    ['a block that is far off, when all before are full', full(...all.slice(0, 300)), blocks(), at(300)],
    ['whatever is left', full(...all.slice(0, -1)), blocks(), at(-1) === -1n ? parts.at(-1)?.first : -1n],
    ['nothing', full(...all), blocks(), undefined],
  ] as const) {
    t.equal(chooseInBlocks(node, slash16, view(taken, others)), chosen, what)
  }
  return Promise.resolve()
})

t.test('an address that the node had lately', async t => {
  const run = { first: net + 2n, last: net + 62n }
  const late = net + 40n
  const shared = new Set([net])
  t.equal(
    chooseInBlocks('worker-1', run, view(new Set(), new Set(), late)),
    run.first,
    'not while a block is its own',
  )
  t.equal(
    chooseInBlocks('worker-1', run, view(new Set(), shared, late)),
    late,
    'before all that others may want',
  )
  return Promise.resolve()
})

t.test('a run within one block: the lowest, until somebody else is there', async t => {
  const run = { first: net + 50n, last: net + 52n }
  const shared = new Set([net])
  const begins = new Set<bigint | undefined>()
  for (const node of nodes) {
    t.equal(chooseInBlocks(node, run, view(new Set())), run.first)
    begins.add(chooseInBlocks(node, run, view(new Set(), shared)))
    t.equal(chooseInBlocks(node, run, view(new Set([run.first, run.last]), shared)), net + 51n)
    t.equal(chooseInBlocks(node, run, view(everything(run), shared)), undefined)
  }
  t.strictSame([...begins].sort(), [net + 50n, net + 51n, net + 52n])
  return Promise.resolve()
})

t.test('what may be used again: all of the first ones, each node in another order', async t => {
  const keys = Array.from({ length: 1_000 }, (_, index) => `key ${index}`)
  const resting = keys.map(key => ({ key, node: 'another' }))
  const orders = nodes.map(node => inOrderOf(node, resting, resting.length))
  for (const order of orders) t.strictSame(new Set(order), new Set(keys.slice(0, 128)))
  // 200 of 128: chance lets 101 be different.
  t.ok(new Set(orders.map(([first]) => first)).size > 85)
  const mixed = resting.map((one, index) => (index === 7 || index === 3 ? { ...one, node: 'worker-1' } : one))
  const order = inOrderOf('worker-1', mixed, mixed.length)
  t.strictSame(
    order.slice(0, 2),
    ['key 3', 'key 7'],
    'its own ones before all others, the longest rested first',
  )
  t.strictSame(new Set(order), new Set(keys.slice(0, 128)))
  for (const [count, wanted] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [13, 7],
    [256, 128],
  ] as const)
    t.equal(inOrderOf('worker-1', resting.slice(0, count), count).length, wanted, `of ${count}`)
  return Promise.resolve()
})
