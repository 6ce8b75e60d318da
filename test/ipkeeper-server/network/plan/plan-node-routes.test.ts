import t from 'tap'
import {
  planNodeRoutes,
  type BoundAddress,
  type NodeRoutesView,
  type OwnLink,
} from '../../../../ipkeeper-server/network/plan/plan-node-routes.ts'

/** "10.22.0.70 n2": routed. "10.22.0.70 n2 link": on a link. A third word may name another segment as well. */
function bound(text: string): BoundAddress[] {
  return text
    .split(',')
    .filter(item => item !== '')
    .map(item => {
      const [address = '', node = '', ...more] = item.trim().split(' ')
      const segment = more.find(word => word !== 'link') ?? 'default'
      return { segment, address, node, isRouted: !more.includes('link') }
    })
}

const eth0: OwnLink = { name: 'eth0', up: true, addresses: ['10.30.0.11/24', 'fd00:30::11/64'] }
const bridge: OwnLink = { name: 'ipk0', up: true, addresses: ['10.22.0.1/16', 'fd00:22::1/64'] }
const wholeSubnet = (
  subnet: string,
  rangeStart: string,
  rangeEnd: string,
  gateway: string,
  segment = 'default',
) => ({
  ...{ segment, subnet, rangeStart, rangeEnd, gateway },
  exclude: [] as readonly (readonly [string, string])[],
})
const pods4 = wholeSubnet('10.22.0.0/16', '10.22.0.1', '10.22.255.254', '10.22.0.1')
const pods6 = wholeSubnet('fd00:22::/64', 'fd00:22::1', 'fd00:22::ffff:ffff:ffff:ffff', 'fd00:22::1')

const usual: Omit<NodeRoutesView, 'bound'> = {
  node: 'n1',
  nodes: new Map([
    ['n1', ['10.30.0.11', 'fd00:30::11']],
    ['n2', ['10.30.0.12', 'fd00:30::12']],
    ['n3', ['10.30.0.13', 'fd00:30::13']],
    ['far', ['192.0.2.9']],
  ]),
  links: [eth0, bridge],
  podBridges: new Set(),
  ranges: [pods4, pods6],
}

const two = '10.22.0.70 n2, 10.22.0.71 n2'

/** Each: what, the bound addresses, what is otherwise than usual, the routes. */
const cases: readonly (readonly [string, string, Partial<NodeRoutesView>, readonly string[]])[] = [
  ['nobody', '', {}, []],
  ['a stray', '10.22.0.70 n2', {}, ['10.22.0.70/32 via 10.30.0.12 dev eth0']],
  ['a stripe', two, {}, ['10.22.0.64/26 via 10.30.0.12 dev eth0']],
  [
    'the first stripe, with its network address and gateway',
    '10.22.0.2 n2, 10.22.0.3 n2',
    {},
    ['10.22.0.0/26 via 10.30.0.12 dev eth0'],
  ],
  [
    'the last stripe, with its broadcast address',
    '10.22.255.250 n2, 10.22.255.251 n2',
    {},
    ['10.22.255.192/26 via 10.30.0.12 dev eth0'],
  ],
  [
    'IPv6',
    'fd00:22::41 n2, fd00:22::42 n2, fd00:22::1:5 n3',
    {},
    ['fd00:22::40/122 via fd00:30::12 dev eth0', 'fd00:22::1:5/128 via fd00:30::13 dev eth0'],
  ],
  [
    'a stripe with a stray of another node',
    `${two}, 10.22.0.72 n3`,
    {},
    ['10.22.0.64/26 via 10.30.0.12 dev eth0', '10.22.0.72/32 via 10.30.0.13 dev eth0'],
  ],
  [
    'a stripe of as many of two nodes',
    `${two}, 10.22.0.72 n3, 10.22.0.73 n3`,
    {},
    [
      '10.22.0.64/26 via 10.30.0.12 dev eth0',
      '10.22.0.72/32 via 10.30.0.13 dev eth0',
      '10.22.0.73/32 via 10.30.0.13 dev eth0',
    ],
  ],
  ['own pods only', '10.22.0.70 n1, 10.22.0.71 n1', {}, []],
  [
    'an own pod in the stripe of another node',
    `${two}, 10.22.0.100 n1`,
    {},
    ['10.22.0.70/32 via 10.30.0.12 dev eth0', '10.22.0.71/32 via 10.30.0.12 dev eth0'],
  ],
  [
    'a pod on a link in the stripe',
    `${two}, 10.22.0.100 n3 link`,
    {},
    ['10.22.0.70/32 via 10.30.0.12 dev eth0', '10.22.0.71/32 via 10.30.0.12 dev eth0'],
  ],
  ['pods on links need no routes', '10.22.0.70 n2 link, 10.22.0.71 n2 link', {}, []],
  [
    'two segments in a stripe',
    `${two}, 10.22.0.72 n2 lab`,
    {},
    [
      '10.22.0.70/32 via 10.30.0.12 dev eth0',
      '10.22.0.71/32 via 10.30.0.12 dev eth0',
      '10.22.0.72/32 via 10.30.0.12 dev eth0',
    ],
  ],
  ['one address in two segments', `10.22.0.70 n2, 10.22.0.70 n3 lab`, {}, []],
  [
    'a pool that has only a part of the stripe',
    two,
    { ranges: [{ ...pods4, rangeStart: '10.22.0.70' }] },
    ['10.22.0.70/32 via 10.30.0.12 dev eth0', '10.22.0.71/32 via 10.30.0.12 dev eth0'],
  ],
  [
    'a pool that leaves out an address of the stripe',
    two,
    { ranges: [{ ...pods4, exclude: [['10.22.0.127', '10.22.0.130']] }] },
    ['10.22.0.70/32 via 10.30.0.12 dev eth0', '10.22.0.71/32 via 10.30.0.12 dev eth0'],
  ],
  [
    'no pool that is known',
    two,
    { ranges: [] },
    ['10.22.0.70/32 via 10.30.0.12 dev eth0', '10.22.0.71/32 via 10.30.0.12 dev eth0'],
  ],
  [
    'a pool cut from the network of the nodes',
    '10.30.0.20 n2, 10.30.0.21 n2, 10.30.0.70 n2, 10.30.0.71 n2',
    { ranges: [wholeSubnet('10.30.0.0/24', '10.30.0.1', '10.30.0.254', '10.30.0.1')] },
    [
      '10.30.0.20/32 via 10.30.0.12 dev eth0',
      '10.30.0.21/32 via 10.30.0.12 dev eth0',
      '10.30.0.64/26 via 10.30.0.12 dev eth0',
    ],
  ],
  ['a node of another network', '10.22.0.70 far, 10.22.0.71 far', {}, []],
  [
    'the most of a stripe are out of reach',
    `${two}, 10.22.0.72 far, 10.22.0.73 far, 10.22.0.74 far`,
    {},
    ['10.22.0.64/26 via 10.30.0.12 dev eth0'],
  ],
  ['a node that nobody knows', '10.22.0.70 n9', {}, []],
  ['no link that is up', two, { links: [{ ...eth0, up: false }] }, []],
  [
    'not by the bridge of the own pods',
    '10.22.0.70 n2',
    { nodes: new Map([['n2', ['10.22.0.9']]]), podBridges: new Set(['ipk0']) },
    [],
  ],
  [
    'the second address of a node is on the link',
    '10.22.0.70 n2',
    { nodes: new Map([['n2', ['192.0.2.2', '10.30.0.12']]]) },
    ['10.22.0.70/32 via 10.30.0.12 dev eth0'],
  ],
  ['never to an own address', '10.22.0.70 n2', { nodes: new Map([['n2', ['10.30.0.11']]]) }, []],
]

t.test('routes to pods of other nodes', t => {
  for (const [what, text, otherwise, routes] of cases) {
    const plan = planNodeRoutes({ ...usual, bound: bound(text), ...otherwise })
    t.strictSame(
      plan.routes.map(({ dst, via, dev }) => `${dst} via ${via} dev ${dev}`),
      routes,
      what,
    )
  }
  t.end()
})

t.test('two nodes never route a stripe to each other', t => {
  const addresses = bound(`${two}, 10.22.0.72 n1, 10.22.0.73 n1`)
  const linksOf = (last: number): OwnLink[] => [{ ...eth0, addresses: [`10.30.0.${last}/24`] }]
  for (const [node, last] of [
    ['n1', 11],
    ['n2', 12],
  ] as const) {
    const { routes } = planNodeRoutes({ ...usual, node, links: linksOf(last), bound: addresses })
    t.ok(routes.length === 2 && routes.every(({ dst }) => dst.endsWith('/32')), node)
  }
  t.match(planNodeRoutes({ ...usual, node: 'n3', links: linksOf(13), bound: addresses }).routes, [
    { dst: '10.22.0.64/26' },
    {},
    {},
  ])
  t.end()
})

t.test('what cannot be reached is said', t => {
  const { unreached } = planNodeRoutes({
    ...usual,
    bound: bound('10.22.0.70 far, 10.22.9.71 far, 10.22.0.72 n9, fd00:22::5 far'),
  })
  t.strictSame(unreached, [
    { node: 'far', family: 4, addresses: 2, why: 'no link is shared with the node' },
    { node: 'n9', family: 4, addresses: 1, why: 'no address of the node is known' },
    { node: 'far', family: 6, addresses: 1, why: 'no address of the node is known' },
  ])
  t.end()
})

t.test('where the node answers for pods of other nodes', t => {
  const podBridges = new Set(['ipk0'])
  for (const [what, text, answering] of [
    [
      'pods of the same subnet',
      `${two}, fd00:22::41 n2`,
      [{ bridge: 'ipk0', ipv4: true, ipv6: ['fd00:22::41'] }],
    ],
    ['of IPv6 alone', 'fd00:22::41 n2', [{ bridge: 'ipk0', ipv4: false, ipv6: ['fd00:22::41'] }]],
    ['not for own ones', '10.22.0.70 n1', []],
    ['nor for those that cannot be reached', '10.22.0.70 far', []],
    ['nor for those that pods ask their gateway for', '10.99.0.1 n2', []],
  ] as const) {
    t.strictSame(planNodeRoutes({ ...usual, podBridges, bound: bound(text) }).answering, answering, what)
  }
  t.end()
})
