import t from 'tap'
import { mapView } from '../../../../../ipkeeper-server/http/page/client/map-view.ts'
import type { MapAddress, MapCounts, PoolMapReply } from '../../../../../shared/api/map.schema.ts'
import type { LeaseItem } from '../../../../../shared/api/listing.schema.ts'

const counts = (some: Partial<MapCounts> = {}): MapCounts => ({
  ...{ bound: 0, held: 0, cooling: 0, aside: 0, reserved: 0, free: 0, unusable: 0 },
  ...some,
})

const reply = (some: Partial<PoolMapReply>): PoolMapReply => ({
  ...{ pool: 'net', segment: 'default', within: '10.22.3.0/24', counts: counts({ free: 256 }) },
  ranges: [
    {
      subnet: '10.22.0.0/16',
      first: '10.22.0.1',
      last: '10.22.255.254',
      gateway: '10.22.0.1',
      view: '10.22.0.0/16',
    },
  ],
  ...{ detail: 'addresses', whole: true, blocks: [], addresses: [] },
  ...some,
})

const lease: LeaseItem = {
  ...{ address: '10.22.3.7', prefixLength: 16, segment: 'default', pool: 'net', network: 'net' },
  ...{ containerId: '3f2a91c0d1e2aaaa', ifname: 'eth0', owner: null, node: 'n1', source: 'dynamic' },
  pod: { namespace: 'shop', name: 'web-0', uid: null },
  ...{ state: 'bound', retain: 'release', mac: null, since: '2026-01-01T00:00:00.000Z', until: null },
}

const address = (some: Partial<MapAddress>): MapAddress => ({
  ...{ address: '10.22.3.7', state: 'bound', why: null, lease: null, reservation: null },
  ...some,
})

t.test('addresses: what is not told is free', t => {
  const { grid, table, heading, path } = mapView(
    reply({
      addresses: [
        address({ lease }),
        address({ address: '10.22.3.8', lease: { ...lease, pod: null } }),
        address({ address: '10.22.3.9', state: 'unusable', why: 'excluded' }),
        address({
          ...{ address: '10.22.3.10', state: 'held' },
          lease: { ...lease, state: 'held', containerId: null, until: '2026-01-01T01:00:00.000Z' },
          reservation: {
            ...{ segment: 'default', address: '10.22.3.10', owner: 'shop/web-0', note: '' },
            since: '2026-01-01T00:00:00.000Z',
          },
        }),
      ],
    }),
  )
  t.equal(heading, 'Map of pool net')
  t.strictSame(
    path.map(({ text, current }) => `${text}${current ? ' *' : ''}`),
    ['10.22.0.0/16', '10.22.3.0/24 *'],
  )
  t.equal(grid?.length, 256)
  t.strictSame(
    grid?.slice(6, 11).map(({ label, sign, state, says }) => [label, sign, state, says]),
    [
      ['6', '\u00b7', 'free', '10.22.3.6: free'],
      ['7', 'L', 'bound', '10.22.3.7: leased, to shop/web-0, since 2026-01-01 00:00:00 UTC'],
      ['8', 'L', 'bound', '10.22.3.8: leased, to container 3f2a91c0d1e2a, since 2026-01-01 00:00:00 UTC'],
      ['9', '\u00d7', 'unusable', '10.22.3.9: never given, excluded'],
      [
        ...['10', 'H', 'held'],
        '10.22.3.10: held, last of shop/web-0, since 2026-01-01 00:00:00 UTC, until 2026-01-01 01:00:00 UTC, reserved for shop/web-0',
      ],
    ],
  )
  t.strictSame(grid?.[7]?.route, { pool: 'net', within: '10.22.3.0/24', address: '10.22.3.7' })
  t.strictSame(
    table.rows.map(({ cells }) => cells[1]),
    ['leased', 'leased', 'never given: excluded', 'held'],
  )
  t.end()
})

t.test('IPv6 addresses are told apart by their last two digits', t => {
  const { grid } = mapView(reply({ within: 'fd00:22::ab00/120' }))
  t.strictSame(
    [0, 1, 15, 16, 255].map(index => grid?.[index] && `${grid[index].key} ${grid[index].label}`),
    ['fd00:22::ab00 00', 'fd00:22::ab01 01', 'fd00:22::ab0f 0f', 'fd00:22::ab10 10', 'fd00:22::abff ff'],
  )
  t.strictSame(
    mapView(reply({ within: 'fd00:22::/120' }))
      .grid?.slice(0, 2)
      .map(({ label }) => label),
    ['0', '1'],
  )
  t.end()
})

t.test('blocks: how many are taken, in figures and in quarters', t => {
  const block = (cidr: string, some: Partial<MapCounts>) => ({ cidr, counts: counts(some) })
  const { grid, table } = mapView(
    reply({
      ...{ within: '10.22.0.0/16', detail: 'blocks' },
      blocks: [
        block('10.22.0.0/24', { free: 254, unusable: 2 }),
        block('10.22.1.0/24', { bound: 1, free: 255 }),
        block('10.22.2.0/24', { held: 64, reserved: 64, free: 128 }),
        block('10.22.3.0/24', { bound: 256 }),
      ],
    }),
  )
  t.strictSame(
    grid?.map(({ label, sign, level, says }) => [label, sign, level, says]),
    [
      ['0', '\u00b7', 0, '10.22.0.0/24: 254 free, 2 never given'],
      ['1', '1', 1, '10.22.1.0/24: 1 leased, 255 free'],
      ['2', '128', 2, '10.22.2.0/24: 64 held, 64 reserved, 128 free'],
      ['3', '256', 4, '10.22.3.0/24: 256 leased'],
    ],
  )
  t.strictSame(
    table.rows.map(({ key }) => key),
    ['10.22.1.0/24', '10.22.2.0/24', '10.22.3.0/24'],
  )
  t.end()
})

t.test('where only some blocks are told there is no grid', t => {
  const { grid, table, legend } = mapView(
    reply({
      ...{ within: 'fd00:22::/64', detail: 'blocks', whole: false },
      counts: counts({ bound: 1, free: '18446744073709551615' }),
      blocks: [{ cidr: 'fd00:22::/120', counts: counts({ bound: 1, free: 255 }) }],
    }),
  )
  t.equal(grid, null)
  t.strictSame(
    table.rows.map(({ cells }) => cells),
    [['fd00:22::/120', '1', '0', '0', '0', '0', '255']],
  )
  t.equal(legend.find(({ state }) => state === 'free')?.count, '18,446,744,073,709,551,615')
  t.end()
})
