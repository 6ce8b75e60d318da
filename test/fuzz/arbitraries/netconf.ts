import fc from 'fast-check'
import { supportedVersions } from '../../../shared/cni/versions.ts'
import { oddList } from './address-list-text.ts'
import { almostAddress, spelt } from './address-text.ts'
import { changed, damaged, extended, print, written } from './json-text.ts'
import { oddOrHugeText, oddText } from './odd-text.ts'

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 })

const version: fc.Arbitrary<string | undefined> = fc.oneof(
  { weight: 30, arbitrary: fc.oneof(fc.constant('1.1.0'), fc.constantFrom(...supportedVersions)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...[undefined, '', '1.0', '1', 'v1.0.0', '1.2.0', '2.0.0', '0.4', '+1.1.0', '1.1.0.0', '9'.repeat(30)],
      ...['01.1.0', '1.1.0 ', '\u0661.1.0', '-1.0.0', 'adsfsadf', '1..0', '1e0.1.0'],
    ),
  },
)

const name = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom('fixed', 'net', 'net', 'a.b-c_9') },
  { weight: 1, arbitrary: oddText },
)

/** Addresses of the range that the configurations below have, addresses elsewhere, and what is none. */
export const requested: fc.Arbitrary<string> = fc.oneof(
  { weight: 24, arbitrary: fc.integer({ min: 0, max: 19 }).map(last => `10.22.0.${last}`) },
  { weight: 3, arbitrary: fc.integer({ min: 2, max: 9 }).map(last => `fd00:22::${last}`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('10.22.0.5/28', '10.22.0.5/24', '10.22.0.5/0', '10.22.0.15', 'FD00:22:0::5'),
  },
  { weight: 1, arbitrary: spelt.map(({ text }) => text) },
  { weight: 1, arbitrary: almostAddress },
)

const oddKey = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...[
        'ipkeeper.io/ipss',
        'ipkeeper.io/pools',
        'ipkeeper.io/ipp',
        'ipkeeper.io/IP',
        'ipkeeper.io/',
        'ipkeeper.io/ip.',
      ],
      ...['ipkeeper.io/ip..eth0', 'ipkeeper.io/ip.eth0.', 'ipkeeper.io/__proto__', 'ipkeeper.io/constructor'],
      ...['ipkeeper.io/toString.eth0', 'ipkeeper.io/retaim', 'ipkeeper.io/ip.%d', 'ipkeeper.io/\u0131p'],
    ),
  },
  { weight: 1, arbitrary: oddText.map(text => `ipkeeper.io/${text}`) },
)
const foreignKey = fc.constantFrom(
  ...['app', 'kubernetes.io/config.source', '__proto__', 'constructor', 'ipkeeper.io', 'ipkeeper.iox/ip', ''],
  'xipkeeper.io/ip',
)
const ipKey = fc.constantFrom(
  'ipkeeper.io/ip',
  'ipkeeper.io/ip',
  'ipkeeper.io/ip.eth0',
  'ipkeeper.io/ip.net1',
)
const ipsKey = fc.constantFrom('ipkeeper.io/ips', 'ipkeeper.io/ips.eth0', 'ipkeeper.io/ips.net1')
const poolKey = fc.constantFrom('ipkeeper.io/pool', 'ipkeeper.io/pool.net1')
const retainKey = fc.constantFrom('ipkeeper.io/retain', 'ipkeeper.io/retain.eth0')
const macKey = fc.constantFrom('ipkeeper.io/mac', 'ipkeeper.io/mac.net1')

const ipValue = fc.oneof(
  { weight: 10, arbitrary: requested },
  { weight: 2, arbitrary: fc.array(requested, { minLength: 2, maxLength: 4 }).map(list => list.join(',')) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('10.22.0.5,fd00:22::5', ' 10.22.0.5 , fd00:22::5 ', '10.22.0.2-10.22.0.5'),
  },
)
const poolValue = fc.constantFrom(
  'prod',
  'prod-4,prod-6',
  'prod,prod',
  'Prod',
  'a,b,c',
  '10.22.0.0/28',
  'net',
)
const retainValue = fc.constantFrom(
  ...[
    'release',
    'forever',
    'while-owner-exists',
    '30m',
    '7d',
    '0s',
    '1.5h',
    '30',
    '9999999999d',
    '-1s',
    'FOREVER',
  ],
)
const macValue = fc.constantFrom(
  ...['02:42:ac:11:00:02', '02-42-AC-11-00-02', '01:00:5e:00:00:01', '00:00:00:00:00:00', '0242.ac11.0002'],
)

const annotation: fc.Arbitrary<[key: string, value: string]> = fc.oneof(
  { weight: 10, arbitrary: fc.tuple(ipKey, ipValue) },
  { weight: 3, arbitrary: fc.tuple(ipsKey, oddList) },
  { weight: 2, arbitrary: fc.tuple(poolKey, poolValue) },
  { weight: 2, arbitrary: fc.tuple(retainKey, retainValue) },
  { weight: 1, arbitrary: fc.tuple(macKey, macValue) },
  { weight: 1, arbitrary: fc.tuple(fc.oneof(ipKey, ipsKey, poolKey, retainKey, macKey), oddOrHugeText) },
  { weight: 3, arbitrary: fc.tuple(oddKey, ipValue) },
  { weight: 3, arbitrary: fc.tuple(foreignKey, oddOrHugeText) },
)

/** Annotations as a runtime passes them on: at most a few of ours among those of others. */
export const annotations: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .array(annotation, { minLength: 1, maxLength: 3 })
  .map(pairs => Object.fromEntries(pairs))

const range = fc.oneof(
  { weight: 12, arbitrary: fc.constant({ subnet: '10.22.0.0/28' }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<object>(
      { subnet: '10.22.0.0/24', rangeStart: '10.22.0.10', rangeEnd: '10.22.0.20', gateway: '10.22.0.1' },
      { subnet: '10.22.0.0/28', exclude: ['10.22.0.4', '10.22.0.6-10.22.0.8', '10.22.0.12/31'] },
      { subnet: '10.22.0.0/28', rangeStart: '10.22.0.9', rangeEnd: '10.22.0.2' },
      { subnet: '10.22.0.1/28' },
      { subnet: '10.22.0.0/31' },
      { subnet: '0.0.0.0/0' },
      { subnet: '::/0' },
      { subnet: '10.22.0.0/33' },
      { subnet: '10.22.0.0' },
      { subnet: '10.22.0.0/28', gateway: 'fd00::1' },
      { subnet: '10.22.0.0/28', exclude: ['10.22.0.0/28'] },
    ),
  },
)
const rangeSets = fc.oneof(
  { weight: 10, arbitrary: range.map(one => [[one]]) },
  { weight: 3, arbitrary: range.map(one => [[one], [{ subnet: 'fd00:22::/64' }]]) },
  { weight: 1, arbitrary: fc.constant([[{ subnet: '10.22.0.0/28' }, { subnet: '10.23.0.0/28' }]]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<object[][]>(
      [],
      [[]],
      [[{ subnet: '10.22.0.0/28' }], [{ subnet: '10.22.0.0/24' }]],
    ),
  },
)

const ipam = fc.record(
  {
    type: fc.constant('ipkeeper'),
    ranges: rangeSets,
    routes: maybe(
      fc.oneof(
        {
          weight: 8,
          arbitrary: fc.constantFrom<object[]>(
            [],
            [{ dst: '0.0.0.0/0' }],
            [{ dst: '::/0', gw: 'fd00:22::1', mtu: 1400, priority: 1 }],
          ),
        },
        {
          weight: 1,
          arbitrary: fc.constantFrom<object[]>(
            [{ dst: '0.0.0.0/0', gw: '::1' }],
            [{ dst: 'x' }],
            [{ dst: '0.0.0.0/0', mtu: -1 }],
          ),
        },
      ),
    ),
    resolvConf: maybe(fc.constantFrom('', '/etc/resolv.conf')),
    segment: maybe(fc.constantFrom('default', 'lab', 'a'.repeat(63))),
    timeout: maybe(fc.constantFrom(1, 60, 86_400, 0.5)),
    dataDir: maybe(fc.constant('/var/lib/cni/networks')),
  },
  { requiredKeys: ['type', 'ranges'] },
)

/** A network configuration of the IPAM role as somebody may have written it; most make sense. */
export const netconf = fc.record(
  {
    cniVersion: version,
    name,
    type: fc.oneof(
      { weight: 30, arbitrary: fc.constant('bridge') },
      { weight: 1, arbitrary: fc.constantFrom('ipkeeper', '') },
    ),
    ipam,
    args: maybe(fc.record({ cni: fc.record({ ips: fc.array(requested, { maxLength: 2 }) }) })),
    runtimeConfig: maybe(
      fc.record(
        {
          'io.kubernetes.cri.pod-annotations': annotations,
          ips: fc.array(requested, { maxLength: 2 }),
          portMappings: fc.constant([{ HostPort: 8080, ContainerPort: 80, Protocol: 'tcp', HostIP: '' }]),
        },
        { requiredKeys: ['io.kubernetes.cri.pod-annotations'] },
      ),
    ),
    prevResult: maybe(
      fc.constantFrom<object>(
        { cniVersion: '1.0.0', ips: [{ address: '10.22.0.2/28' }] },
        { cniVersion: '0.2.0', ip4: { ip: '10.22.0.2/28' } },
        { ips: [null, 1, {}] },
      ),
    ),
    'cni.dev/valid-attachments': maybe(
      fc.constantFrom<unknown>(
        [],
        [{ containerID: 'c1', ifname: 'eth0' }],
        [{ containerID: 'c1' }],
        [{ containerID: '../x', ifname: '' }],
        null,
      ),
    ),
    capabilities: maybe(fc.constant({ ips: true })),
  },
  { requiredKeys: ['cniVersion', 'name', 'type', 'ipam'] },
)

/** Keys that mean something in `ipam` and are mostly not there. */
const keysOfIpam = [
  'pool',
  'subnet',
  'segment',
  'exclude',
  'gateway',
  'resolvConf',
  'routes',
  'timeout',
  'ranges',
]

/** The same with a few members that are not as they should be. */
export const netconfDocument = fc.oneof(
  { weight: 6, arbitrary: netconf.map(written) },
  { weight: 4, arbitrary: changed(netconf.map(written), 3) },
  { weight: 1, arbitrary: extended(netconf.map(written), 'ipam', keysOfIpam) },
)

/** What may stand on the plugin's stdin. */
export const stdinText: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: netconfDocument.map(print) },
  { weight: 1, arbitrary: damaged(netconf.map(value => print(written(value)))) },
)
