import t from 'tap'
import type { WiringRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import {
  compareWiring,
  type KernelLink,
  type SeenRoute,
  type SeenWiring,
} from '../../../../ipkeeper-server/network/plan/compare-wiring.ts'
import { sampleIps, sampleWiring } from './sample-job.ts'

const addresses = sampleIps.map(({ address }) => address)
const route = (dst: string, gw?: string, more: Partial<SeenRoute> = {}): SeenRoute => ({
  ...{ dst, gw, dev: 'eth0', table: 254, priority: 0 },
  ...more,
})
const podLink: KernelLink = { kind: 'veth', mac: sampleWiring.mac, up: true, master: undefined, addresses }
const hostLink: KernelLink = { ...podLink, mac: '0e:00:00:00:00:01', master: 'ipk0', addresses: [] }
const whole: SeenWiring = {
  podLink,
  podRoutes: [route('0.0.0.0/0', '10.22.0.1'), route('::/0', 'fd00:22::1', { priority: 1024 })],
  hostLink,
  hostRoutes: [route('10.22.0.50/32'), route('fd00:22::50/128')],
}
const ptp: Partial<WiringRecord> = { mode: 'ptp', master: null }
const macvlan: Partial<WiringRecord> = { mode: 'macvlan', master: 'up0', hostLink: null }

interface Row {
  readonly what: string
  readonly wiring?: Partial<WiringRecord>
  readonly mac?: string
  readonly seen?: Partial<SeenWiring>
  readonly expected: readonly string[]
}

const rows: readonly Row[] = [
  { what: 'all as it was made', expected: [] },
  { what: 'ptp, too', wiring: ptp, seen: { hostLink: { ...hostLink, master: undefined } }, expected: [] },
  {
    what: 'and macvlan',
    wiring: macvlan,
    seen: { podLink: { ...podLink, kind: 'macvlan' }, hostLink: undefined, hostRoutes: [] },
    expected: [],
  },
  {
    what: 'what later plugins add is nobody’s fault',
    seen: {
      podLink: { ...podLink, addresses: [...addresses, '192.0.2.7/24'] },
      podRoutes: [
        ...whole.podRoutes,
        route('198.51.100.0/24'),
        route('0.0.0.0/0', '192.0.2.1', { table: 99 }),
      ],
    },
    expected: [],
  },
  { what: 'no interface', seen: { podLink: undefined }, expected: ['the pod has no interface eth0'] },
  {
    what: 'another interface of that name: nothing else of it matters',
    seen: { podLink: { ...podLink, kind: '', mac: '', addresses: [] } },
    expected: ['eth0 of the pod is a plain link, not veth'],
  },
  {
    what: 'a veth where a macvlan was',
    wiring: macvlan,
    seen: { hostLink: undefined },
    expected: ['eth0 of the pod is veth, not macvlan'],
  },
  {
    what: 'another MAC',
    seen: { podLink: { ...podLink, mac: '02:00:00:00:00:99' } },
    expected: ['eth0 has MAC 02:00:00:00:00:99, not 0a:58:0a:16:00:32'],
  },
  {
    what: 'the MAC that a later plugin told',
    mac: '02:00:00:00:00:99',
    seen: { podLink: { ...podLink, mac: '02:00:00:00:00:99' } },
    expected: [],
  },
  { what: 'down', seen: { podLink: { ...podLink, up: false } }, expected: ['eth0 is down'] },
  {
    what: 'an address with another prefix is another address',
    seen: { podLink: { ...podLink, addresses: ['10.22.0.50/24'] } },
    expected: ['eth0 has no address 10.22.0.50/16', 'eth0 has no address fd00:22::50/64'],
  },
  {
    what: 'routes that are gone',
    seen: { podRoutes: [] },
    expected: ['the pod has no route 0.0.0.0/0 via 10.22.0.1', 'the pod has no route ::/0 via fd00:22::1'],
  },
  {
    what: 'an earlier interface of the pod has the default route',
    seen: {
      podRoutes: [
        route('0.0.0.0/0', '10.9.0.1', { dev: 'net0' }),
        route('::/0', 'fd00:9::1', { dev: 'net0', priority: 1024 }),
      ],
    },
    expected: [],
  },
  {
    what: 'one of another metric is a route beside ours',
    seen: {
      podRoutes: [
        route('0.0.0.0/0', '10.9.0.1', { dev: 'net0', priority: 100 }),
        route('::/0', 'fd00:9::1', { dev: 'net0', priority: 256 }),
      ],
    },
    expected: ['the pod has no route 0.0.0.0/0 via 10.22.0.1', 'the pod has no route ::/0 via fd00:22::1'],
  },
  {
    what: 'an earlier one of the metric that was asked for, and one of the standard metric',
    wiring: {
      routes: [
        { dst: '192.0.2.0/24', priority: 5 },
        { dst: '198.51.100.0/24', priority: 5 },
      ],
    },
    seen: {
      podRoutes: [
        route('192.0.2.0/24', undefined, { dev: 'net0', priority: 5 }),
        route('198.51.100.0/24', undefined, { dev: 'net0' }),
      ],
    },
    expected: ['the pod has no route 198.51.100.0/24 metric 5'],
  },
  {
    what: 'table 0 is the main one',
    wiring: { routes: [{ dst: '192.0.2.0/24', table: 0 }] },
    seen: { podRoutes: [route('192.0.2.0/24')] },
    expected: [],
  },
  {
    what: 'also where an earlier interface has the route',
    wiring: { routes: [{ dst: '192.0.2.0/24', table: 0 }] },
    seen: { podRoutes: [route('192.0.2.0/24', undefined, { dev: 'net0' })] },
    expected: [],
  },
  {
    what: 'a route by another gateway, and one in another table',
    seen: { podRoutes: [route('0.0.0.0/0', '10.22.0.9'), route('::/0', 'fd00:22::1', { table: 99 })] },
    expected: ['the pod has no route 0.0.0.0/0 via 10.22.0.1', 'the pod has no route ::/0 via fd00:22::1'],
  },
  {
    what: 'numbers that were asked for',
    wiring: { routes: [{ dst: '192.0.2.0/24', scope: 253, table: 7, priority: 5 }] },
    seen: { podRoutes: [route('192.0.2.0/24', undefined, { table: 7, priority: 6 })] },
    expected: ['the pod has no route 192.0.2.0/24 table 7 metric 5'],
  },
  {
    what: 'and that are there',
    wiring: { routes: [{ dst: '192.0.2.0/24', table: 7, priority: 5 }] },
    seen: { podRoutes: [route('192.0.2.0/24', undefined, { table: 7, priority: 5 })] },
    expected: [],
  },
  {
    what: "the host's side is gone",
    seen: { hostLink: undefined },
    expected: ['the host has no link ipk000000000001'],
  },
  {
    what: 'it is down and no port',
    seen: { hostLink: { ...hostLink, up: false, master: undefined } },
    expected: ['ipk000000000001 of the host is down', 'ipk000000000001 is no port of bridge ipk0'],
  },
  {
    what: 'a port of another bridge',
    seen: { hostLink: { ...hostLink, master: 'cni0' } },
    expected: ['ipk000000000001 is a port of cni0, not of bridge ipk0'],
  },
  {
    what: 'routes of the host are of interest in ptp only',
    seen: { hostRoutes: [] },
    expected: [],
  },
  {
    what: 'and are whole addresses there',
    wiring: ptp,
    seen: { hostRoutes: [route('10.22.0.50/31'), route('10.22.0.5/32'), route('fd00:22::50/64')] },
    expected: [
      'the host has no route to 10.22.0.50 by ipk000000000001',
      'the host has no route to fd00:22::50 by ipk000000000001',
    ],
  },
  {
    what: 'all that can be wrong, in one list',
    wiring: ptp,
    seen: {
      podLink: { ...podLink, mac: '02:00:00:00:00:99', up: false, addresses: [] },
      ...{ podRoutes: [], hostLink: undefined, hostRoutes: [] },
    },
    expected: [
      ...['eth0 has MAC 02:00:00:00:00:99, not 0a:58:0a:16:00:32', 'eth0 is down'],
      ...['eth0 has no address 10.22.0.50/16', 'eth0 has no address fd00:22::50/64'],
      ...['the pod has no route 0.0.0.0/0 via 10.22.0.1', 'the pod has no route ::/0 via fd00:22::1'],
      'the host has no link ipk000000000001',
      'the host has no route to 10.22.0.50 by ipk000000000001',
      'the host has no route to fd00:22::50 by ipk000000000001',
    ],
  },
]

t.test('differences', t => {
  for (const { what, wiring, mac = sampleWiring.mac, seen, expected } of rows)
    t.strictSame(
      compareWiring(
        { ifname: 'eth0', wiring: { ...sampleWiring, ...wiring }, addresses, mac },
        { ...whole, ...seen },
      ),
      expected,
      what,
    )
  t.end()
})
