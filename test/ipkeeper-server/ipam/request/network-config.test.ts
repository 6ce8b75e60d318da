import t from 'tap'
import { parseCniArgs } from '../../../../shared/cni/cni-args.ts'
import {
  readIdentity,
  checkHasRanges,
  readIpamConfig,
  rangesComeWithAdd,
  readPreviousAddresses,
  readPreviousInterface,
  readValidAttachments,
  refuseMisspelt,
} from '../../../../ipkeeper-server/ipam/request/network-config.ts'
import { mergeRequests } from '../../../../ipkeeper-server/ipam/request/merge-requests.ts'
import { formatRangeSet } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { formatAddress } from '../../../../shared/net/address.ts'
import { Problem } from '../../../../shared/problem/problem.ts'

const range = { subnet: '10.1.2.0/24' }
const net = (ipam: object | undefined, rest: object = {}) => ({
  cniVersion: '1.0.0',
  name: 'net',
  type: 'bridge',
  ...(ipam && { ipam }),
  ...rest,
})
function read(config: Record<string, unknown>, args = '') {
  const ipam = readIpamConfig(config, readIdentity(config), parseCniArgs(args))
  checkHasRanges(ipam, false)
  return ipam
}

function problemOf(run: () => unknown): Problem {
  try {
    run()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** host-local's keys and texts (golden cases and plugins:plugins/ipam/host-local). */
const refused: readonly (readonly [
  name: string,
  config: Record<string, unknown>,
  args: string,
  code: string,
  message: string | RegExp,
])[] = [
  ['no ipam', net(undefined), '', 'IPK_CONFIG_INVALID', "IPAM config missing 'ipam' key"],
  ['args before ranges', net({}), 'FOO=bar', 'IPK_ARGS_INVALID', 'ARGS: unknown args ["FOO=bar"]'],
  [
    'a version that nobody speaks',
    net({ ...range }, { cniVersion: '9.0.0' }),
    '',
    'IPK_VERSION_INCOMPATIBLE',
    'incompatible CNI versions',
  ],
  [
    'a range without a subnet',
    net({ ranges: [[{}]] }),
    '',
    'IPK_CONFIG_INVALID',
    /ranges\[0\]\[0\]: missing "subnet"/,
  ],
  ['a set that is null has no ranges', net({ ranges: [null] }), '', 'IPK_CONFIG_INVALID', /empty range set/],
  [
    'two ranges of IPv6 before 0.3.0',
    net({ ranges: [[{ subnet: 'fd00:1::/64' }], [{ subnet: 'fd00:2::/64' }]] }, { cniVersion: '0.2.0' }),
    '',
    'IPK_FAMILY_UNSUPPORTED',
    /0\.2\.0 does not support more than 1 address per family/,
  ],
  [
    'a route of a negative size',
    net({ ...range, routes: [{ dst: '10.0.0.0/8', mtu: -1 }] }),
    '',
    'IPK_CONFIG_INVALID',
    'ipam.routes[0].mtu: -1 is negative',
  ],
  [
    'an annotation that is no text',
    net({ ...range }, { runtimeConfig: { 'io.kubernetes.cri.pod-annotations': { 'ipkeeper.io/ip': 7 } } }),
    '',
    'IPK_CONFIG_INVALID',
    /pod-annotations: value of ipkeeper\.io\/ip is no string/,
  ],
  ['no ranges', net({}), '', 'IPK_CONFIG_INVALID', 'no IP ranges specified'],
  ['empty ranges', net({ ranges: [] }), '', 'IPK_CONFIG_INVALID', 'no IP ranges specified'],
  ['empty set', net({ ranges: [[]] }), '', 'IPK_CONFIG_INVALID', 'invalid range set 0: empty range set'],
  [
    '/31',
    net({ ranges: [[{ subnet: '10.1.2.0/31' }]] }),
    '',
    'IPK_CONFIG_INVALID',
    'invalid range set 0: Network 10.1.2.0/31 too small to allocate from',
  ],
  [
    '/127',
    net({ subnet: 'fd00::/127' }),
    '',
    'IPK_CONFIG_INVALID',
    'invalid range set 0: Network fd00::/127 too small to allocate from',
  ],
  [
    'host bits',
    net({ ranges: [[{ subnet: '10.1.2.5/24' }]] }),
    '',
    'IPK_CONFIG_INVALID',
    'invalid range set 0: Network has host bits set. For a subnet mask of length 24 the network address is 10.1.2.0',
  ],
  [
    'start outside',
    net({ ...range, rangeStart: '10.1.3.1' }),
    '',
    'IPK_CONFIG_INVALID',
    'invalid range set 0: RangeStart 10.1.3.1 not in network 10.1.2.0/24',
  ],
  [
    'end outside',
    net({ ...range, rangeEnd: '10.1.3.1' }),
    '',
    'IPK_CONFIG_INVALID',
    'invalid range set 0: RangeEnd 10.1.3.1 not in network 10.1.2.0/24',
  ],
  [
    'start above end',
    net({ ...range, rangeStart: '10.1.2.9', rangeEnd: '10.1.2.8' }),
    '',
    'IPK_CONFIG_INVALID',
    /RangeStart 10\.1\.2\.9 is above RangeEnd 10\.1\.2\.8/,
  ],
  [
    'sets overlap',
    net({ ranges: [[range], [{ subnet: '10.1.2.128/25' }]] }),
    '',
    'IPK_CONFIG_INVALID',
    'range set 0 overlaps with 1',
  ],
  [
    'ranges of a set overlap',
    net({ ranges: [[range, { subnet: '10.1.2.128/25' }]] }),
    '',
    'IPK_CONFIG_INVALID',
    /invalid range set 0: subnets .* overlap/,
  ],
  [
    'mixed families',
    net({ ranges: [[range, { subnet: 'fd00::/64' }]] }),
    '',
    'IPK_CONFIG_INVALID',
    'invalid range set 0: mixed address families',
  ],
  [
    'nothing left',
    net({ subnet: '10.1.2.0/30', exclude: ['10.1.2.2'] }),
    '',
    'IPK_CONFIG_INVALID',
    /has no address to give/,
  ],
  [
    'two of a family before 0.3.0',
    net({ ranges: [[range], [{ subnet: '10.1.3.0/24' }]] }, { cniVersion: '0.2.0' }),
    '',
    'IPK_FAMILY_UNSUPPORTED',
    'CNI version 0.2.0 does not support more than 1 address per family',
  ],
  [
    'bad requested address',
    net({ ranges: [[range]] }, { args: { cni: { ips: ['foo'] } } }),
    '',
    'IPK_ADDRESS_INVALID',
    'invalid IP address foo',
  ],
  [
    'requested address that cannot be made a text',
    net({ ranges: [[range]] }, { args: { cni: { ips: [{ toString: 1 }] } } }),
    '',
    'IPK_ADDRESS_INVALID',
    'invalid IP address an object',
  ],
  [
    'bad IP=',
    net({ ranges: [[range]] }),
    'IP=10.1.2.300',
    'IPK_ADDRESS_INVALID',
    'ARGS: error parsing value of pair "IP=10.1.2.300": invalid IP address 10.1.2.300',
  ],
  ['subnet no CIDR', net({ subnet: '10.1.2.0' }), '', 'IPK_CONFIG_INVALID', 'invalid CIDR address: 10.1.2.0'],
  ['ranges of the wrong shape', net({ ranges: [range] }), '', 'IPK_CONFIG_INVALID', /ipam\.ranges\[0\]/],
  ['route without dst', net({ ...range, routes: [{}] }), '', 'IPK_CONFIG_INVALID', 'invalid CIDR address: '],
  [
    'route of two families',
    net({ ...range, routes: [{ dst: '::/0', gw: '10.1.2.1' }] }),
    '',
    'IPK_CONFIG_INVALID',
    /different families/,
  ],
  [
    'route mtu',
    net({ ...range, routes: [{ dst: '0.0.0.0/0', mtu: '1500' }] }),
    '',
    'IPK_CONFIG_INVALID',
    /ipam\.routes\[0\]\.mtu/,
  ],
  [
    'gateway no address',
    net({ ...range, gateway: '10.1.2.300' }),
    '',
    'IPK_CONFIG_INVALID',
    'invalid IP address: 10.1.2.300',
  ],
  [
    'requested addresses of the wrong shape',
    net({ ...range }, { args: { cni: { ips: '10.1.2.9' } } }),
    '',
    'IPK_CONFIG_INVALID',
    '"args.cni.ips" must be an array, not a string',
  ],
  ['segment', net({ ...range, segment: '../x' }), '', 'IPK_CONFIG_INVALID', /ipam\.segment/],
  ['pool and ranges', net({ ...range, pool: 'prod' }), '', 'IPK_CONFIG_INVALID', /both "pool" and ranges/],
  [
    'pool that is no name',
    net({ pool: 'Prod/1' }),
    '',
    'IPK_CONFIG_INVALID',
    /"Prod\/1" is no name of a pool/,
  ],
  [
    'pool that nests deeper than can be written',
    net({ pool: JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) }),
    '',
    'IPK_CONFIG_INVALID',
    '"ipam.pool" must be a string, not an array',
  ],
  [
    'exclude',
    net({ ...range, exclude: ['10.1.2.9-10.1.2.3'] }),
    '',
    'IPK_CONFIG_INVALID',
    /ipam\.exclude\[0\]: "10\.1\.2\.9-10\.1\.2\.3" is no address/,
  ],
  [
    'exclude that is no text',
    net({ ...range, exclude: [{ toString: 1 }] }),
    '',
    'IPK_CONFIG_INVALID',
    /ipam\.exclude\[0\]: an object is no address/,
  ],
]
for (const [name, config, args, code, message] of refused) {
  t.test(`refused: ${name}`, t => {
    const problem = problemOf(() => read(config, args))
    t.equal(problem.code, code)
    if (typeof message === 'string') t.equal(problem.message, message)
    else t.match(problem.message, message)
    t.end()
  })
}

t.test('host-local keys, folded case, old and new style', t => {
  for (const [name, config, ranges] of [
    [
      'old style',
      net({ subnet: '10.1.2.0/24', rangeStart: '10.1.2.20', rangeEnd: '10.1.2.30', gateway: '10.1.2.254' }),
      ['10.1.2.20-10.1.2.30'],
    ],
    [
      'old before new',
      net({ subnet: '10.1.2.0/24', ranges: [[{ subnet: '10.1.3.0/24' }]] }),
      ['10.1.2.1-10.1.2.254', '10.1.3.1-10.1.3.254'],
    ],
    [
      'several ranges of a set',
      net({ ranges: [[range, { subnet: '10.1.3.0/24' }]] }),
      ['10.1.2.1-10.1.2.254,10.1.3.1-10.1.3.254'],
    ],
    ['IPv6 keeps its last address', net({ subnet: 'fd00::/64' }), ['fd00::1-fd00::ffff:ffff:ffff:ffff']],
    [
      'runtime ranges first, Go keys',
      net({ ranges: [[range]] }, { RuntimeConfig: { IPRanges: [[{ Subnet: '10.1.9.0/24' }]] } }),
      ['10.1.9.1-10.1.9.254', '10.1.2.1-10.1.2.254'],
    ],
    ['dataDir is accepted and ignored', net({ ...range, dataDir: '/tmp/x' }), ['10.1.2.1-10.1.2.254']],
    ['/8', net({ subnet: '10.0.0.0/8' }), ['10.0.0.1-10.255.255.254']],
    ['/48', net({ subnet: 'fd00:22:1::/48' }), ['fd00:22:1::1-fd00:22:1:ffff:ffff:ffff:ffff:ffff']],
  ] as const) {
    t.strictSame(read(config).inline?.rangeSets.map(formatRangeSet), ranges, name)
  }
  t.end()
})

t.test('what is said in the words of the reference says where in its details', t => {
  for (const [config, details] of [
    [net({ ranges: [[range, { subnet: 'x' }]] }), 'in ipam.ranges[0][1].subnet'],
    [net({ ...range, rangeStart: 'x' }), 'in ipam.rangeStart'],
    [net({ ...range, routes: [{ dst: 'x' }] }), 'in ipam.routes[0].dst'],
    [net({ ...range, routes: [{ dst: '::/0', gw: 'x' }] }), 'in ipam.routes[0].gw'],
  ] as const) {
    t.equal(problemOf(() => read(config)).details, details)
  }
  t.end()
})

t.test('routes are printed in their canonical form', t => {
  const routes = [{ dst: '2001:0DB8:0::/32', gw: '2001:0DB8::01' }, { dst: '192.168.1.5/16' }]
  t.strictSame(read(net({ ...range, routes })).routes, [
    { dst: '2001:db8::/32', gw: '2001:db8::1' },
    { dst: '192.168.1.5/16' },
  ])
  t.end()
})

t.test('an address that is asked for twice is one request', t => {
  const asked = (...ips: string[]): number =>
    mergeRequests({}, read(net({ ...range }, { args: { cni: { ips } } })).channels).addresses.length
  t.equal(asked('10.1.2.9', '10.1.2.9'), 1)
  t.equal(asked('10.1.2.9', '10.1.2.9/24'), 2, 'the prefix length is another question')
  t.equal(asked('10.1.2.9', '10.1.2.10'), 2)
  t.end()
})

t.test('channels: the highest that asks wins, the lower ones are noted', t => {
  const requests = (config: Record<string, unknown>, args: string) => {
    const { channels } = read(config, args)
    const merged = mergeRequests({}, channels)
    return {
      won: merged.addresses.map(request => `${request.source} ${formatAddress(request.address)}`),
      ignored: merged.ignored,
    }
  }
  const all = net(
    { ranges: [[range]] },
    { runtimeConfig: { ips: ['10.1.2.7'] }, args: { cni: { ips: ['10.1.2.8'] } } },
  )
  t.strictSame(requests(all, 'IP=10.1.2.9'), {
    won: ['runtimeConfig.ips 10.1.2.7'],
    ignored: ['args.cni.ips (10.1.2.8)', 'CNI_ARGS IP (10.1.2.9)'],
  })
  t.strictSame(
    requests(
      net({ ranges: [[range]] }, { args: { cni: { ips: ['10.1.2.8/24', 'fd00::5'] } } }),
      'IP=10.1.2.9',
    ).won,
    ['args.cni.ips 10.1.2.8', 'args.cni.ips fd00::5'],
  )
  t.strictSame(requests(net({ ranges: [[range]] }), 'IgnoreUnknown=1;IP=10.1.2.9;K8S_POD_NAME=a').won, [
    'CNI_ARGS IP 10.1.2.9',
  ])
  t.strictSame(
    requests(net({ ranges: [[range]] }, { args: 'x' }), '').won,
    [],
    'args of another shape are none of ours',
  )
  t.end()
})

t.test(
  'an annotation and a CNI channel that disagree are an error naming both; that agree are one request',
  t => {
    const { channels } = read(net({ ranges: [[range]] }, { runtimeConfig: { ips: ['10.1.2.7'] } }))
    const asked = (text: string) => ({
      addresses: [
        {
          address: { family: 4 as const, value: BigInt(0x0a010200 + Number(text)) },
          source: 'annotation ipkeeper.io/ip',
          channel: 'annotation' as const,
        },
      ],
    })
    t.match(
      problemOf(() => mergeRequests(asked('9'), channels)),
      {
        code: 'IPK_REQUESTS_DISAGREE',
        message: /annotation ipkeeper\.io\/ip \(10\.1\.2\.9\) and runtimeConfig\.ips \(10\.1\.2\.7\)/,
      },
    )
    t.equal(mergeRequests(asked('7'), channels).addresses.length, 1)
    t.end()
  },
)

t.test('GC lists: both spellings, null and [] mean nothing is valid, absent means no list', t => {
  const entry = { containerID: 'c1', ifname: 'eth0' }
  const other = { containerID: 'c2', ifname: 'eth0' }
  for (const [config, expected] of [
    [{ 'cni.dev/valid-attachments': [entry] }, [{ containerId: 'c1', ifname: 'eth0' }]],
    [{ 'cni.dev/attachments': [entry] }, [{ containerId: 'c1', ifname: 'eth0' }]],
    [
      { 'cni.dev/attachments': [other], 'cni.dev/valid-attachments': [entry] },
      [{ containerId: 'c1', ifname: 'eth0' }],
    ],
    [{ 'cni.dev/valid-attachments': null }, []],
    [
      { 'CNI.dev/Valid-Attachments': [{ ContainerID: 'c1', IfName: 'eth0' }] },
      [{ containerId: 'c1', ifname: 'eth0' }],
    ],
    [
      { 'cni.dev/valid-attachments': [{ ...entry, note: 'of a later version' }] },
      [{ containerId: 'c1', ifname: 'eth0' }],
    ],
    [{ 'CNI.dev/Attachments': null }, []],
    [{ 'cni.dev/valid-attachments': [] }, []],
    [{}, undefined],
  ] as const) {
    t.strictSame(readValidAttachments(config), expected, JSON.stringify(config))
  }
  t.equal(
    problemOf(() => readValidAttachments({ 'cni.dev/valid-attachments': [{ ifname: 'x' }] })).code,
    'IPK_CONFIG_INVALID',
  )
  t.end()
})

t.test('prevResult of every shape', t => {
  for (const [prevResult, expected] of [
    [{ cniVersion: '1.0.0', ips: [{ address: '10.1.2.3/24' }] }, ['10.1.2.3/24']],
    [
      { cniVersion: '0.2.0', ip4: { ip: '10.1.2.3/24' }, ip6: { ip: 'fd00::3/64' } },
      ['10.1.2.3/24', 'fd00::3/64'],
    ],
    [{ cniVersion: '1.1.0' }, []],
    [null, undefined],
    ['x', undefined],
  ] as const) {
    t.strictSame(readPreviousAddresses({ prevResult }), expected)
  }
  t.end()
})

t.test('a key one letter away from a known one', t => {
  const known = { properties: { subnet: 1, rangeStart: 1, gw: 1 } }
  for (const object of [{}, { subnet: 1 }, { SUBNET: 1 }, { foreign: 1 }, { gv: 1 }, { sub: 1 }]) {
    t.doesNotThrow(() => {
      refuseMisspelt(object, known, 'ipam')
    }, JSON.stringify(object))
  }
  for (const [key, path, message] of [
    ['subnt', 'ipam', 'ipam: unknown key "subnt"; did you mean "subnet"?'],
    ['rangestrat', 'ipam.ranges[0]', 'ipam.ranges[0]: unknown key "rangestrat"; did you mean "rangeStart"?'],
    ['subnets', '', 'unknown key "subnets"; did you mean "subnet"?'],
  ] as const) {
    t.throws(
      () => {
        refuseMisspelt({ [key]: null }, known, path)
      },
      { code: 'IPK_CONFIG_INVALID', message },
    )
  }
  t.end()
})

t.test('a configuration that names no version is of the first one', t => {
  t.match(readIdentity({ name: 'net', type: 'ipkeeper' }), { name: 'net', version: '0.1.0', mainRole: true })
  t.end()
})

t.test('annotations that the runtime passes on', t => {
  const passedOn = { 'ipkeeper.io/ip': '10.1.2.9' }
  const runtimeConfig = { 'io.kubernetes.cri.pod-annotations': passedOn }
  t.strictSame(read(net(range, { runtimeConfig })).podAnnotations, passedOn)
  t.equal(read(net(range)).podAnnotations, undefined, 'which it need not')
  t.end()
})

t.test('whether ranges come with the ADD alone', t => {
  const capable = { capabilities: { ipRanges: true } }
  const rows: readonly (readonly [name: string, config: Record<string, unknown>, expected: boolean])[] = [
    ['the runtime makes them', net({}, capable), true],
    ['the list in the file is empty', net({ ranges: [] }, capable), true],
    ['the file has them', net({ ranges: [[range]] }, capable), false],
    ['the file has one', net(range, capable), false],
    ['the file names a pool', net({ pool: 'prod' }, capable), false],
    ['the runtime may not', net({}, { capabilities: { ipRanges: false } }), false],
    ['nobody says that it may', net({}), false],
    ['there is no ipam', net(undefined, capable), false],
  ]
  for (const [name, config, expected] of rows) t.equal(rangesComeWithAdd(config), expected, name)
  t.end()
})

t.test("what prevResult says of the pod's interface", t => {
  const sandbox = '/run/netns/c1'
  const of = (...interfaces: readonly unknown[]) => ({ prevResult: { interfaces } })
  const rows: readonly (readonly [name: string, config: object, expected: object | undefined])[] = [
    [
      'its MAC in lower case',
      of({ name: 'br0' }, { name: 'eth0', mac: '02:AA:00:00:00:01', sandbox }),
      { mac: '02:aa:00:00:00:01', sandbox },
    ],
    ['no MAC', of({ name: 'eth0', mac: '', sandbox }), { mac: undefined, sandbox }],
    [
      'of no named sandbox',
      of({ name: 'eth0', mac: 7, sandbox: '' }),
      { mac: undefined, sandbox: undefined },
    ],
    ['a link of the host has no sandbox', of({ name: 'eth0' }), undefined],
    ['another interface', of({ name: 'net1', sandbox }), undefined],
    ['what is no interface', of(null, 'eth0'), undefined],
    ['no list', { prevResult: { interfaces: 'eth0' } }, undefined],
    ['no result', {}, undefined],
  ]
  for (const [name, config, expected] of rows)
    t.strictSame(readPreviousInterface({ ...config }, 'eth0'), expected, name)
  t.end()
})

t.test('an address of prevResult that is none is passed over', t => {
  const ips = [null, '10.1.2.3', { address: '10.1.2.9/24' }, { address: 7 }]
  t.strictSame(readPreviousAddresses({ prevResult: { ips } }), ['10.1.2.9/24'])
  t.end()
})

t.test('the numbers of a route', t => {
  const route = { dst: '10.0.0.0/8', mtu: 1400, advmss: 1360, priority: 5, table: 100, scope: 0 }
  t.strictSame(read(net({ ...range, routes: [route] })).routes, [route])
  t.end()
})
