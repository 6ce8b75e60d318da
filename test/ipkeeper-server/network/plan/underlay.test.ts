import t from 'tap'
import {
  joinUplink,
  nodeGateway,
  partUplink,
  underlayCommands,
} from '../../../../ipkeeper-server/network/plan/underlay.ts'
import { bridgeCommands } from '../../../../ipkeeper-server/network/plan/bridge.ts'
import type { HostAddress, HostRoute } from '../../../../ipkeeper-server/network/plan/host-addressing.ts'
import { configOf, jobOf, plainSurvey, typed, typedWiring } from './example-job.ts'

const settings = { mode: 'underlay', uplink: 'eth1', bridge: 'br0' }

t.test('a port of a bridge that is there', t => {
  t.same(typedWiring(underlayCommands(jobOf(settings))), [
    'host: ip link add name ipk0123456789ab address 0e:00:00:00:00:01 mtu 1500 type veth peer name eth0 address 0e:00:00:00:00:03 mtu 1500 netns /proc/self/fd/3',
    'host: ip link set dev br0 up',
    'host: ip link set dev ipk0123456789ab addrgenmode none',
    'host: ip link set dev ipk0123456789ab alias ipkeeper net c1 eth0 master br0 up',
    'host: ip link set dev ipk0123456789ab type bridge_slave hairpin on',
    ...['10.22.0.50', 'fd00:22::50'].flatMap(address => [
      `host: ip neighbour replace ${address} lladdr 02:00:00:00:00:00 dev br0 nud stale`,
      `host: ip neighbour delete ${address} dev br0`,
    ]),
    'pod: ip link set dev eth0 up',
    'pod: ip address add 10.22.0.50/16 dev eth0',
    'pod: ip address add fd00:22::50/64 dev eth0 nodad',
    'pod: ip route add 0.0.0.0/0 via 10.22.0.1 dev eth0',
  ])
  t.end()
})

t.test('VLANs', t => {
  const ofVlans = (lines: readonly string[]): readonly string[] => lines.filter(line => /vlan/.test(line))
  const bridge = { state: 'absent', mac: '0e:00:00:00:00:02' } as const
  t.same(
    ofVlans(typedWiring(underlayCommands(jobOf({ ...settings, vlan: 7 })))),
    [
      'host: bridge vlan add dev ipk0123456789ab vid 7 pvid untagged',
      'host: bridge vlan delete dev ipk0123456789ab vid 1',
      'host: bridge vlan add dev eth1 vid 7',
    ],
    'tagged on the uplink, whose own frames have none',
  )
  t.same(
    ofVlans(typedWiring(underlayCommands(jobOf({ ...settings, vlan: 1 })))),
    ['host: bridge vlan add dev ipk0123456789ab vid 1 pvid untagged', 'host: bridge vlan add dev eth1 vid 1'],
    'a port is in VLAN 1 from the start',
  )
  t.same(
    ofVlans(typedWiring(bridgeCommands(jobOf({ bridge: 'br0', vlan: 7 }, { bridge })))),
    [
      'host: ip link add name br0 address 0e:00:00:00:00:02 type bridge vlan_filtering 1',
      'host: bridge vlan add dev br0 vid 7 pvid untagged self',
      'host: bridge vlan delete dev br0 vid 1 self',
      'host: bridge vlan add dev ipk0123456789ab vid 7 pvid untagged',
      'host: bridge vlan delete dev ipk0123456789ab vid 1',
    ],
    'the gateway is where its pods are',
  )
  t.end()
})

const address: HostAddress = {
  ...{ family: 4, local: '10.22.0.9', prefixLength: 16, scope: '0', flags: [] },
  ...{ validFor: null, preferredFor: null },
}
const linkLocal: HostAddress = { ...address, family: 6, local: 'fe80::9', prefixLength: 64, scope: '253' }
const route: HostRoute = {
  ...{ family: 4, type: 'unicast', dst: 'default', table: '254', protocol: '3', scope: '0', attributes: [] },
  ...{ expires: null, hops: [{ via: ['10.22.0.1'], dev: null, onlink: false }] },
}
const facts = { mac: '02:00:00:00:00:e1', mtu: 1500, vlan: undefined }
const nothing = { addresses: [], routes: [] }

t.test('an uplink comes to its bridge, and leaves it', t => {
  const joint = { bridge: 'br0', uplink: 'eth1', made: true, wasUp: true, moved: nothing }
  const cases = [
    {
      what: 'a bridge that is made',
      joint,
      join: [
        'host: ip link add name br0 address 02:00:00:00:00:e1 mtu 1499 type bridge',
        'host: ip link set dev br0 mtu 1500',
        'host: ip link set dev eth1 master br0 up',
        'host: ip link set dev br0 up',
      ],
      part: ['host: ip link set dev eth1 nomaster', 'host: ip link delete dev br0 type bridge'],
    },
    {
      what: 'a bridge that was there, an uplink that was down',
      joint: { ...joint, made: false, wasUp: false },
      join: ['host: ip link set dev eth1 master br0 up', 'host: ip link set dev br0 up'],
      part: ['host: ip link set dev eth1 nomaster', 'host: ip link set dev eth1 down'],
    },
    {
      what: 'with addresses and a route',
      joint: { ...joint, moved: { addresses: [address, linkLocal], routes: [route] } },
      join: [
        'host: ip link add name br0 address 02:00:00:00:00:e1 mtu 1499 type bridge',
        'host: ip link set dev br0 mtu 1500',
        'host: ip link set dev eth1 master br0 up',
        'host: ip link set dev br0 addrgenmode none up',
        'host: ip address add 10.22.0.9/16 dev br0 scope 0',
        'host: ip address add fe80::9/64 dev br0 scope 253 nodad',
        'host: ip address change fe80::9/64 dev br0 scope 253',
        'host: ip route replace unicast 0.0.0.0/0 via 10.22.0.1 dev br0 table 254 proto 3 scope 0',
        'host: ip address delete fe80::9/64 dev eth1',
        'host: ip address delete 10.22.0.9/16 dev eth1',
      ],
      part: [
        'host: ip address add 10.22.0.9/16 dev eth1 scope 0',
        'host: ip address add fe80::9/64 dev eth1 scope 253 nodad',
        'host: ip address change fe80::9/64 dev eth1 scope 253',
        'host: ip link set dev eth1 nomaster',
        'host: ip route replace unicast 0.0.0.0/0 via 10.22.0.1 dev eth1 table 254 proto 3 scope 0',
        'host: ip address delete fe80::9/64 dev br0',
        'host: ip address delete 10.22.0.9/16 dev br0',
        'host: ip link delete dev br0 type bridge',
      ],
    },
  ]
  for (const { what, joint: one, join, part } of cases) {
    t.same(typed(joinUplink(one, facts)), join, what)
    t.same(typed(partUplink(one, true)), part, `${what}: and back`)
    t.same(
      typed(partUplink(one, false)),
      part.filter(line => !line.endsWith('nomaster')),
      `${what}: before it was a port`,
    )
  }
  t.equal(joinUplink(joint, { ...facts, vlan: 7 })[0]?.words.at(-2), 'vlan_filtering')
  t.end()
})

t.test('by which address pods reach their node', t => {
  const ips = jobOf(settings).ips
  const cases: readonly (readonly [addresses: readonly string[], ipv6: boolean, found: string | RegExp])[] = [
    [['10.22.0.9/16'], false, '10.22.0.9'],
    [['192.0.2.9/24', '10.22.0.9/24'], false, '10.22.0.9'],
    [['10.22.0.9/16', 'fd00:22::9/64'], true, 'fd00:22::9'],
    [[], false, /no address on bridge br0, and none of 10\.22\.0\./],
    [['10.23.0.9/16'], false, /only 10\.23\.0\.9\/16 on bridge br0/],
    [['10.22.0.9/16'], true, /none of fd00:22::/],
  ]
  for (const [nodeAddresses, ipv6, found] of cases) {
    const seek = (): string | undefined =>
      nodeGateway(configOf(settings), { ...plainSurvey, nodeAddresses }, ips, ipv6)
    if (typeof found === 'string') t.equal(seek(), found)
    else t.throws(seek, { code: 'IPK_LINK_CONFLICT', message: found, hint: /"moveHostAddresses": true/ })
  }
  t.equal(
    nodeGateway(configOf({ ...settings, isGateway: true }), plainSurvey, ips, false),
    undefined,
    'a node that is the gateway',
  )
  t.end()
})
