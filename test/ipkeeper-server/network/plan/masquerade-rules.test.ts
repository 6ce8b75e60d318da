import t from 'tap'
import {
  changeScript,
  masqueradeDifferences,
  readMember,
  readRanges,
  rebuildScript,
  revisionOf,
  setName,
  masqueradedPods,
} from '../../../../ipkeeper-server/network/plan/masquerade-rules.ts'
import type { LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { sampleWiring } from './sample-job.ts'
import { lease } from '../../../rigs/records.ts'

t.test('a set has a name that nft and every kernel take', t => {
  for (const pool of ['fixed', 'a.b-c_d', '1st', 'x'.repeat(300), 'größe', '', '"; flush ruleset'])
    for (const family of [4, 6] as const) t.match(setName(pool, family), /^pods[46]_[0-9a-f]{16}$/, pool)
  t.equal(setName('fixed', 4), setName('fixed', 4))
  t.equal(new Set(['a', 'b', 'a.b', 'a-b', 'ab'].map(pool => setName(pool, 4))).size, 5)
  // FNV-1a of the empty text and of "a", as its authors publish them.
  t.equal(setName('', 4), 'pods4_cbf29ce484222325')
  t.equal(setName('a', 6), 'pods6_af63dc4c8601ec8c')
  t.end()
})

t.test('networks of a rule', t => {
  for (const [given, expected] of [
    [[], []],
    [['10.22.0.5/16'], ['10.22.0.0/16']],
    [
      ['10.22.1.0/24', '10.22.0.0/16', '10.22.0.0/16', '10.23.0.0/24'],
      ['10.22.0.0/16', '10.23.0.0/24'],
    ],
    [['FD00:22:0::5/64'], ['fd00:22::/64']],
    [
      ['fd00::/48', '10.0.0.0/8'],
      ['10.0.0.0/8', 'fd00::/48'],
    ],
  ] as const)
    t.strictSame(readRanges(given), expected, given.join(' '))
  for (const wrong of ['', '10.22.0.0', '10.22.0.0/33', '0.0.0.0/0 }; flush ruleset', '10.22.0.0/16\n'])
    t.throws(() => readRanges([wrong]), /cannot be a network/, wrong)
  t.end()
})

t.test('only an address becomes an element', t => {
  t.equal(readMember('10.22.0.50'), '10.22.0.50')
  t.equal(readMember('FD00:0::0050'), 'fd00::50')
  for (const wrong of ['', '10.22.0.050', '10.22.0.0/24', 'fe80::1%eth0', '1.2.3.4 }', '@pods4_x'])
    t.throws(() => readMember(wrong), /cannot be an element/, wrong)
  t.end()
})

const pools = new Map([['fixed', ['10.22.0.0/16', 'fd00:22::/64']]])
const [set4, set6] = [setName('fixed', 4), setName('fixed', 6)]
const rules = [
  `add rule inet ipkeeper postrouting ip saddr @${set4} ip daddr != { 224.0.0.0/4, 10.22.0.0/16, 255.255.255.255/32 } masquerade comment "pool fixed"`,
  `add rule inet ipkeeper postrouting ip6 saddr @${set6} ip6 daddr != { ff00::/8, fe80::/10, fd00:22::/64 } masquerade comment "pool fixed"`,
]
const sets = [
  `add set inet ipkeeper ${set4} { type ipv4_addr; comment "pool fixed"; }`,
  `add set inet ipkeeper ${set6} { type ipv6_addr; comment "pool fixed"; }`,
]
const member = (address: string, pool = 'fixed'): { pool: string; address: string } => ({ pool, address })
const lines = (script: string): string[] => script.trimEnd().split('\n')

t.test('the whole table', t => {
  t.strictSame(
    lines(
      rebuildScript(
        pools,
        ['10.22.0.5', 'fd00:22::5', '10.22.0.6'].map(a => member(a)),
        'fd00::1',
      ),
    ),
    [
      'add table inet ipkeeper',
      'delete table inet ipkeeper',
      'add table inet ipkeeper',
      'add chain inet ipkeeper postrouting { type nat hook postrouting priority 100; policy accept; }',
      ...sets,
      ...rules,
      `add element inet ipkeeper ${set4} { 10.22.0.5, 10.22.0.6 }`,
      `add element inet ipkeeper ${set6} { fd00:22::5 }`,
      'add set inet ipkeeper revision { type ipv6_addr; comment "how ipkeeper left this table"; }',
      'add element inet ipkeeper revision { fd00::1 }',
    ],
  )
  t.end()
})

t.test('a change', t => {
  const flush = 'flush chain inet ipkeeper postrouting'
  const five = `element inet ipkeeper ${set4} { 10.22.0.5 }`
  const revision = { from: 'fd00::1', to: 'fd00::2' }
  const revised = [
    'delete element inet ipkeeper revision { fd00::1 }',
    'add element inet ipkeeper revision { fd00::2 }',
  ]
  for (const [what, change, expected] of [
    [
      'an address comes',
      { added: [member('10.22.0.5')], removed: [], newPools: [] },
      [flush, ...rules, `add ${five}`],
    ],
    [
      'into a new pool',
      { added: [member('10.22.0.5')], removed: [], newPools: ['fixed'] },
      [...sets, flush, ...rules, `add ${five}`],
    ],
    [
      'an address goes: the rules are left alone',
      { added: [], removed: [member('10.22.0.5')], newPools: [] },
      [`add ${five}`, `delete ${five}`],
    ],
    [
      'one goes, one comes',
      { added: [member('fd00:22::5')], removed: [member('10.22.0.5')], newPools: [] },
      [flush, ...rules, `add ${five}`, `delete ${five}`, `add element inet ipkeeper ${set6} { fd00:22::5 }`],
    ],
  ] as const)
    t.strictSame(lines(changeScript(pools, { ...change, revision })), [...revised, ...expected], what)
  t.end()
})

t.test('a revision is one word that tells daemon and change', t => {
  const [one, other] = ['0123456789abcdef', 'fedcba9876543210']
  t.equal(revisionOf(one, 0), '123:4567:89ab:cdef::')
  t.equal(revisionOf(one, 255), '123:4567:89ab:cdef::ff')
  t.equal(revisionOf(other, Number.MAX_SAFE_INTEGER), 'fedc:ba98:7654:3210:1f:ffff:ffff:ffff')
  t.throws(() => revisionOf('', 1), /cannot be an element/)
  t.end()
})

t.test('the name of a pool stays inside its comment', t => {
  const script = rebuildScript(new Map([[`a"; }\nflush ruleset ${'x'.repeat(300)}`, []]]), [], '::1')
  t.notMatch(script, /^flush/m)
  t.match(script, /comment "pool a_____flush_ruleset_x{80}"/)
  t.end()
})

t.test('differences between what should be and a listing', t => {
  const rule = (set: string): object => ({
    rule: {
      expr: [
        { match: { op: '==', left: { payload: { protocol: 'ip', field: 'saddr' } }, right: `@${set}` } },
        { masquerade: null },
      ],
    },
  })
  const listing = (...nftables: object[]): object => ({ nftables: [{ metainfo: {} }, ...nftables] })
  const pods = [{ pool: 'fixed', ranges: [], addresses: ['10.22.0.5', 'fd00:22::5'] }]
  const full = [
    { set: { name: set4, elem: ['10.22.0.4', '10.22.0.5'] } },
    { set: { name: set6, elem: ['fd00:22::5'] } },
  ]
  const unruled = [
    '10.22.0.5 is not masqueraded by nft: the table has no rule for IPv4 of pool fixed',
    'fd00:22::5 is not masqueraded by nft: the table has no rule for IPv6 of pool fixed',
  ]
  for (const [what, found, expected] of [
    ['all is there', listing(...full, rule(set4), rule(set6)), []],
    [
      'no table',
      undefined,
      ['10.22.0.5', 'fd00:22::5'].map(
        address => `${address} is not masqueraded by nft: there is no table inet ipkeeper`,
      ),
    ],
    ['flushed', listing(...full), unruled],
    ['one rule', listing(...full, rule(set4)), unruled.slice(1)],
    [
      'empty sets',
      listing({ set: { name: set4 } }, { set: { name: set6 } }, rule(set4), rule(set6)),
      [
        `10.22.0.5 is not masqueraded by nft: set ${set4} of pool fixed lacks it`,
        `fd00:22::5 is not masqueraded by nft: set ${set6} of pool fixed lacks it`,
      ],
    ],
    [
      'a rule that does something else',
      listing(...full, rule(set6), { rule: { expr: [{ match: { right: `@${set4}` } }, { accept: null }] } }),
      unruled.slice(0, 1),
    ],
  ] as const)
    t.strictSame(masqueradeDifferences(pods, found), expected, what)
  t.end()
})

const leaseOf = (address: string, pool: string): LeaseRecord => lease(address, 1, { pool })

const subnetsOf = (pool: string): readonly string[] => [`subnets of ${pool}`]

t.test('addresses by their pools', t => {
  const leases = [leaseOf('10.22.0.50', 'a'), leaseOf('10.23.0.50', 'b'), leaseOf('fd00:22::50', 'a')]
  const of = (pool: string, ...addresses: readonly string[]) => ({ pool, ranges: subnetsOf(pool), addresses })
  for (const [what, masqueraded, expected] of [
    ['none', [], []],
    ['one', ['10.23.0.50'], [of('b', '10.23.0.50')]],
    [
      'all',
      ['10.22.0.50', '10.23.0.50', 'fd00:22::50'],
      [of('a', '10.22.0.50', 'fd00:22::50'), of('b', '10.23.0.50')],
    ],
    ['one that is leased no more', ['10.24.0.50'], []],
  ] as const)
    t.strictSame(masqueradedPods({ ...sampleWiring, masqueraded }, leases, subnetsOf), expected, what)
  t.strictSame(
    masqueradedPods({ ...sampleWiring, masqueraded: ['10.22.0.50'] }, [], subnetsOf),
    [],
    'what another sandbox took over is not of this one',
  )
  t.end()
})
