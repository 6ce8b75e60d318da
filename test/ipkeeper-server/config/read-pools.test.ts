import t from 'tap'
import { ConfigProblem, parseConfig } from '../../../ipkeeper-server/config/load-config.ts'
import type { PoolSettings } from '../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import { capacityOf, formatRangeSet } from '../../../ipkeeper-server/ipam/pools/pool.ts'
import { formatAddress } from '../../../shared/net/address.ts'

const read = (text: string): readonly PoolSettings[] => parseConfig(text, 'c.yaml').pools

/** What one pool says beyond its name and a subnet. */
const readOne = (keys: string): PoolSettings => {
  const [pool] = read(`pools: [{ name: a, subnet: 10.1.0.0/16, ${keys} }]`)
  if (!pool) throw new Error('no pool')
  return pool
}

t.test('a pool that says nothing more', t => {
  const { pool, ...rest } = readOne('')
  t.strictSame(
    [pool.name, pool.segment, pool.rangeSets.map(formatRangeSet)],
    ['a', 'default', ['10.1.0.1-10.1.255.254']],
  )
  t.strictSame(rest, {
    rules: {},
    policy: { retention: 'release', cooldown: 60_000, preferFor: 600_000, strategy: 'lowest-free' },
    network: {},
  })
  t.end()
})

const ranges: readonly (readonly [
  name: string,
  keys: string,
  sets: readonly string[],
  gateways: readonly string[],
  capacity: bigint,
])[] = [
  ['short form', 'subnet: 10.1.0.0/24', ['10.1.0.1-10.1.0.254'], ['10.1.0.1'], 253n],
  [
    'short form with all keys',
    'subnet: 10.1.0.0/24, rangeStart: 10.1.0.10, rangeEnd: 10.1.0.19, gateway: 10.1.0.254, exclude: [10.1.0.12, 10.1.0.15-10.1.0.17]',
    ['10.1.0.10-10.1.0.19'],
    ['10.1.0.254'],
    6n,
  ],
  [
    'a set for each family',
    'ranges: [[{ subnet: 10.1.0.0/24 }], [{ subnet: "fd00::/120" }]]',
    ['10.1.0.1-10.1.0.254', 'fd00::1-fd00::ff'],
    ['10.1.0.1', 'fd00::1'],
    253n + 254n,
  ],
  [
    'two ranges of one set',
    'ranges: [[{ subnet: 10.1.0.0/24 }, { subnet: 10.3.0.0/24, exclude: [10.3.0.0/25] }]]',
    ['10.1.0.1-10.1.0.254,10.3.0.1-10.3.0.254'],
    ['10.1.0.1', '10.3.0.1'],
    253n + 127n,
  ],
  [
    'two parts of one subnet',
    'ranges: [[{ subnet: 10.1.0.0/24, rangeEnd: 10.1.0.9 }, { subnet: 10.1.0.0/24, rangeStart: 10.1.0.10 }]]',
    ['10.1.0.1-10.1.0.9,10.1.0.10-10.1.0.254'],
    ['10.1.0.1', '10.1.0.1'],
    253n,
  ],
  [
    'both forms: the short one first',
    'ranges: [[{ subnet: "fd00::/64" }]], subnet: 10.1.0.0/24',
    ['10.1.0.1-10.1.0.254', 'fd00::1-fd00::ffff:ffff:ffff:ffff'],
    ['10.1.0.1', 'fd00::1'],
    253n + 2n ** 64n - 2n,
  ],
  [
    'a /8 and a /48',
    'ranges: [[{ subnet: 10.0.0.0/8 }], [{ subnet: "fd00::/48" }]]',
    ['10.0.0.1-10.255.255.254', 'fd00::1-fd00::ffff:ffff:ffff:ffff:ffff'],
    ['10.0.0.1', 'fd00::1'],
    2n ** 24n - 3n + 2n ** 80n - 2n,
  ],
]
for (const [name, keys, sets, gateways, capacity] of ranges) {
  t.test(`ranges: ${name}`, t => {
    const [settings] = read(`pools: [{ name: a, ${keys} }]`)
    if (!settings) throw new Error('no pool')
    const { pool } = settings
    t.strictSame(pool.rangeSets.map(formatRangeSet), sets)
    t.strictSame(
      pool.rangeSets.flat().map(({ gateway }) => formatAddress(gateway)),
      gateways,
    )
    t.equal(capacityOf(pool), capacity)
    t.end()
  })
}

const settings: readonly (readonly [keys: string, said: Partial<Omit<PoolSettings, 'pool'>>])[] = [
  ['namespaces: [shop, "team-*", "*"]', { rules: { namespaces: ['shop', 'team-*', '*'] } }],
  ['nodes: [worker-1, Rack_7.example.com]', { rules: { nodes: ['worker-1', 'Rack_7.example.com'] } }],
  ['allowMac: false', { rules: { allowMac: false } }],
  ['quotaPerNamespace: 1', { rules: { quotaPerNamespace: 1 } }],
  ['namespaceSelector: {}', { rules: { namespaceSelector: { matchLabels: {}, matchExpressions: [] } } }],
  [
    'nodeSelector: { matchLabels: { example.com/rack: r7, empty: "" }, matchExpressions: [{ key: a, operator: NotIn, values: [b, c] }, { key: d, operator: DoesNotExist }, { key: e, operator: Exists, values: [] }] }',
    {
      rules: {
        nodeSelector: {
          matchLabels: { 'example.com/rack': 'r7', empty: '' },
          matchExpressions: [
            { key: 'a', operator: 'NotIn', values: ['b', 'c'] },
            { key: 'd', operator: 'DoesNotExist', values: [] },
            { key: 'e', operator: 'Exists', values: [] },
          ],
        },
      },
    },
  ],
  [
    'retention: while-owner-exists, cooldown: 1s, preferFor: 2d, strategy: least-recently-used',
    {
      policy: {
        retention: 'while-owner-exists',
        cooldown: 1000,
        preferFor: 172_800_000,
        strategy: 'least-recently-used',
      },
    },
  ],
  ['mtu: 68', { network: { mtu: 68 } }],
  ['mtu: 65535', { network: { mtu: 65_535 } }],
  [
    'routes: [{ dst: 0.0.0.0/0 }, { dst: "FD00:0::/16", gw: "fd00:0::1", mtu: 1400, advmss: 1, priority: 2, table: 3, scope: 253 }]',
    {
      network: {
        routes: [
          { dst: '0.0.0.0/0' },
          { dst: 'fd00::/16', gw: 'fd00::1', mtu: 1400, advmss: 1, priority: 2, table: 3, scope: 253 },
        ],
      },
    },
  ],
  ['routes: []', { network: { routes: [] } }],
  [
    'dns: { nameservers: [10.1.0.2, "FD00::0:2"], domain: x.org, search: [x.org, "."], options: ["ndots:2"] }',
    {
      network: {
        dns: {
          nameservers: ['10.1.0.2', 'fd00::2'],
          domain: 'x.org',
          search: ['x.org', '.'],
          options: ['ndots:2'],
        },
      },
    },
  ],
]
for (const [keys, said] of settings) {
  t.test(`said: ${keys}`, t => {
    const one = readOne(keys)
    for (const [part, value] of Object.entries(said)) t.strictSame(one[part as keyof PoolSettings], value)
    t.end()
  })
}

t.test('what drains: a pool, or a range of it', t => {
  const two = 'ranges: [[{ subnet: 10.1.0.0/24, draining: true }, { subnet: 10.3.0.0/24 }]]'
  for (const [keys, drains] of [
    ['subnet: 10.1.0.0/24', [undefined]],
    ['subnet: 10.1.0.0/24, draining: false', [undefined]],
    ['subnet: 10.1.0.0/24, draining: true', [true]],
    [two, [true, undefined]],
    [`${two}, draining: true`, [true, true]],
  ] as const) {
    const [one] = read(`pools: [{ name: a, ${keys} }]`)
    t.strictSame(
      one?.pool.rangeSets.flat().map(({ draining }) => draining),
      drains,
      keys,
    )
  }
  t.end()
})

t.test("what a pool does not say is the file's", t => {
  const pools = read(
    [
      'retention: 30m',
      'cooldown: 2m',
      'preferFor: 3m',
      'pools:',
      '  - { name: a, subnet: 10.1.0.0/16, cooldown: 9s }',
      '  - { name: b, subnet: 10.2.0.0/16, retention: release, preferFor: 8s }',
    ].join('\n'),
  )
  t.strictSame(
    pools.map(({ policy: { retention, cooldown, preferFor } }) => [retention, cooldown, preferFor]),
    [
      [{ milliseconds: 1_800_000 }, 9_000, 180_000],
      ['release', 120_000, 8_000],
    ],
  )
  t.end()
})

t.test('pools that do not share an address', t => {
  const pools = read(
    [
      'pools:',
      '  - { name: a, subnet: 10.1.0.0/16, rangeEnd: 10.1.0.9 }',
      '  - { name: a.lab, segment: lab, subnet: 10.1.0.0/16 }',
      '  - { name: b, subnet: 10.1.0.0/16, rangeStart: 10.1.0.10 }',
      '  - &six { name: c, subnet: "fd00::/64" }',
    ].join('\n'),
  )
  t.strictSame(
    pools.map(({ pool }) => `${pool.name}@${pool.segment}`),
    ['a@default', 'a.lab@lab', 'b@default', 'c@default'],
  )
  t.end()
})

/** Keys of a pool "a", from line 3 on, and every fault that is told: "line:column what". */
const refused: readonly (readonly [name: string, pool: string, faults: readonly string[]])[] = [
  ['no ranges', 'mtu: 1500', ['2:5 pools[0]: has neither "ranges" nor "subnet" (pool "a")']],
  [
    'empty ranges',
    'ranges: []',
    [
      '3:13 pools[0].ranges: is empty; it has to be a list of range sets, as in [[{ subnet: 10.22.0.0/16 }]], or to be left away (pool "a")',
    ],
  ],
  [
    'an empty set',
    'ranges: [[]]',
    [
      '3:14 pools[0].ranges[0]: is empty; it has to be a list of ranges: range sets are lists of their own, as in [[{ subnet: 10.22.0.0/16 }]], or to be left away (pool "a")',
    ],
  ],
  [
    'ranges without sets',
    'ranges: [{ subnet: 10.1.0.0/16 }]',
    [
      '3:14 pools[0].ranges[0]: a mapping is not a list of ranges: range sets are lists of their own, as in [[{ subnet: 10.22.0.0/16 }]] (pool "a")',
    ],
  ],
  [
    'a range that is a text',
    'ranges: [[10.1.0.0/16]]',
    [
      '3:15 pools[0].ranges[0][0]: "10.1.0.0/16" is not a range: a mapping such as { subnet: 10.22.0.0/16 } (pool "a")',
    ],
  ],
  [
    'a range without a subnet',
    'ranges: [[{ gateway: 10.1.0.1 }]]',
    ['3:15 pools[0].ranges[0][0]: has no "subnet" (pool "a")'],
  ],
  [
    'a key of a range misspelt',
    'ranges: [[{ subnet: 10.1.0.0/16, exlude: [] }]]',
    ['3:38 pools[0].ranges[0][0]: unknown key "exlude"; did you mean "exclude"? (pool "a")'],
  ],
  [
    'keys of a range without one',
    'ranges: [[{ subnet: 10.1.0.0/16 }]]\n    rangeStart: 10.1.0.9\n    exclude: [10.1.0.7]',
    [
      '4:5 pools[0]: "rangeStart" stands beside a "subnet" only, or in a range of "ranges" (pool "a")',
      '5:5 pools[0]: "exclude" stands beside a "subnet" only, or in a range of "ranges" (pool "a")',
    ],
  ],
  [
    'subnets that are none',
    'ranges: [[{ subnet: 10.1.0.0 }, { subnet: 10.1.0.0/33 }, { subnet: 10.01.0.0/16 }, { subnet: 7 }]]',
    [
      '3:25 pools[0].ranges[0][0].subnet: "10.1.0.0" is not a network, such as 10.22.0.0/16 (pool "a")',
      '3:47 pools[0].ranges[0][1].subnet: "10.1.0.0/33" is not a network, such as 10.22.0.0/16 (pool "a")',
      '3:72 pools[0].ranges[0][2].subnet: "10.01.0.0/16" is not a network, such as 10.22.0.0/16 (pool "a")',
      '3:98 pools[0].ranges[0][3].subnet: 7 is not a network, such as 10.22.0.0/16 (pool "a")',
    ],
  ],
  [
    'addresses that are none',
    'subnet: 10.1.0.0/16\n    rangeStart: 10.1.0.010\n    rangeEnd: 10.1.0\n    gateway: gw\n    exclude: [10.1.0.9-10.1.0.1, 5]',
    [
      '4:17 pools[0].rangeStart: "10.1.0.010" is not an IP address (pool "a")',
      '5:15 pools[0].rangeEnd: "10.1.0" is not an IP address (pool "a")',
      '6:14 pools[0].gateway: "gw" is not an IP address (pool "a")',
      '7:15 pools[0].exclude[0]: "10.1.0.9-10.1.0.1" is not an address, a range such as 10.22.0.100-10.22.0.120, or a CIDR such as 10.22.3.0/24 (pool "a")',
      '7:34 pools[0].exclude[1]: 5 is not an address, a range such as 10.22.0.100-10.22.0.120, or a CIDR such as 10.22.3.0/24 (pool "a")',
    ],
  ],
  [
    'too small',
    'subnet: 10.1.0.0/31',
    ['3:13 pools[0].subnet: Network 10.1.0.0/31 too small to allocate from (pool "a")'],
  ],
  [
    'host bits',
    'subnet: 10.1.0.5/16',
    [
      '3:13 pools[0].subnet: Network has host bits set. For a subnet mask of length 16 the network address is 10.1.0.0 (pool "a")',
    ],
  ],
  [
    'all of them outside',
    'subnet: 10.1.0.0/24\n    rangeStart: 10.2.0.1\n    rangeEnd: 10.2.0.9\n    exclude: [10.1.0.9, 10.2.0.0/24]',
    [
      '4:17 pools[0].rangeStart: RangeStart 10.2.0.1 not in network 10.1.0.0/24 (pool "a")',
      '5:15 pools[0].rangeEnd: RangeEnd 10.2.0.9 not in network 10.1.0.0/24 (pool "a")',
      '6:25 pools[0].exclude[1]: exclude 10.2.0.0 not in network 10.1.0.0/24 (pool "a")',
    ],
  ],
  [
    'a gateway of another subnet',
    'subnet: 10.1.0.0/24\n    gateway: 10.2.0.1',
    ['4:14 pools[0].gateway: gateway 10.2.0.1 not in network 10.1.0.0/24 (pool "a")'],
  ],
  [
    'a gateway of the other family',
    'subnet: 10.1.0.0/24\n    gateway: fd00::1',
    ['4:14 pools[0].gateway: gateway fd00::1 is not of the family of network 10.1.0.0/24 (pool "a")'],
  ],
  [
    'start above end',
    'subnet: 10.1.0.0/24\n    rangeStart: 10.1.0.9\n    rangeEnd: 10.1.0.8',
    ['4:17 pools[0].rangeStart: RangeStart 10.1.0.9 is above RangeEnd 10.1.0.8 (pool "a")'],
  ],
  [
    'nothing left',
    'subnet: 10.1.0.0/30\n    exclude: [10.1.0.2]',
    ['3:13 pools[0].subnet: range 10.1.0.1-10.1.0.2 has no address to give (pool "a")'],
  ],
  [
    'mixed families',
    'ranges: [[{ subnet: 10.1.0.0/24 }, { subnet: "fd00::/64" }]]',
    [
      '3:40 pools[0].ranges[0][1]: IPv6 in a range set of IPv4; each family has a range set of its own (pool "a")',
    ],
  ],
  [
    'overlaps within the pool',
    'ranges: [[{ subnet: 10.1.0.0/24 }, { subnet: 10.1.0.128/25 }]]\n    subnet: 10.1.0.0/16',
    [
      '3:15 pools[0].ranges[0][0]: 10.1.0.1-10.1.0.254 overlaps 10.1.0.1-10.1.255.254 of the same pool in line 2; both are in segment default (pool "a")',
      '3:40 pools[0].ranges[0][1]: 10.1.0.129-10.1.0.254 overlaps 10.1.0.1-10.1.255.254 of the same pool in line 2; both are in segment default (pool "a")',
    ],
  ],
  [
    'an MTU that IPv6 cannot have',
    'subnet: fd00::/64\n    mtu: 1279',
    ['4:10 pools[0].mtu: 1279 is less than the 1280 that IPv6 needs (pool "a")'],
  ],
  [
    'too small an MTU',
    'subnet: 10.1.0.0/16\n    mtu: 67',
    ['4:10 pools[0].mtu: 67 is not an integer from 68 to 65535 (pool "a")'],
  ],
  [
    'too large an MTU',
    'subnet: 10.1.0.0/16\n    mtu: 65536',
    ['4:10 pools[0].mtu: 65536 is not an integer from 68 to 65535 (pool "a")'],
  ],
  [
    'no quota',
    'subnet: 10.1.0.0/16\n    quotaPerNamespace: 0',
    ['4:24 pools[0].quotaPerNamespace: 0 is not an integer from 1 to 4294967295 (pool "a")'],
  ],
  [
    'a strategy',
    'subnet: 10.1.0.0/16\n    strategy: random',
    ['4:15 pools[0].strategy: "random" is not one of lowest-free, least-recently-used (pool "a")'],
  ],
  [
    'a segment',
    'subnet: 10.1.0.0/16\n    segment: Lab',
    [
      '4:14 pools[0].segment: "Lab" is not a name of up to 63 small letters, digits and "-", with a letter or digit at both ends (pool "a")',
    ],
  ],
  [
    'durations',
    'subnet: 10.1.0.0/16\n    cooldown: 5w\n    preferFor: 99999999d\n    retention: never',
    [
      '4:15 pools[0].cooldown: "5w" is not a duration of at least 1s, such as 90s, 30m, 12h or 7d (pool "a")',
      '5:16 pools[0].preferFor: "99999999d" is not a duration of at least 1s, such as 90s, 30m, 12h or 7d (pool "a")',
      '6:16 pools[0].retention: "never" is not release, while-owner-exists, forever, or a duration of at least 1s, such as 90s, 30m, 12h or 7d (pool "a")',
    ],
  ],
  [
    'namespaces',
    'subnet: 10.1.0.0/16\n    namespaces: [Shop, shop, shop]\n    nodes: []',
    [
      '4:18 pools[0].namespaces[0]: "Shop" is not the name of a namespace, in which "*" stands for any characters (pool "a")',
      '4:30 pools[0].namespaces[2]: "shop" is there already, as [1] (pool "a")',
      '5:12 pools[0].nodes: is empty; it has to be a list of names, or to be left away (pool "a")',
    ],
  ],
  [
    'selectors',
    [
      'subnet: 10.1.0.0/16',
      '    namespaceSelector:',
      '      matchLabel: {}',
      '      matchLabels: { "a b": c, d: "e f", g: 1 }',
      '    nodeSelector:',
      '      matchExpressions:',
      '        - { key: a, operator: In }',
      '        - { key: a, operator: Exists, values: [b] }',
      '        - { key: a, operator: in, values: [b] }',
      '        - { operator: Exists }',
    ].join('\n'),
    [
      '5:7 pools[0].namespaceSelector: unknown key "matchLabel"; did you mean "matchLabels"? (pool "a")',
      '6:22 pools[0].namespaceSelector.matchLabels: "a b" is not a label key, such as team or example.com/team (pool "a")',
      '6:35 pools[0].namespaceSelector.matchLabels.d: "e f" is not a label value: up to 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends (pool "a")',
      '6:45 pools[0].namespaceSelector.matchLabels.g: 1 is not a label value: up to 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends (pool "a")',
      '9:11 pools[0].nodeSelector.matchExpressions[0]: operator In needs "values" (pool "a")',
      '10:47 pools[0].nodeSelector.matchExpressions[1].values: operator Exists takes no values (pool "a")',
      '11:31 pools[0].nodeSelector.matchExpressions[2].operator: "in" is not one of In, NotIn, Exists, DoesNotExist (pool "a")',
      '12:11 pools[0].nodeSelector.matchExpressions[3]: has no "key" (pool "a")',
    ],
  ],
  [
    'routes',
    'subnet: 10.1.0.0/16\n    routes: [{ dst: 10.9.0.1/16 }, { dst: "::/0", gw: 10.1.0.1 }, { gw: 10.1.0.1 }, { dst: default }, { dst: 0.0.0.0/0, mtu: -1 }]',
    [
      '4:21 pools[0].routes[0].dst: "10.9.0.1/16" has host bits set; the network is 10.9.0.0/16 (pool "a")',
      '4:55 pools[0].routes[1].gw: 10.1.0.1 is not of the family of ::/0 (pool "a")',
      '4:67 pools[0].routes[2]: has no "dst" (pool "a")',
      '4:92 pools[0].routes[3].dst: "default" is not a network, such as 0.0.0.0/0 (pool "a")',
      '4:126 pools[0].routes[4].mtu: -1 is not an integer from 0 to 4294967295 (pool "a")',
    ],
  ],
  [
    'DNS',
    'subnet: 10.1.0.0/16\n    dns: { nameservers: [ns1], domain: "a b", search: ["x\\ny"], options: ["a b"] }',
    [
      '4:26 pools[0].dns.nameservers[0]: "ns1" is not an IP address (pool "a")',
      '4:40 pools[0].dns.domain: "a b" is not a domain name (pool "a")',
      '4:56 pools[0].dns.search[0]: "x\\ny" is not a domain name (pool "a")',
      '4:75 pools[0].dns.options[0]: "a b" is not an option of resolv.conf, such as ndots:2 (pool "a")',
    ],
  ],
]

function faultsOf(text: string): readonly string[] {
  try {
    parseConfig(text, 'c.yaml')
    return []
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error
    return error.faults.map(fault => fault.replace(/^c\.yaml:(\d+:\d+):/, '$1'))
  }
}

for (const [name, pool, faults] of refused) {
  t.test(`refused: ${name}`, t => {
    t.strictSame(faultsOf(`pools:\n  - name: a\n    ${pool}\n`), faults)
    t.end()
  })
}

const together: readonly (readonly [name: string, pools: readonly string[], faults: readonly string[]])[] = [
  [
    'a name twice, in different segments as well',
    ['{ name: a, subnet: 10.1.0.0/16 }', '{ name: a, segment: lab, subnet: 10.2.0.0/16 }'],
    ['3:13 pools[1].name: "a" is the name of pools[0] in line 2 as well'],
  ],
  [
    'names that are none',
    [
      '{ name: Prod, subnet: 10.1.0.0/16 }',
      '{ name: "a/b", subnet: 10.2.0.0/16 }',
      '{ name: 7, subnet: 10.3.0.0/16 }',
      '{ name: 7, subnet: 10.4.0.0/16 }',
    ],
    [
      ...['"Prod"', '"a/b"', '7', '7'].map(
        (value, index) =>
          `${index + 2}:13 pools[${index}].name: ${value} is not a name of up to 63 small letters, digits, "-" and ".", with a letter or digit at both ends`,
      ),
    ],
  ],
  [
    'overlaps',
    [
      '{ name: a, subnet: 10.1.0.0/16 }',
      '{ name: b, ranges: [[{ subnet: "fd00::/64" }], [{ subnet: 10.1.7.0/24 }]] }',
    ],
    [
      '3:53 pools[1].ranges[1][0]: 10.1.7.1-10.1.7.254 overlaps 10.1.0.1-10.1.255.254 of pool "a" in line 2; both are in segment default (pool "b")',
    ],
  ],
  [
    'overlaps, the larger one later',
    ['{ name: a, segment: lab, subnet: 10.1.7.0/24 }', '{ name: b, segment: lab, subnet: 10.1.0.0/16 }'],
    [
      '3:5 pools[1]: 10.1.0.1-10.1.255.254 overlaps 10.1.7.1-10.1.7.254 of pool "a" in line 2; both are in segment lab (pool "b")',
    ],
  ],
  [
    'an overlap is seen although something else is wrong with the pools',
    ['{ name: a, mtu: 1, subnet: 10.1.0.0/16 }', '{ name: b, subnet: 10.1.7.0/24, x: 1 }'],
    [
      '2:21 pools[0].mtu: 1 is not an integer from 68 to 65535 (pool "a")',
      '3:5 pools[1]: 10.1.7.1-10.1.7.254 overlaps 10.1.0.1-10.1.255.254 of pool "a" in line 2; both are in segment default (pool "b")',
      '3:37 pools[1]: unknown key "x" (pool "b")',
    ],
  ],
  [
    'a pool that is a text',
    ['prod'],
    ['2:5 pools[0]: "prod" is not a pool: a mapping with a name and ranges'],
  ],
  ['a pool that is nothing', [''], ['2:3 pools[0]: null is not a pool: a mapping with a name and ranges']],
]
for (const [name, pools, faults] of together) {
  t.test(`refused: ${name}`, t => {
    t.strictSame(faultsOf(`pools:\n${pools.map(pool => `  - ${pool}\n`).join('')}`), faults)
    t.end()
  })
}

t.test('an anchor that is at fault is told where it stands', t => {
  t.strictSame(
    faultsOf(
      'pools:\n  - { name: a, subnet: 10.1.0.0/16, dns: &dns { domain: "a b" } }\n  - { name: b, subnet: 10.2.0.0/16, dns: *dns }\n',
    ),
    ['a', 'b'].map(
      (name, index) => `2:57 pools[${index}].dns.domain: "a b" is not a domain name (pool "${name}")`,
    ),
  )
  t.end()
})

t.test('a large pool costs no more than a small one, nor do many with many exclusions', t => {
  const cost = (text: string): number => {
    const times = Array.from({ length: 15 }, () => {
      const began = performance.now()
      read(text)
      return performance.now() - began
    })
    return times.sort((a, b) => a - b)[7] ?? 0
  }
  const small = cost('pools: [{ name: a, subnet: 10.0.0.0/24 }, { name: b, subnet: "fd00::/120" }]')
  const large = cost('pools: [{ name: a, subnet: 10.0.0.0/8 }, { name: b, subnet: "fd00::/48" }]')
  // One step for each address of a /8 alone would take seconds.
  t.ok(large < 20 * small + 20, `${large} ms against ${small} ms`)

  const exclude = Array.from({ length: 1024 }, (_, index) => `10.0.${index >> 7}.${(index & 127) * 2}`)
  const [one] = read(`pools: [{ name: a, subnet: 10.0.0.0/8, exclude: [${exclude.join(', ')}] }]`)
  t.equal(one && capacityOf(one.pool), 2n ** 24n - 3n - 1023n)
  const many = Array.from(
    { length: 1000 },
    (_, index) => `{ name: p${index}, subnet: 10.${index >> 8}.${index & 255}.0/24 }`,
  )
  t.equal(read(`pools: [${many.join(', ')}]`).length, 1000)
  t.end()
})

t.test('limits', t => {
  const pools = Array.from(
    { length: 4097 },
    (_, index) => `{ name: p${index}, subnet: 10.${index >> 8}.${index & 255}.0/24 }`,
  )
  t.strictSame(faultsOf(`pools: [${pools.join(', ')}]`), [
    '1:8 pools: has 4097 entries; at most 4096 are allowed',
  ])
  const exclude = Array.from({ length: 1025 }, (_, index) => `10.0.${index >> 8}.${index & 255}`)
  t.strictSame(faultsOf(`pools: [{ name: a, subnet: 10.0.0.0/8, exclude: [${exclude.join(', ')}] }]`), [
    '1:49 pools[0].exclude: has 1025 entries; at most 1024 are allowed (pool "a")',
  ])
  t.end()
})
