import t from 'tap'
import {
  planWiring,
  unwiringCommands,
  wiringCommands,
  type Granted,
  guardedLinks,
  wiredResult,
} from '../../../../ipkeeper-server/network/plan/plan-wiring.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import {
  sampleConfig,
  sampleIps,
  sampleJob,
  sampleSurvey,
  sampleUplink,
  sampleWiring,
  spellCommands,
  type JobParts,
} from './sample-job.ts'
import type { Survey } from '../../../../ipkeeper-server/network/plan/wiring-job.ts'
import type { JsonObject } from '../../../../shared/json/fold.ts'
import { jobOf } from './example-job.ts'

interface Situation extends Pick<JobParts, 'config' | 'survey'> {
  readonly granted?: Partial<Granted>
  /** Gateways of pools that are known. */
  readonly gateways?: readonly string[]
  /** Pods that have any other address of the bridge for their gateway. */
  readonly pods?: readonly string[]
}

const plan = ({
  config,
  survey,
  granted,
  gateways = ['10.22.0.1', 'fd00:22::1'],
  pods = [],
}: Situation = {}) =>
  planWiring(
    { ...sampleConfig, ...config },
    { ...sampleSurvey, ...survey },
    { ips: sampleIps, routes: [], mac: null, named: [], ...granted },
    { isGateway: address => gateways.includes(address), podsBehind: () => pods },
  )

const bridgeWith = (...addresses: readonly string[]): Pick<Situation, 'survey'> => ({
  survey: { bridge: { state: 'bridge', mac: '0e:00:00:00:00:09', addresses, ours: [], filtersVlans: false } },
})
const hostLink = { name: 'ipk000000000001', mac: '0e:00:00:00:00:01' }
const uplink = sampleUplink
const noBridge = { bridge: undefined }

t.test('what is recorded', t => {
  for (const [what, situation, expected] of [
    ['bridge', {}, { ...sampleWiring, routes: [] }],
    [
      'ptp',
      { config: { mode: 'ptp' }, survey: noBridge },
      { mode: 'ptp', hostLink, master: null, proxyOn: null, mtu: 1500 },
    ],
    [
      'ptp with an uplink',
      { config: { mode: 'ptp', uplink: 'up0' }, survey: { ...noBridge, uplink } },
      { hostLink, master: null, proxyOn: 'up0' },
    ],
    [
      'macvlan, whose uplink may be that of the default route',
      { config: { mode: 'macvlan', isGateway: false }, survey: { ...noBridge, uplink } },
      { mode: 'macvlan', hostLink: null, master: 'up0', proxyOn: null },
    ],
    [
      'underlay',
      { config: { mode: 'underlay', uplink: 'up0', isGateway: false }, survey: { uplink } },
      { mode: 'underlay', hostLink, master: 'ipk0', proxyOn: null },
    ],
    ['the MTU is that of the survey', { survey: { mtu: 1400 } }, { mtu: 1400 }],
    [
      'a MAC by CNI',
      { config: { mac: { mac: '02:00:00:00:00:01', source: 'runtimeConfig.mac' } } },
      { mac: '02:00:00:00:00:01' },
    ],
    [
      'a MAC by annotation goes before it',
      {
        config: { mac: { mac: '02:00:00:00:00:01', source: 'runtimeConfig.mac' } },
        granted: { mac: '02:00:00:00:00:02' },
      },
      { mac: '02:00:00:00:00:02' },
    ],
    [
      'routes with their gateways',
      { config: { defaultRoute: true }, granted: { routes: [{ dst: '192.0.2.0/24' }] } },
      {
        routes: [
          { dst: '192.0.2.0/24', gw: '10.22.0.1' },
          { dst: '0.0.0.0/0', gw: '10.22.0.1' },
          { dst: '::/0', gw: 'fd00:22::1' },
        ],
      },
    ],
    [
      'services by the node in an underlay',
      {
        config: { mode: 'underlay', uplink: 'up0', isGateway: false, serviceCidrs: ['10.96.0.0/12'] },
        survey: { uplink, nodeAddresses: ['10.22.0.7/16'] },
      },
      { routes: [{ dst: '10.96.0.0/12', gw: '10.22.0.7' }] },
    ],
    [
      'services by the gateway elsewhere',
      { config: { serviceCidrs: ['10.96.0.0/12'] }, survey: { nodeAddresses: ['10.22.0.7/16'] } },
      { routes: [{ dst: '10.96.0.0/12', gw: '10.22.0.1' }] },
    ],
  ] as const)
    t.match(plan(situation), expected, what)
  t.end()
})

t.test('masqueraded addresses', t => {
  const all = ['10.22.0.50', 'fd00:22::50']
  for (const [masquerade, named, expected] of [
    ['none', [], []],
    ['all', [], all],
    ['all', all, all],
    ['unnamed', [], all],
    ['unnamed', ['10.22.0.50'], ['fd00:22::50']],
    ['unnamed', all, []],
  ] as const)
    t.strictSame(
      plan({ config: { masquerade }, granted: { named } }).masqueraded,
      expected,
      `${masquerade}, named: ${named.join(' ') || 'none'}`,
    )
  t.end()
})

t.test('accepted', t => {
  const other = '10.23.0.1/16'
  for (const [what, situation] of [
    ['1280 is enough for IPv6', { survey: { mtu: 1280 } }],
    ['IPv4 alone needs less', { survey: { mtu: 576 }, granted: { ips: sampleIps.slice(0, 1) } }],
    ['the MTU of the uplink', { survey: { ...noBridge, uplink }, config: { mode: 'ptp', uplink: 'up0' } }],
    ['no gateway', { granted: { ips: [{ address: '10.22.0.50/16' }] } }],
    ['a bridge without addresses', bridgeWith()],
    ['a bridge with the gateways', bridgeWith('10.22.0.1/16', 'fd00:22::1/64')],
    [
      'a bridge with the gateway of another pool',
      { ...bridgeWith('10.22.0.1/16', other), gateways: ['10.22.0.1', '10.23.0.1'] },
    ],
    ['a bridge with the gateway of pods whose pool is gone', { ...bridgeWith(other), pods: ['shop/web-0'] }],
    [
      'a bridge with one of ours that nobody uses',
      {
        survey: {
          bridge: { state: 'bridge', mac: '', addresses: [other], ours: [other], filtersVlans: false },
        },
      },
    ],
    [
      'any addresses on a bridge that is to have none of ours',
      { ...bridgeWith('192.0.2.1/24', '10.22.0.9/16'), config: { isGateway: false } },
    ],
    [
      'a VLAN on a bridge that knows them',
      {
        survey: { bridge: { state: 'bridge', mac: '', addresses: [], ours: [], filtersVlans: true } },
        config: { vlan: 7 },
      },
    ],
  ] as const)
    t.doesNotThrow(() => plan(situation), what)
  t.end()
})

t.test('refused', async t => {
  for (const [what, situation, code, message] of [
    [
      'an MTU that IPv6 cannot use',
      { survey: { mtu: 1279 } },
      'IPK_CONFIG_INVALID',
      'an MTU of 1279 is too small for IPv6, which needs 1280',
    ],
    [
      'an MTU that the uplink cannot carry',
      { survey: { ...noBridge, uplink, mtu: 1501 }, config: { mode: 'ptp', uplink: 'up0' } },
      'IPK_CONFIG_INVALID',
      '"mtu": 1501 is more than the 1500 of uplink up0',
    ],
    [
      'a gateway outside the subnet',
      { granted: { ips: [sampleIps[1], { address: '10.22.0.50/16', gateway: '10.23.0.1' }] } },
      'IPK_CONFIG_INVALID',
      'gateway 10.23.0.1 is not in the subnet of 10.22.0.50/16',
    ],
    [
      'a gateway of the other family',
      { granted: { ips: [{ address: '10.22.0.50/16', gateway: 'fd00:22::1' }] } },
      'IPK_CONFIG_INVALID',
      'gateway fd00:22::1 is not in the subnet of 10.22.0.50/16',
    ],
    [
      'a bridge that is something else',
      { survey: { bridge: { state: 'other', kind: 'veth' } } },
      'IPK_LINK_CONFLICT',
      '"bridge": ipk0 exists, but is a veth',
    ],
    [
      'also where it is no gateway',
      { survey: { bridge: { state: 'other', kind: '' } }, config: { isGateway: false } },
      'IPK_LINK_CONFLICT',
      '"bridge": ipk0 exists, but is a plain link',
    ],
    [
      'a bridge without VLANs',
      { ...bridgeWith(), config: { vlan: 7, isGateway: false } },
      'IPK_LINK_CONFLICT',
      '"vlan": bridge ipk0 exists, but does not know VLANs',
    ],
    [
      'an address on the bridge that is no gateway',
      bridgeWith('10.22.0.1/16', '192.0.2.1/24'),
      'IPK_LINK_CONFLICT',
      'bridge ipk0 has address 192.0.2.1/24, which is not the gateway of a pool; ' +
        'this network needs 10.22.0.1/16 and fd00:22::1/64',
    ],
    [
      'another address in the same subnet',
      { ...bridgeWith('10.22.0.9/16'), gateways: ['10.22.0.1', 'fd00:22::1', '10.22.0.9'] },
      'IPK_LINK_CONFLICT',
      /bridge ipk0 has address 10\.22\.0\.9\/16/,
    ],
    [
      'the former gateway of the subnet, which pods have',
      { ...bridgeWith('10.22.0.9/16'), pods: ['shop/web-0', 'shop/web-1', 'shop/web-2', 'shop/web-3'] },
      'IPK_LINK_CONFLICT',
      'bridge ipk0 has address 10.22.0.9/16, which is the gateway of shop/web-0, shop/web-1, shop/web-2 and 1 more; ' +
        'this network needs 10.22.0.1/16 and fd00:22::1/64',
    ],
    [
      'the gateway under another prefix',
      bridgeWith('10.22.0.1/24'),
      'IPK_LINK_CONFLICT',
      /bridge ipk0 has address 10\.22\.0\.1\/24/,
    ],
    [
      'no uplink',
      { config: { mode: 'macvlan', isGateway: false }, survey: noBridge },
      'IPK_LINK_CONFLICT',
      /macvlan needs an uplink/,
    ],
    [
      'an uplink that is in use',
      {
        config: { mode: 'underlay', uplink: 'up0', isGateway: false },
        survey: { uplink: { ...uplink, addresses: ['192.0.2.7/24'] } },
      },
      'IPK_LINK_CONFLICT',
      /uplink up0 has addresses of the host/,
    ],
  ] as const) {
    const problem = await thrownProblem(() => plan(situation))
    t.equal(problem.code, code, what)
    if (typeof message === 'string') t.equal(problem.message, message)
    else t.match(problem.message, message, what)
    t.ok(problem.hint, `${what}: says what to do`)
  }
})

t.test('the commands are those of the recorded mode, and the pod’s link comes first', t => {
  for (const [mode, first] of [
    ['bridge', 'link add name ipk000000000001 '],
    ['ptp', 'link add name ipk000000000001 '],
    ['underlay', 'link add name ipk000000000001 '],
    ['macvlan', 'link add link up0 name ipk000000000001 '],
  ] as const) {
    const survey = { uplink, ...(mode === 'bridge' || mode === 'underlay' ? {} : noBridge) }
    const master = mode === 'ptp' ? null : mode === 'macvlan' ? 'up0' : 'ipk0'
    const { host, link, addresses, routes } = wiringCommands(
      sampleJob({ config: { mode }, survey, wiring: { mode, master } }),
    )
    t.ok(spellCommands(host)[0]?.startsWith(first), mode)
    // A kernel before 6.15 would look for it among the links of the host.
    const onHost = spellCommands(host.filter(({ place }) => place === 'host'))
    t.notMatch(onHost.join('\n').replaceAll(' peer name eth0 ', ' '), / eth0 /, `${mode}: no eth0 there`)
    const inPod = [...link, ...addresses, ...routes]
    t.ok(
      inPod.every(({ place }) => place === 'pod'),
      mode,
    )
    const lines = spellCommands(inPod)
    const isUp = lines.indexOf('pod: link set dev eth0 up')
    const address = lines.findIndex(line => line.startsWith('pod: address add'))
    const route = lines.findIndex(line => line.startsWith('pod: route add'))
    t.ok(0 <= isUp && isUp < address && address < route, `${mode}: up, then addresses, then routes`)
  }
  t.end()
})

t.test('what the host has besides the link', t => {
  const addresses = ['10.22.0.50', 'fd00:22::50']
  t.strictSame(unwiringCommands(sampleWiring, addresses), [])
  const commands = unwiringCommands({ proxyOn: 'up0' }, addresses)
  t.strictSame(spellCommands(commands), [
    'neighbour delete proxy 10.22.0.50 dev up0',
    'neighbour delete proxy fd00:22::50 dev up0',
  ])
  t.ok(commands.every(({ missing }) => missing === 'fine'))
  t.end()
})

const bridge = (...addresses: readonly string[]): Survey['bridge'] => ({
  ...{ state: 'bridge', mac: '0e:00:00:00:00:02', ours: [], filtersVlans: false },
  addresses,
})
const absent = { state: 'absent', mac: '0e:00:00:00:00:02' } as const
const underlay = { mode: 'underlay', uplink: 'eth1', bridge: 'br0' }

const rows: readonly (readonly [what: string, JsonObject, Partial<Survey>, readonly string[]])[] = [
  ['a bridge that is new', { bridge: 'br0' }, { bridge: absent }, ['br0']],
  ['one that is there', { bridge: 'br0' }, { bridge: bridge() }, ['br0']],
  ['one with our gateways', { bridge: 'br0' }, { bridge: bridge('10.22.0.1/16') }, ['br0']],
  [
    'one of the node, which is no gateway',
    { bridge: 'br0', isGateway: false },
    { bridge: bridge('192.0.2.9/24') },
    [],
  ],
  ['one that is no gateway and new', { bridge: 'br0', isGateway: false }, { bridge: absent }, ['br0']],
  ['the host side of a routed link', { mode: 'ptp' }, {}, ['ipk0123456789ab']],
  ['that alone, not the uplink', { mode: 'ptp', uplink: 'eth1' }, {}, ['ipk0123456789ab']],
  ['there is none', { mode: 'macvlan', uplink: 'eth1' }, {}, []],
  ['an underlay', underlay, { bridge: absent }, ['br0']],
  ['an underlay that the node lives by', underlay, { nodeAddresses: ['192.0.2.9/24'] }, []],
  ['one that the node is about to live by', { ...underlay, moveHostAddresses: true }, { bridge: absent }, []],
]

t.test('links that pods could send announcements to', t => {
  for (const [what, settings, survey, expected] of rows) {
    const job = jobOf(settings, survey)
    t.strictSame(guardedLinks(job.config, job.survey, job.wiring), expected, what)
  }
  t.end()
})

const leased = { ips: sampleIps, routes: [{ dst: '192.0.2.0/24' }], dns: { nameservers: ['10.22.0.53'] } }
const pod = { ifname: 'net1', netns: '/some/../where' }

const result = ({ config, survey, wiring }: JobParts = {}) =>
  wiredResult(
    leased,
    {
      wiring: { ...sampleWiring, ...wiring },
      config: { ...sampleConfig, ...config },
      survey: { ...sampleSurvey, ...survey },
    },
    pod,
  )

const ofBridge = { name: 'ipk0', mac: '0e:00:00:00:00:02' }
const ofHost = { name: 'ipk000000000001', mac: '0e:00:00:00:00:01', mtu: 1500 }
const ofPod = { name: 'net1', mac: '0a:58:0a:16:00:32', mtu: 1500, sandbox: '/some/../where' }

t.test('interfaces, and the addresses point to that of the pod', t => {
  for (const [what, parts, interfaces] of [
    ['a bridge that was made', {}, [ofBridge, ofHost, ofPod]],
    [
      'a bridge that was there',
      {
        survey: {
          bridge: { state: 'bridge', mac: '02:00:00:00:00:01', addresses: [], ours: [], filtersVlans: false },
        },
      },
      [{ name: 'ipk0', mac: '02:00:00:00:00:01' }, ofHost, ofPod],
    ],
    ['ptp', { survey: { bridge: undefined } }, [ofHost, ofPod]],
    ['macvlan', { survey: { bridge: undefined }, wiring: { hostLink: null } }, [ofPod]],
    [
      'an MTU, and a MAC that the pod asked for',
      { survey: { bridge: undefined }, wiring: { hostLink: null, mtu: 1400, mac: '02:42:00:00:00:07' } },
      [{ ...ofPod, mtu: 1400, mac: '02:42:00:00:00:07' }],
    ],
  ] as const) {
    const made = result(parts)
    t.strictSame(made.interfaces, interfaces, what)
    const index = interfaces.length - 1
    t.strictSame(
      made.ips,
      sampleIps.map(ip => ({ ...ip, interface: index })),
      what,
    )
  }
  t.end()
})

t.test('routes are those that were made, not those of the leases', t => {
  t.strictSame(result().routes, sampleWiring.routes)
  t.end()
})

t.test('DNS of the network goes before that of ipam, as a whole', t => {
  t.strictSame(result().dns, { nameservers: ['10.22.0.53'] })
  t.strictSame(result({ config: { dns: { search: ['a.test'] } } }).dns, { search: ['a.test'] })
  t.end()
})
