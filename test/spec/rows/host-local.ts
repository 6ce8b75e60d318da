import { added, assertResult, container, refuses, silent } from '../answers.ts'
import { firstAddresses, network, withIpam, type Config } from '../network.ts'
import type { Row } from '../row.ts'

const ipam = (keys: object): Config => withIpam('1.0.0', keys)
const sets = (...ranges: unknown[]): Config => ipam({ ranges })
const v4 = { subnet: '10.22.0.0/24' }
const v6 = { subnet: 'fd00:22::/64' }

/** Configurations that are refused, with the whole of the text. */
const wrong: readonly (readonly [why: string, config: Config, msg: string | RegExp])[] = [
  ['no ipam', network('1.0.0', { ipam: null }), "IPAM config missing 'ipam' key"],
  ['no ranges', ipam({}), 'no IP ranges specified'],
  ['ranges null', ipam({ ranges: null }), 'no IP ranges specified'],
  ['ranges empty', sets(), 'no IP ranges specified'],
  ['a range without subnet', ipam({ rangeStart: '10.22.0.3' }), 'no IP ranges specified'],
  ['an empty set', sets([]), 'invalid range set 0: empty range set'],
  ['an empty set behind another', sets([v4], []), 'invalid range set 1: empty range set'],
  [
    '/31',
    sets([{ subnet: '10.22.0.0/31' }]),
    'invalid range set 0: Network 10.22.0.0/31 too small to allocate from',
  ],
  [
    '/32',
    sets([{ subnet: '10.22.0.3/32' }]),
    'invalid range set 0: Network 10.22.0.3/32 too small to allocate from',
  ],
  [
    '/127',
    sets([{ subnet: 'fd00::/127' }]),
    'invalid range set 0: Network fd00::/127 too small to allocate from',
  ],
  [
    'host bits',
    sets([{ subnet: '10.22.0.5/24' }]),
    'invalid range set 0: Network has host bits set. For a subnet mask of length 24 the network address is 10.22.0.0',
  ],
  [
    'host bits, IPv6',
    sets([v4], [{ subnet: 'fd00:22::5/64' }]),
    'invalid range set 1: Network has host bits set. For a subnet mask of length 64 the network address is fd00:22::',
  ],
  [
    'start outside',
    sets([{ ...v4, rangeStart: '10.23.0.1' }]),
    'invalid range set 0: RangeStart 10.23.0.1 not in network 10.22.0.0/24',
  ],
  [
    'end outside',
    sets([{ ...v4, rangeEnd: '10.23.0.1' }]),
    'invalid range set 0: RangeEnd 10.23.0.1 not in network 10.22.0.0/24',
  ],
  [
    'start of another family',
    sets([{ ...v4, rangeStart: 'fd00::1' }]),
    'invalid range set 0: RangeStart fd00::1 not in network 10.22.0.0/24',
  ],
  ['families mixed', sets([v4, v6]), 'invalid range set 0: mixed address families'],
  [
    'ranges of a set overlap',
    sets([v4, { subnet: '10.22.0.128/25' }]),
    'invalid range set 0: subnets 10.22.0.1-10.22.0.254 and 10.22.0.129-10.22.0.254 overlap',
  ],
  ['sets overlap', sets([v4], [{ subnet: '10.22.0.128/25' }]), 'range set 0 overlaps with 1'],
  [
    'sets overlap, not the first',
    sets([v6], [v4], [{ subnet: '10.22.0.0/25' }]),
    'range set 1 overlaps with 2',
  ],
  ['both styles overlap', ipam({ ...v4, ranges: [[v4]] }), 'range set 0 overlaps with 1'],
  [
    'the first fault counts',
    sets([{ subnet: '10.22.0.0/31' }], [{ subnet: '10.23.0.5/24' }]),
    /range set 0: .* too small/,
  ],
  ...['foo', '10.22.0.0', '10.22.0.0/33', '10.22.0.0/-1', ' 10.22.0.0/24', '010.22.0.0/24', ''].map(
    subnet => [`subnet "${subnet}"`, sets([{ subnet }]), `invalid CIDR address: ${subnet}`] as const,
  ),
  ['flat subnet', ipam({ subnet: 'foo' }), 'invalid CIDR address: foo'],
  ...(['rangeStart', 'rangeEnd', 'gateway'] as const).flatMap(key =>
    ['foo', '10.22.0.300', '10.22.0.5/24'].map(
      text => [`${key} ${text}`, sets([{ ...v4, [key]: text }]), `invalid IP address: ${text}`] as const,
    ),
  ),
  ['route', ipam({ ...v4, routes: [{ dst: '10.1.1.1' }] }), 'invalid CIDR address: 10.1.1.1'],
  ['gateway of a route', ipam({ ...v4, routes: [{ dst: '::/0', gw: 'foo' }] }), 'invalid IP address: foo'],
]

/** Where the reference says nothing, or something that is not so. */
const clearer: readonly (readonly [why: string, config: Config, msg: string | RegExp])[] = [
  [
    'start above end',
    sets([{ ...v4, rangeStart: '10.22.0.9', rangeEnd: '10.22.0.5' }]),
    'invalid range set 0: RangeStart 10.22.0.9 is above RangeEnd 10.22.0.5',
  ],
  ['a range that is empty', sets([{}]), 'ipam.ranges[0][0]: missing "subnet"'],
  ['a range that is null', sets([null]), '"ipam.ranges[0][0]" must be an object, not null'],
  [
    'nothing but the gateway',
    sets([{ ...v4, rangeStart: '10.22.0.1', rangeEnd: '10.22.0.1' }]),
    /has no address to give$/,
  ],
  [
    'gateway of another family',
    sets([{ ...v4, gateway: 'fd00::1' }]),
    /^invalid range set 0: gateway fd00::1 is not of/,
  ],
  [
    'route of two families',
    ipam({ ...v4, routes: [{ dst: '::/0', gw: '10.22.0.1' }] }),
    /different families$/,
  ],
  ['route without dst', ipam({ ...v4, routes: [{ gw: '10.22.0.1' }] }), 'invalid CIDR address: '],
  ['negative MTU', ipam({ ...v4, routes: [{ dst: '::/0', mtu: -1 }] }), 'ipam.routes[0].mtu: -1 is negative'],
  ['resolvConf', ipam({ ...v4, resolvConf: '/no/such' }), 'ipam.resolvConf: cannot read /no/such (ENOENT)'],
]

/** What is given first, and the gateway that is printed. */
const good: readonly (readonly [
  why: string,
  config: Config,
  addresses: readonly string[],
  gateway?: string,
])[] = [
  ['flat', ipam(v4), ['10.22.0.2/24'], '10.22.0.1'],
  [
    'flat, with all keys',
    ipam({ ...v4, rangeStart: '10.22.0.50', gateway: '10.22.0.99' }),
    ['10.22.0.50/24'],
    '10.22.0.99',
  ],
  [
    'flat first, then ranges',
    ipam({ ...v4, ranges: [[{ subnet: '10.23.0.0/24' }]] }),
    ['10.22.0.2/24', '10.23.0.2/24'],
  ],
  ['/30', sets([{ subnet: '10.22.0.0/30' }]), ['10.22.0.2/30']],
  ['/8', sets([{ subnet: '10.0.0.0/8' }]), ['10.0.0.2/8']],
  ['/126', sets([{ subnet: 'fd00:22::/126' }]), ['fd00:22::2/126']],
  [
    'empty texts are absent',
    sets([{ ...v4, rangeStart: '', rangeEnd: '', gateway: '' }]),
    ['10.22.0.2/24'],
    '10.22.0.1',
  ],
  ['the gateway is left out', sets([{ ...v4, gateway: '10.22.0.254' }]), ['10.22.0.1/24'], '10.22.0.254'],
  ['a gateway outside', sets([{ ...v4, gateway: '10.23.0.1' }]), ['10.22.0.1/24'], '10.23.0.1'],
  ['one address', sets([{ ...v4, rangeStart: '10.22.0.9', rangeEnd: '10.22.0.9' }]), ['10.22.0.9/24']],
  ['from the network address', sets([{ ...v4, rangeStart: '10.22.0.0' }]), ['10.22.0.2/24']],
  ['IPv6 first', sets([v6], [v4]), [...firstAddresses]],
  [
    'two parts of one subnet as two sets',
    sets([{ ...v4, rangeEnd: '10.22.0.20' }], [{ ...v4, rangeStart: '10.22.0.30' }]),
    ['10.22.0.2/24', '10.22.0.30/24'],
  ],
  [
    'ranges of the runtime come first',
    { ...sets([v4]), runtimeConfig: { ipRanges: [[{ subnet: '10.23.0.0/24', rangeStart: '10.23.0.7' }]] } },
    ['10.23.0.7/24', '10.22.0.2/24'],
  ],
  ['ranges of the runtime alone', { ...ipam({}), runtimeConfig: { ipRanges: [[v4]] } }, ['10.22.0.2/24']],
  ['none of the runtime', { ...sets([v4]), runtimeConfig: { ipRanges: null } }, ['10.22.0.2/24']],
  ['dataDir is ignored', ipam({ ...v4, dataDir: '/etc/passwd' }), ['10.22.0.2/24'], '10.22.0.1'],
]

export const hostLocalRow: Row = {
  id: 'H9',
  title: "host-local's keys, and its texts",
  cases: [
    refuses('configurations that are refused, in its words', () =>
      wrong.map(([why, config, msg]) => [why, { config }, 7, msg] as const),
    ),
    refuses(
      'configurations that it takes, or refuses with another text',
      () => clearer.map(([why, config, msg]) => [why, { config }, 7, msg] as const),
      { differs: 'the reference hands such on, or names a key that is not at fault; null counts as absent' },
    ),
    {
      title: 'configurations that are taken: the first address and the gateway',
      run: async (t, rig) => {
        for (const [index, [why, config, addresses, gateway]] of good.entries()) {
          // A segment and a name of its own: each starts on empty state.
          const section = { ...(config['ipam'] as object), segment: `s${index}` }
          const own = { ...config, name: `n${index}`, ipam: section }
          const answer = await rig.run({ config: own })
          t.strictSame(assertResult(t, answer, '1.0.0', why), addresses, why)
          if (gateway !== undefined) t.match(answer.document, { ips: [{ gateway }] }, why)
        }
      },
    },
    {
      title: 'a range set is tried in order of its ranges, and is full at its end',
      run: async (t, rig) => {
        const config = sets([{ subnet: '10.22.0.0/30' }, { subnet: '10.23.0.0/30' }])
        t.strictSame(await added(t, rig, '1.0.0', { config }), ['10.22.0.2/30'])
        t.strictSame(await added(t, rig, '1.0.0', { config, env: container('c2') }), ['10.23.0.2/30'])
        const full =
          'failed to allocate for range 0: no IP addresses available in range set: 10.22.0.1-10.22.0.2,10.23.0.1-10.23.0.2'
        t.match(await rig.run({ config, env: container('c3') }), {
          exit: 1,
          document: { code: 109, msg: full },
        })
        await silent(t, rig, { verb: 'DEL', config }, 'DEL')
        t.strictSame(await added(t, rig, '1.0.0', { config, env: container('c3') }), ['10.22.0.2/30'])
      },
    },
  ],
}
