import t from 'tap'
import { ptpCommands } from '../../../../ipkeeper-server/network/plan/ptp.ts'
import { sampleIps, sampleJob, spellCommands, type JobParts } from './sample-job.ts'

const created =
  'link add name ipk000000000001 address 0e:00:00:00:00:01 mtu 1500 type veth ' +
  'peer name eth0 address 0a:58:0a:16:00:32 mtu 1500 netns /proc/self/fd/3'
const up = 'link set dev ipk000000000001 alias "ipkeeper net c1 eth0" up'
const gateway4 = 'address add 10.22.0.1/32 dev ipk000000000001'
const gateway6 = 'address add fd00:22::1/128 dev ipk000000000001 nodad'
const pod4 = [
  'route replace 10.22.0.50/32 dev ipk000000000001',
  'neighbour replace 10.22.0.50 lladdr 0a:58:0a:16:00:32 dev ipk000000000001 nud permanent',
]
const pod6 = [
  'route replace fd00:22::50/128 dev ipk000000000001',
  'neighbour replace fd00:22::50 lladdr 0a:58:0a:16:00:32 dev ipk000000000001 nud permanent',
]

const ptp = (parts: JobParts = {}) =>
  ptpCommands(
    sampleJob({
      ...parts,
      config: { mode: 'ptp', ...parts.config },
      survey: { bridge: undefined, ...parts.survey },
      wiring: { mode: 'ptp', master: null, ...parts.wiring },
    }),
  )

t.test('the host', t => {
  for (const [what, parts, expected] of [
    ['both families', {}, [created, up, gateway4, ...pod4, gateway6, ...pod6]],
    ['IPv6 alone', { ips: sampleIps.slice(1) }, [created, up, gateway6, ...pod6]],
    ['a range without a gateway', { ips: [{ address: '10.22.0.50/16' }] }, [created, up, ...pod4]],
    [
      'an uplink: the router has the gateway, and the node answers for the pod',
      { config: { uplink: 'up0' } },
      [
        ...[created, up],
        ...[...pod4, 'neighbour replace proxy 10.22.0.50 dev up0'],
        ...[...pod6, 'neighbour replace proxy fd00:22::50 dev up0'],
      ],
    ],
    ['one family', { ips: sampleIps.slice(0, 1) }, [created, up, gateway4, ...pod4]],
  ] as const)
    t.strictSame(spellCommands(ptp(parts).host), expected, what)
  const fine = ptp().host.filter(({ existing }) => existing === 'fine')
  t.strictSame(
    spellCommands(fine),
    [gateway4, gateway6],
    'two pools may have one gateway; nothing else may exist',
  )
  t.end()
})

t.test('the pod', t => {
  const { link, addresses, routes } = ptp()
  t.strictSame(spellCommands(link), ['pod: link set dev eth0 up'])
  t.strictSame(spellCommands(addresses), [
    'pod: address add 10.22.0.50/16 dev eth0 noprefixroute',
    'pod: address add fd00:22::50/64 dev eth0 nodad noprefixroute',
  ])
  const ownRoutes = [
    'pod: route add 0.0.0.0/0 via 10.22.0.1 dev eth0',
    'pod: route add ::/0 via fd00:22::1 dev eth0',
  ]
  t.strictSame(spellCommands(routes), [
    // The gateway, then by it the rest of the subnet, then what the configuration says.
    'pod: neighbour replace 10.22.0.1 lladdr 0e:00:00:00:00:01 dev eth0 nud permanent',
    'pod: route add 10.22.0.1/32 dev eth0',
    'pod: route add 10.22.0.0/16 via 10.22.0.1 dev eth0 src 10.22.0.50',
    'pod: neighbour replace fd00:22::1 lladdr 0e:00:00:00:00:01 dev eth0 nud permanent',
    'pod: route add fd00:22::1/128 dev eth0',
    'pod: route add fd00:22::/64 via fd00:22::1 dev eth0 src fd00:22::50',
    ...ownRoutes,
  ])
  t.ok(
    routes.every(({ existing }) => existing === 'fine'),
    'two addresses of a subnet have one gateway',
  )
  const bare = ptp({ ips: [{ address: '10.22.0.50/16' }], wiring: { routes: [{ dst: '192.0.2.0/24' }] } })
  t.strictSame(spellCommands(bare.routes), ['pod: route add 192.0.2.0/24 dev eth0'], 'without a gateway')
  t.end()
})
