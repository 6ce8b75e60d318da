import fc from 'fast-check'
import t from 'tap'
import {
  canonicalPool,
  capacityOf,
  formatRangeSet,
  isSegmentName,
  isUsable,
  poolsOverlap,
  rangeOf,
  unusableReason,
  type Pool,
  type RangeDefinition,
} from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { formatAddress, parseAddress, type Address } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

/** A range in words: "10.1.2.0/24" and, where they matter, start, end, gateway and what is left out. */
interface Words {
  readonly subnet: string
  readonly start?: string
  readonly end?: string
  readonly gateway?: string
  /** "10.1.2.5" or "10.1.2.5-10.1.2.9" */
  readonly exclude?: readonly string[]
}

function address(text: string): Address {
  const parsed = parseAddress(text)
  if (!parsed) throw new Error(text)
  return parsed
}

function definition({ subnet, start, end, gateway, exclude = [] }: Words): RangeDefinition {
  const cidr = parseCidr(subnet)
  if (!cidr) throw new Error(subnet)
  return {
    subnet: cidr,
    ...(start !== undefined && { rangeStart: address(start) }),
    ...(end !== undefined && { rangeEnd: address(end) }),
    ...(gateway !== undefined && { gateway: address(gateway) }),
    exclude: exclude.map(text => {
      const [first = '', last = first] = text.split('-')
      return { first: address(first), last: address(last) }
    }),
  }
}

const poolOf = (words: Words | readonly (readonly Words[])[], name = 'net', segment = 'default'): Pool =>
  canonicalPool(
    name,
    segment,
    ('subnet' in words ? [[words]] : words).map(set => set.map(definition)),
  )

/** "first-last" of every run that may be given. */
const runsOf = (pool: Pool): string[] =>
  pool.rangeSets.flat().flatMap(range =>
    range.usable.map(run => {
      const text = (value: bigint): string => formatAddress({ family: range.family, value })
      return run.first === run.last ? text(run.first) : `${text(run.first)}-${text(run.last)}`
    }),
  )

const usable: readonly (readonly [name: string, words: Words, runs: readonly string[], capacity: bigint])[] =
  [
    [
      'a /24: network, gateway and broadcast are left out',
      { subnet: '10.1.2.0/24' },
      ['10.1.2.2-10.1.2.254'],
      253n,
    ],
    ['the smallest IPv4', { subnet: '10.1.2.4/30' }, ['10.1.2.6'], 1n],
    ['the smallest IPv6: it has no broadcast', { subnet: 'fd00::4/126' }, ['fd00::6-fd00::7'], 2n],
    [
      'a gateway in the middle',
      { subnet: '10.1.2.0/29', gateway: '10.1.2.4' },
      ['10.1.2.1-10.1.2.3', '10.1.2.5-10.1.2.6'],
      5n,
    ],
    ['a gateway at the end', { subnet: '10.1.2.0/29', gateway: '10.1.2.6' }, ['10.1.2.1-10.1.2.5'], 5n],
    [
      'a gateway of another subnet',
      { subnet: '10.1.2.0/29', gateway: '10.9.9.9' },
      ['10.1.2.1-10.1.2.6'],
      6n,
    ],
    [
      'start and end',
      { subnet: '10.1.2.0/24', start: '10.1.2.10', end: '10.1.2.20' },
      ['10.1.2.10-10.1.2.20'],
      11n,
    ],
    ['one address', { subnet: '10.1.2.0/24', start: '10.1.2.10', end: '10.1.2.10' }, ['10.1.2.10'], 1n],
    [
      'a start on the network address',
      { subnet: '10.1.2.0/29', start: '10.1.2.0' },
      ['10.1.2.2-10.1.2.6'],
      5n,
    ],
    [
      'an end on the broadcast address',
      { subnet: '10.1.2.0/29', end: '10.1.2.7' },
      ['10.1.2.2-10.1.2.6'],
      5n,
    ],
    ['left out: the first', { subnet: '10.1.2.0/29', exclude: ['10.1.2.2'] }, ['10.1.2.3-10.1.2.6'], 4n],
    ['left out: the last', { subnet: '10.1.2.0/29', exclude: ['10.1.2.6'] }, ['10.1.2.2-10.1.2.5'], 4n],
    [
      'left out: one inside',
      { subnet: '10.1.2.0/29', exclude: ['10.1.2.4'] },
      ['10.1.2.2-10.1.2.3', '10.1.2.5-10.1.2.6'],
      4n,
    ],
    [
      'left out beyond both ends',
      {
        subnet: '10.1.2.0/24',
        start: '10.1.2.10',
        end: '10.1.2.20',
        exclude: ['10.1.2.5-10.1.2.11', '10.1.2.19-10.1.2.200'],
      },
      ['10.1.2.12-10.1.2.18'],
      7n,
    ],
    [
      'left out twice, overlapping and touching',
      {
        subnet: '10.1.2.0/24',
        end: '10.1.2.12',
        exclude: ['10.1.2.4-10.1.2.6', '10.1.2.5-10.1.2.8', '10.1.2.9'],
      },
      ['10.1.2.2-10.1.2.3', '10.1.2.10-10.1.2.12'],
      5n,
    ],
    [
      'left out: what is left out anyway',
      { subnet: '10.1.2.0/29', exclude: ['10.1.2.0-10.1.2.1', '10.1.2.7'] },
      ['10.1.2.2-10.1.2.6'],
      5n,
    ],
    [
      'left out outside of start and end',
      { subnet: '10.1.2.0/24', start: '10.1.2.10', end: '10.1.2.20', exclude: ['10.1.2.100'] },
      ['10.1.2.10-10.1.2.20'],
      11n,
    ],
    ['a /8', { subnet: '10.0.0.0/8' }, ['10.0.0.2-10.255.255.254'], 2n ** 24n - 3n],
    ['the whole of IPv4', { subnet: '0.0.0.0/0' }, ['0.0.0.2-255.255.255.254'], 2n ** 32n - 3n],
    ['a /64', { subnet: 'fd00:22::/64' }, ['fd00:22::2-fd00:22::ffff:ffff:ffff:ffff'], 2n ** 64n - 2n],
    ['a /48', { subnet: 'fd00:22::/48' }, ['fd00:22::2-fd00:22:0:ffff:ffff:ffff:ffff:ffff'], 2n ** 80n - 2n],
    [
      'the top of IPv6',
      { subnet: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff0/124' },
      ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff2-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
      14n,
    ],
  ]
for (const [name, words, runs, capacity] of usable) {
  t.test(`usable: ${name}`, t => {
    const pool = poolOf(words)
    t.strictSame(runsOf(pool), runs)
    t.equal(capacityOf(pool), capacity)
    t.end()
  })
}

t.test('capacity adds up over ranges and sets', t => {
  const pool = poolOf([[{ subnet: '10.1.0.0/24' }, { subnet: '10.2.0.0/30' }], [{ subnet: 'fd00::/126' }]])
  t.equal(capacityOf(pool), 253n + 1n + 2n)
  t.equal(
    formatRangeSet(pool.rangeSets[0] ?? []),
    '10.1.0.1-10.1.0.254,10.2.0.1-10.2.0.2',
    'as host-local prints it',
  )
  t.end()
})

/** Beyond host-local's own, which network-config.test.ts has. */
const refused: readonly (readonly [name: string, words: Words | Words[][], message: RegExp])[] = [
  [
    'everything left out',
    { subnet: '10.1.2.0/29', exclude: ['10.1.2.0-10.1.2.7'] },
    /range 10\.1\.2\.1-10\.1\.2\.6 has no address to give/,
  ],
  [
    'only the gateway',
    { subnet: '10.1.2.0/24', end: '10.1.2.1' },
    /10\.1\.2\.1-10\.1\.2\.1 has no address to give/,
  ],
  [
    'left out of another network',
    { subnet: '10.1.2.0/24', exclude: ['10.1.3.1'] },
    /exclude 10\.1\.3\.1 not in network 10\.1\.2\.0\/24/,
  ],
  [
    'left out into another network',
    { subnet: '10.1.2.0/24', exclude: ['10.1.2.250-10.1.3.1'] },
    /exclude 10\.1\.3\.1 not in/,
  ],
  ['left out of the other family', { subnet: '10.1.2.0/24', exclude: ['fd00::1'] }, /exclude fd00::1 not in/],
  [
    'a gateway of the other family',
    { subnet: '10.1.2.0/24', gateway: 'fd00::1' },
    /gateway fd00::1 is not of the family/,
  ],
  ['IPv4 host bits', { subnet: '10.1.2.1/24' }, /the network address is 10\.1\.2\.0/],
  ['IPv6 host bits', { subnet: 'fd00::1/64' }, /the network address is fd00::/],
  [
    'the second set',
    [[{ subnet: '10.1.2.0/24' }], [{ subnet: 'fd00::/127' }]],
    /^invalid range set 1: Network fd00::\/127 too small/,
  ],
]
for (const [name, words, message] of refused) {
  t.test(`refused: ${name}`, async t => {
    const problem = await thrownProblem(() => poolOf(words))
    t.equal(problem.code, 'IPK_CONFIG_INVALID')
    t.match(problem.message, message)
  })
}

t.test('why an address may not be given', t => {
  const pool = poolOf({
    subnet: '10.1.2.0/24',
    start: '10.1.2.10',
    gateway: '10.1.2.254',
    exclude: ['10.1.2.100-10.1.2.120'],
  })
  const [set = []] = pool.rangeSets
  const [range] = set
  for (const [text, reason] of [
    ['10.1.2.0', 'the network address'],
    ['10.1.2.254', 'the gateway'],
    ['10.1.2.255', 'the broadcast address'],
    ['10.1.2.9', 'outside the range'],
    ['10.1.2.100', 'excluded'],
    ['10.1.2.120', 'excluded'],
    ['10.1.2.10', undefined],
    ['10.1.2.121', undefined],
    ['10.1.2.253', undefined],
  ] as const) {
    t.equal(unusableReason(range!, address(text)), reason, text)
    t.equal(isUsable(range!, address(text)), reason === undefined, text)
  }
  t.equal(rangeOf(set, address('10.1.2.100')), range, 'a range has what it leaves out')
  for (const text of ['10.1.2.9', '10.1.3.1', '::10.1.2.50', 'fd00::1'])
    t.equal(rangeOf(set, address(text)), undefined, text)
  t.end()
})

t.test('overlaps', t => {
  const small = poolOf({ subnet: '10.1.2.0/24', start: '10.1.2.10', end: '10.1.2.20' })
  for (const [name, other, overlap] of [
    ['itself', small, true],
    ['the same subnet, other addresses', poolOf({ subnet: '10.1.2.0/24', start: '10.1.2.21' }), false],
    ['one address in common', poolOf({ subnet: '10.1.2.0/24', start: '10.1.2.20' }), true],
    ['around it', poolOf({ subnet: '10.0.0.0/8' }), true],
    ['beside it', poolOf({ subnet: '10.1.3.0/24' }), false],
    ['the other family', poolOf({ subnet: '::/0' }), false],
    ['another segment', poolOf({ subnet: '10.1.2.0/24' }, 'other', 'lab'), false],
    [
      'in the last of its ranges',
      poolOf([[{ subnet: 'fd00::/64' }], [{ subnet: '10.9.0.0/24' }, { subnet: '10.1.2.16/28' }]]),
      true,
    ],
  ] as const) {
    t.equal(poolsOverlap(small, other), overlap, name)
    t.equal(poolsOverlap(other, small), overlap, `${name}, asked the other way round`)
  }
  t.end()
})

t.test('runs are in order, apart, inside, and add up to what is usable one by one', t => {
  const offset = fc.integer({ min: 0, max: 31 })
  const gap = fc.tuple(offset, offset).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
  const text = (value: number): string => `10.1.2.${value}`
  fc.assert(
    fc.property(gap, offset, fc.array(gap, { maxLength: 4 }), ([start, end], gateway, exclude) => {
      const left = new Set([0, 31, gateway])
      for (const [first, last] of exclude) for (let value = first; value <= last; value++) left.add(value)
      const wanted = Array.from({ length: end - start + 1 }, (_, index) => start + index).filter(
        value => !left.has(value),
      )
      const words = {
        ...{ subnet: '10.1.2.0/27', start: text(start), end: text(end), gateway: text(gateway) },
        exclude: exclude.map(([first, last]) => `${text(first)}-${text(last)}`),
      }
      if (wanted.length === 0) return true
      const [range] = poolOf(words).rangeSets.flat()
      const given = range!.usable.flatMap(run =>
        Array.from(
          { length: Number(run.last - run.first) + 1 },
          (_, index) => Number(run.first & 31n) + index,
        ),
      )
      return (
        JSON.stringify(given) === JSON.stringify(wanted) &&
        range!.usable.every((run, index) => index === 0 || run.first > range!.usable[index - 1]!.last + 1n)
      )
    }),
    { numRuns: 300 },
  )
  t.end()
})

t.test('names of segments', t => {
  for (const name of ['default', 'a', '0', 'lab-2', 'a'.repeat(63)]) t.ok(isSegmentName(name), name)
  for (const name of ['', '-a', 'a-', 'Lab', 'a.b', 'a/b', 'a b', 'a\n', 'a'.repeat(64)])
    t.notOk(isSegmentName(name), JSON.stringify(name))
  t.end()
})
