import t from 'tap'
import {
  cidrOf,
  isAddressed,
  later,
  moveAddressing,
  readAddressing,
  returning,
  type HostAddressing,
} from '../../../../ipkeeper-server/network/plan/host-addressing.ts'
import { typed } from './example-job.ts'

const forever = 4_294_967_295

/** What `ip -json -N -details` tells of one address; forever, unless told otherwise. */
const inet = (more: object): object => ({
  ...{ family: 'inet', prefixlen: 24, scope: '0', label: 'eth1' },
  ...{ valid_life_time: forever, preferred_life_time: forever },
  ...more,
})
const inet6 = (more: object): object => inet({ family: 'inet6', prefixlen: 64, label: undefined, ...more })
const route = (more: object): object => ({
  ...{ type: '1', dst: 'default', gateway: '10.30.0.1', dev: 'eth1' },
  ...{ table: '254', protocol: '3', scope: '0', flags: [] },
  ...more,
})

const read = (
  addresses: readonly object[],
  routes4: readonly object[] = [],
  routes6: readonly object[] = [],
): ReturnType<typeof readAddressing> =>
  readAddressing('eth1', { addresses: [{ ifname: 'eth1', addr_info: addresses }], routes4, routes6 })

/** The commands that move it, without their place and program. */
const moved = ({ addressing }: ReturnType<typeof readAddressing>): readonly string[] =>
  typed(moveAddressing(addressing, 'eth1', 'br0')).map(line => line.replace('host: ip ', ''))

t.test('addresses', t => {
  const cases: readonly (readonly [shown: object, commands: readonly string[], gone?: string])[] = [
    [inet({ local: '10.30.0.11' }), ['address add 10.30.0.11/24 dev br0 scope 0']],
    [
      inet({ local: '10.30.0.11', label: 'eth1:x', broadcast: '10.30.0.255' }),
      ['address add 10.30.0.11/24 dev br0 broadcast 10.30.0.255 label br0:x scope 0'],
    ],
    [
      inet({ local: '10.30.0.11', label: 'eth1:abcdefghijkl' }),
      ['address add 10.30.0.11/24 dev br0 scope 0'],
    ],
    [
      inet({ local: '10.30.0.11', valid_life_time: 600, preferred_life_time: 300, noprefixroute: true }),
      ['address add 10.30.0.11/24 dev br0 scope 0 valid_lft 600 preferred_lft 300 noprefixroute'],
    ],
    [
      inet({ local: '10.30.0.11', preferred_life_time: 0, metric: 50 }),
      ['address add 10.30.0.11/24 dev br0 scope 0 metric 50 preferred_lft 0'],
    ],
    [
      inet({ local: '10.40.0.1', address: '10.40.0.2', prefixlen: 32 }),
      ['address add 10.40.0.1 peer 10.40.0.2/32 dev br0 scope 0'],
      '10.40.0.1 peer 10.40.0.2/32',
    ],
    [inet6({ local: 'fd00::11', nodad: true }), ['address add fd00::11/64 dev br0 scope 0 nodad']],
    [
      inet6({ local: 'fd00::11', mngtmpaddr: true, valid_life_time: 9 }),
      [
        'address add fd00::11/64 dev br0 scope 0 valid_lft 9 preferred_lft forever mngtmpaddr nodad',
        'address change fd00::11/64 dev br0 scope 0 valid_lft 9 preferred_lft forever mngtmpaddr',
      ],
    ],
  ]
  for (const [shown, commands, gone] of cases) {
    const found = read([shown])
    const [address] = found.addressing.addresses
    t.same(moved(found), [...commands, `address delete ${gone ?? cidrOf(address!)} dev eth1`])
  }
  t.end()
})

t.test('in the order in which the kernel will show them again, and gone from the last to the first', t => {
  const found = read([
    ...['10.30.0.1', '10.30.0.2'].map(local => inet({ local })),
    ...['fd00::2', 'fd00::1'].map(local => inet6({ local, nodad: true })),
  ])
  t.same(
    moved(found).map(line => line.split(' ').slice(1, 3).join(' ')),
    [
      ...['add 10.30.0.1/24', 'add 10.30.0.2/24', 'add fd00::1/64', 'add fd00::2/64'],
      ...['delete fd00::2/64', 'delete fd00::1/64', 'delete 10.30.0.2/24', 'delete 10.30.0.1/24'],
    ],
  )
  t.end()
})

t.test('routes', t => {
  const cases: readonly (readonly [family: 4 | 6, shown: object, commands: readonly string[]])[] = [
    [4, route({}), ['route replace unicast 0.0.0.0/0 via 10.30.0.1 dev br0 table 254 proto 3 scope 0']],
    [
      4,
      route({ metric: 100, protocol: '16', prefsrc: '10.30.0.11', tos: '0x08' }),
      [
        'route replace unicast 0.0.0.0/0 via 10.30.0.1 dev br0 table 254 proto 16 scope 0 tos 0x08 metric 100 src 10.30.0.11',
      ],
    ],
    [
      4,
      route({ dst: '10.9.0.0/16', table: '77', flags: ['onlink'], metrics: [{ mtu: 1400, rto_min: 200 }] }),
      [
        'route replace unicast 10.9.0.0/16 via 10.30.0.1 dev br0 onlink table 77 proto 3 scope 0 mtu 1400 rto_min 200ms',
      ],
    ],
    [
      4,
      route({ dst: '10.9.0.0/16', gateway: undefined, via: { family: 'inet6', host: 'fe80::1' } }),
      ['route replace unicast 10.9.0.0/16 via inet6 fe80::1 dev br0 table 254 proto 3 scope 0'],
    ],
    [
      4,
      route({
        ...{ dst: '10.9.0.0/16', gateway: undefined, dev: undefined },
        nexthops: [
          { gateway: '10.30.0.1', dev: 'eth1', weight: 2, flags: [] },
          { gateway: '192.0.2.1', dev: 'eth2', weight: 1, flags: [] },
        ],
      }),
      [
        'route replace unicast 10.9.0.0/16 table 254 proto 3 scope 0 nexthop via 10.30.0.1 dev br0 weight 2 nexthop via 192.0.2.1 dev eth2 weight 1',
      ],
    ],
    [
      6,
      route({ gateway: 'fe80::1', protocol: '9', metric: 1024, expires: 600, pref: 'high' }),
      [
        'route replace unicast ::/0 via fe80::1 dev br0 table 254 proto 9 metric 1024 pref high expires 600',
        'route delete ::/0 dev eth1 table 254 metric 1024',
      ],
    ],
  ]
  for (const [family, shown, commands] of cases) {
    const found = family === 4 ? read([], [shown]) : read([], [], [shown])
    t.same(found.unmovable, [])
    t.same(moved(found), commands)
  }
  t.end()
})

t.test('what is on the link itself comes before what is behind a gateway of it', t => {
  const { addressing } = read(
    [],
    [route({}), route({ dst: '10.52.0.0/16', gateway: undefined, scope: '253' })],
  )
  t.same(
    moveAddressing(addressing, 'eth1', 'br0').map(({ words }) => words[3]),
    ['10.52.0.0/16', '0.0.0.0/0'],
  )
  t.end()
})

t.test("what is of another link, or the kernel's own, is left alone", t => {
  const found = read(
    [],
    [route({ dev: 'eth2' }), route({ dst: '10.30.0.0/24', protocol: '2' })],
    [route({ dst: 'ff00::/8', type: '5', table: '255', protocol: '2' })],
  )
  t.same(found, { addressing: { addresses: [], routes: [] }, unmovable: [] })
  t.same(readAddressing('eth1', { addresses: [], routes4: [], routes6: [] }), found, 'no such link')
  t.end()
})

t.test('what cannot be said to ip again is named', t => {
  for (const [more, why] of [
    [{ nhid: 7 }, 'uses a nexthop object'],
    [{ encap: 'mpls' }, 'has an encapsulation'],
    [{ type: '3' }, 'is of type 3'],
    [{ metrics: [{ congctl: 'reno' }] }, 'has congctl'],
  ] as const) {
    const { addressing, unmovable } = read([], [route({ dst: '10.9.0.0/16', ...more })])
    t.same(unmovable, [`route 10.9.0.0/16 ${why}`])
    t.same(addressing.routes, [])
  }
  t.end()
})

t.test('whether a host uses a link', t => {
  const linkLocal = inet6({ local: 'fe80::1', scope: '253' })
  t.notOk(isAddressed(read([]).addressing))
  t.notOk(isAddressed(read([linkLocal]).addressing), 'every link has one of those')
  t.ok(isAddressed(read([linkLocal, inet({ local: '10.30.0.11' })]).addressing))
  t.ok(isAddressed(read([inet({ local: '169.254.1.1', scope: '253' })]).addressing))
  t.ok(isAddressed(read([], [route({})]).addressing))
  t.end()
})

t.test('a while later', t => {
  const { addressing } = read(
    [
      inet({ local: '10.30.0.1' }),
      inet({ local: '10.30.0.2', valid_life_time: 600, preferred_life_time: 60 }),
      inet({ local: '10.30.0.3', valid_life_time: 90, preferred_life_time: 60 }),
    ],
    [],
    [route({ gateway: 'fe80::1', expires: 90 })],
  )
  const { addresses, routes } = later(addressing, 100)
  t.match(addresses, [
    { local: '10.30.0.1', validFor: null, preferredFor: null },
    { local: '10.30.0.2', validFor: 500, preferredFor: 0 },
  ])
  t.equal(addresses.length, 2, 'what ran out is gone')
  t.same(routes, [])
  t.end()
})

t.test('what returns to a link', t => {
  const before = read(
    [inet({ local: '10.30.0.1', label: 'eth1:x' }), inet({ local: '10.30.0.2' })],
    [route({})],
  ).addressing
  const present: HostAddressing = readAddressing('br0', {
    addresses: [
      {
        addr_info: [
          inet({ local: '10.30.0.254', label: 'br0' }),
          inet({ local: '10.30.0.7', label: 'br0' }),
          inet({ local: '10.30.0.1', label: 'br0', valid_life_time: 60, preferred_life_time: 60 }),
          inet6({ local: 'fe80::9', scope: '253' }),
        ],
      },
    ],
    routes4: [route({ dev: 'br0' }), route({ dev: 'br0', dst: '10.60.0.0/16' })],
    routes6: [],
  }).addressing
  const shown = ({ addresses, routes }: HostAddressing): unknown => [
    addresses.map(({ local, label, validFor }) => [local, label, validFor]),
    routes.map(({ dst }) => dst),
  ]
  t.same(
    shown(returning(before, present, address => address === '10.30.0.254')),
    [
      [
        ['10.30.0.1', 'eth1:x', 60],
        ['10.30.0.7', 'br0', null],
      ],
      ['default', '10.60.0.0/16'],
    ],
    'of a bridge that goes: all but its own; what was taken from the bridge meanwhile stays gone',
  )
  t.same(
    shown(returning(before, present, 'the rest')),
    [[['10.30.0.1', 'eth1:x', 60]], ['default']],
    'of a bridge that stays: what came from the link',
  )
  t.end()
})
