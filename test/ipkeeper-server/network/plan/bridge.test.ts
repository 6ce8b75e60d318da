import t from 'tap'
import {
  bridgeCommands,
  createBridge,
  forgetNeighboursOf,
  joinBridge,
  keepBridge,
  vlanOfPort,
  gatewayCidrs,
} from '../../../../ipkeeper-server/network/plan/bridge.ts'
import type { Command } from '../../../../ipkeeper-server/network/plan/command.ts'
import type { WiringJob } from '../../../../ipkeeper-server/network/plan/wiring-job.ts'
import { sampleIps, sampleJob, spellCommands, type JobParts } from './sample-job.ts'

const present = {
  state: 'bridge',
  mac: '0e:00:00:00:00:09',
  addresses: ['10.22.0.1/16'],
  ours: [],
  filtersVlans: true,
} as const

const added = 'link add name ipk0 address 0e:00:00:00:00:02 type bridge'
const marked = 'link set dev ipk0 alias "ipkeeper bridge"'
const linkLocal = 'address replace fe80::c00:ff:fe00:2/64 dev ipk0 nodad'
const gateways = ['address replace 10.22.0.1/16 dev ipk0', 'address replace fd00:22::1/64 dev ipk0 nodad']
const up = 'link set dev ipk0 up'
const bare = 'link set dev ipk000000000001 addrgenmode none'
const port = 'link set dev ipk000000000001 alias "ipkeeper net c1 eth0" master ipk0 up'
const joined = [bare, port]

const rows: readonly (readonly [
  what: string,
  of: (job: WiringJob) => Command[],
  parts: JobParts,
  expected: readonly string[],
])[] = [
  ['a bridge is made with a MAC', createBridge, {}, [added, marked, linkLocal]],
  ['one for VLANs', createBridge, { config: { vlan: 7 } }, [`${added} vlan_filtering 1`, marked, linkLocal]],
  ['one without IPv6', createBridge, { ips: sampleIps.slice(0, 1) }, [added, marked]],
  ['one that is no gateway', createBridge, { config: { isGateway: false } }, [added, marked]],
  ['one that is there', createBridge, { survey: { bridge: present } }, []],
  ['no bridge in this mode', createBridge, { survey: { bridge: undefined } }, []],

  ['the gateways of the pod', keepBridge, {}, [...gateways, up]],
  ['also on a bridge that is there', keepBridge, { survey: { bridge: present } }, [...gateways, up]],
  ['none where it is no gateway', keepBridge, { config: { isGateway: false } }, [up]],
  ['one family', keepBridge, { ips: sampleIps.slice(1) }, [...gateways.slice(1), up]],
  [
    'the gateway stands in the VLAN of its pods',
    keepBridge,
    { config: { vlan: 7 } },
    [
      ...[...gateways, up],
      'bridge: vlan add dev ipk0 vid 7 pvid untagged self',
      'bridge: vlan delete dev ipk0 vid 1 self',
    ],
  ],
  ['in no VLAN where it is no gateway', keepBridge, { config: { isGateway: false, vlan: 7 } }, [up]],

  ['a port', joinBridge, {}, joined],
  ['a port with an MTU below that of IPv6', joinBridge, { wiring: { mtu: 1279 } }, [port]],
  ['a port with the least MTU of IPv6', joinBridge, { wiring: { mtu: 1280 } }, joined],
  [
    'hairpin',
    joinBridge,
    { config: { hairpin: true } },
    [...joined, 'link set dev ipk000000000001 type bridge_slave hairpin on'],
  ],
  [
    'a port in a VLAN, and in no other',
    joinBridge,
    { config: { vlan: 7 } },
    [
      ...joined,
      'bridge: vlan add dev ipk000000000001 vid 7 pvid untagged',
      'bridge: vlan delete dev ipk000000000001 vid 1',
    ],
  ],
  [
    'VLAN 1 is where it is already',
    joinBridge,
    { config: { vlan: 1 } },
    [...joined, 'bridge: vlan add dev ipk000000000001 vid 1 pvid untagged'],
  ],

  [
    'who had the addresses is forgotten',
    forgetNeighboursOf,
    {},
    ['10.22.0.50', 'fd00:22::50'].flatMap(address => [
      `neighbour replace ${address} lladdr 02:00:00:00:00:00 dev ipk0 nud stale`,
      `neighbour delete ${address} dev ipk0`,
    ]),
  ],
]

t.test('what each part says', t => {
  for (const [what, of, parts, expected] of rows)
    t.strictSame(spellCommands(of(sampleJob(parts))), expected, what)
  t.end()
})

t.test('what may be refused', t => {
  const [bridge] = createBridge(sampleJob())
  t.match(bridge, { existing: 'fine', needs: undefined }, 'another ADD made it meanwhile')
  const job = sampleJob({ config: { vlan: 7 } })
  t.equal(createBridge(job)[0]?.needs, 'vlan-filtering')
  t.match(vlanOfPort('eth7', 7, []), { needs: 'vlan-filtering', about: 'put eth7 into VLAN 7' })
  t.equal(joinBridge(job).at(-1)?.missing, 'fine', 'a bridge whose default VLAN is another')
  t.ok(
    [...keepBridge(sampleJob()), ...joinBridge(sampleJob())].every(
      ({ existing, missing, needs }) =>
        existing === undefined && missing === undefined && needs === undefined,
    ),
    'nothing else',
  )
  t.end()
})

t.test('the order', t => {
  const job = sampleJob({
    config: { hairpin: true, duplicateProbe: true },
  })
  const { host, link, addresses, routes } = bridgeCommands(job)
  const heads = spellCommands(host).map(line => line.split(' ').slice(0, 4).join(' '))
  t.strictSame(heads, [
    // The pod's link first, so that nothing was touched when its name is taken.
    'link add name ipk000000000001',
    'link add name ipk0',
    'link set dev ipk0',
    'address replace fe80::c00:ff:fe00:2/64 dev',
    'address replace 10.22.0.1/16 dev',
    'address replace fd00:22::1/64 dev',
    'link set dev ipk0',
    // Of two with one MAC the older one goes before the other is up.
    'link set dev ipk000000000001',
    'link set dev ipk000000000001',
    'link set dev ipk000000000001',
    'neighbour replace 10.22.0.50 lladdr',
    'neighbour delete 10.22.0.50 dev',
    'neighbour replace fd00:22::50 lladdr',
    'neighbour delete fd00:22::50 dev',
  ])
  t.match(spellCommands(host)[0], /peer name eth0 address 0e:00:00:00:00:03 /, 'with the MAC of the probe')
  t.ok([...link, ...addresses, ...routes].every(({ place }) => place === 'pod'))
  t.strictSame(spellCommands(link), ['pod: link set dev eth0 up'])
  t.equal(addresses.length, 2)
  t.equal(routes.length, 2)
  t.end()
})

t.test('gateways with the prefix of their subnets', t => {
  for (const [what, ips, expected] of [
    ['none', [], []],
    ['an address without a gateway', [{ address: '10.22.0.50/16' }], []],
    [
      'both families, in their order',
      [
        { address: 'fd00:22::50/64', gateway: 'fd00:22::1' },
        { address: '10.22.0.50/16', gateway: '10.22.0.1' },
      ],
      ['fd00:22::1/64', '10.22.0.1/16'],
    ],
    [
      'two addresses of one subnet',
      [
        { address: '10.22.0.50/16', gateway: '10.22.0.1' },
        { address: '10.22.0.51/16', gateway: '10.22.0.1' },
      ],
      ['10.22.0.1/16'],
    ],
    [
      'one gateway, two lengths',
      [
        { address: '10.22.0.50/16', gateway: '10.22.0.1' },
        { address: '10.22.0.51/24', gateway: '10.22.0.1' },
      ],
      ['10.22.0.1/16', '10.22.0.1/24'],
    ],
  ] as const)
    t.strictSame(gatewayCidrs(ips), expected, what)
  t.end()
})
