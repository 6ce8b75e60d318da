import t from 'tap'
import { podRoutes, routeCommand } from '../../../../ipkeeper-server/network/plan/pod-routes.ts'
import type { ResultAddress, ResultRoute } from '../../../../shared/cni/result.ts'
import { sampleIps, spellCommands } from './sample-job.ts'

const [v4, v6] = sampleIps
const plain = { defaultRoute: false, serviceCidrs: [] }

interface Row {
  readonly what: string
  readonly config?: Partial<Parameters<typeof podRoutes>[0]>
  readonly ips?: readonly ResultAddress[]
  readonly routes?: readonly ResultRoute[]
  readonly nodeGateway?: (ipv6: boolean) => string | undefined
  readonly expected: readonly ResultRoute[]
}

const rows: readonly Row[] = [
  { what: 'none', expected: [] },
  {
    what: 'each gets the gateway of its family',
    routes: [{ dst: '192.0.2.0/24' }, { dst: '2001:db8::/32' }],
    expected: [
      { dst: '192.0.2.0/24', gw: '10.22.0.1' },
      { dst: '2001:db8::/32', gw: 'fd00:22::1' },
    ],
  },
  {
    what: 'one that has a gateway keeps it, and every number',
    routes: [
      { dst: '192.0.2.0/24', gw: '10.22.0.9', priority: 5, table: 7, mtu: 1400, advmss: 1360, scope: 0 },
    ],
    expected: [
      { dst: '192.0.2.0/24', gw: '10.22.0.9', priority: 5, table: 7, mtu: 1400, advmss: 1360, scope: 0 },
    ],
  },
  {
    what: 'scope "link" has none; any other scope does',
    routes: [
      { dst: '192.0.2.0/24', scope: 253 },
      { dst: '198.51.100.0/24', scope: 0 },
    ],
    expected: [
      { dst: '192.0.2.0/24', scope: 253 },
      { dst: '198.51.100.0/24', scope: 0, gw: '10.22.0.1' },
    ],
  },
  {
    what: 'without a gateway there is none to give',
    ips: [{ address: '10.22.0.50/16' }],
    config: { defaultRoute: true },
    routes: [{ dst: '192.0.2.0/24' }],
    expected: [{ dst: '192.0.2.0/24' }, { dst: '0.0.0.0/0' }],
  },
  {
    what: 'of two addresses of a family the gateway of the first counts',
    ips: [v4, { address: '10.23.0.7/24', gateway: '10.23.0.1' }],
    routes: [{ dst: '192.0.2.0/24' }],
    expected: [{ dst: '192.0.2.0/24', gw: '10.22.0.1' }],
  },
  {
    what: 'default routes of both families',
    config: { defaultRoute: true },
    expected: [
      { dst: '0.0.0.0/0', gw: '10.22.0.1' },
      { dst: '::/0', gw: 'fd00:22::1' },
    ],
  },
  {
    what: 'a default route only where there is none',
    config: { defaultRoute: true },
    routes: [{ dst: '0.0.0.0/0', gw: '10.22.0.9' }],
    expected: [
      { dst: '0.0.0.0/0', gw: '10.22.0.9' },
      { dst: '::/0', gw: 'fd00:22::1' },
    ],
  },
  {
    what: 'no default route of a family without an address',
    config: { defaultRoute: true },
    ips: [v6],
    expected: [{ dst: '::/0', gw: 'fd00:22::1' }],
  },
  {
    what: 'routes of a family without an address are dropped',
    ips: [v4],
    routes: [{ dst: '2001:db8::/32', gw: 'fd00:22::9' }, { dst: '192.0.2.0/24' }, { dst: '::/0' }],
    expected: [{ dst: '192.0.2.0/24', gw: '10.22.0.1' }],
  },
  {
    what: 'services by the gateway of the pool, after the other routes',
    config: { defaultRoute: true, serviceCidrs: ['10.96.0.0/12', 'fd00:96::/108'] },
    expected: [
      { dst: '0.0.0.0/0', gw: '10.22.0.1' },
      { dst: '::/0', gw: 'fd00:22::1' },
      { dst: '10.96.0.0/12', gw: '10.22.0.1' },
      { dst: 'fd00:96::/108', gw: 'fd00:22::1' },
    ],
  },
  {
    what: 'services by the node, where the gateway is another machine',
    config: { serviceCidrs: ['10.96.0.0/12', 'fd00:96::/108'] },
    nodeGateway: ipv6 => (ipv6 ? 'fd00:22::7' : '10.22.0.7'),
    expected: [
      { dst: '10.96.0.0/12', gw: '10.22.0.7' },
      { dst: 'fd00:96::/108', gw: 'fd00:22::7' },
    ],
  },
  {
    what: 'services of a family without an address, whose node is not even asked for',
    config: { serviceCidrs: ['10.96.0.0/12', 'fd00:96::/108'] },
    ips: [v4],
    nodeGateway: ipv6 => {
      if (ipv6) throw new Error('there is none')
      return '10.22.0.7'
    },
    expected: [{ dst: '10.96.0.0/12', gw: '10.22.0.7' }],
  },
  {
    what: 'services that the routes have already',
    config: { serviceCidrs: ['10.96.0.0/12'] },
    routes: [{ dst: '10.96.0.0/12', gw: '10.22.0.9' }],
    nodeGateway: () => '10.22.0.7',
    expected: [{ dst: '10.96.0.0/12', gw: '10.22.0.9' }],
  },
]

t.test('routes of a pod', t => {
  for (const { what, config, ips = sampleIps, routes = [], nodeGateway, expected } of rows)
    t.strictSame(podRoutes({ ...plain, ...config }, ips, routes, nodeGateway), expected, what)
  t.end()
})

t.test('the command of a route', t => {
  for (const [route, words] of [
    [{ dst: '0.0.0.0/0', gw: '10.22.0.1' }, 'pod: route add 0.0.0.0/0 via 10.22.0.1 dev eth0'],
    [{ dst: '192.0.2.0/24', scope: 253 }, 'pod: route add 192.0.2.0/24 dev eth0 scope 253'],
    [
      { dst: '2001:db8::/32', gw: 'fd00:22::7', priority: 0, table: 100, scope: 0, mtu: 1400, advmss: 1360 },
      'pod: route add 2001:db8::/32 via fd00:22::7 dev eth0 metric 0 table 100 scope 0 mtu 1400 advmss 1360',
    ],
  ] as const) {
    const command = routeCommand(route, 'eth0')
    t.strictSame(spellCommands([command]), [words])
    t.equal(command.existing, 'fine', 'one that is there wins')
    t.equal(command.missing, undefined)
  }
  t.equal(
    routeCommand({ dst: '0.0.0.0/0', gw: '10.22.0.1' }, 'eth0').about,
    'add route 0.0.0.0/0 via 10.22.0.1 to eth0',
  )
  t.end()
})
