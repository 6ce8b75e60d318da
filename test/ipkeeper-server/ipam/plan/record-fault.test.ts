import t from 'tap'
import { isSoundEntry, isSoundRecord } from '../../../../ipkeeper-server/ipam/plan/record-fault.ts'
import type { HistoryEntry } from '../../../../ipkeeper-server/ipam/records/history-entry.ts'
import { toPoolRecord } from '../../../../ipkeeper-server/ipam/pools/pool-record.ts'
import { holderKey, leaseKey } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { holderRecord, lease, nodeRecord, poolRecord } from '../../../rigs/records.ts'
import { poolFrom } from '../../leases/test-service.ts'

const good = lease('10.0.0.2')
const key = leaseKey(good)
const holder = holderRecord({ attachment: null, leases: [{ segment: 'default', address: '10.0.0.2' }] })
const pool = poolRecord('net')

const sound = [
  ['lease', key, good],
  ['holder', holderKey(good.holder), holder],
  [
    'holder',
    '["container","net","c1","eth0"]',
    { ...holder, holder: { kind: 'container', network: 'net', containerId: 'c1', ifname: 'eth0' } },
  ],
  ['reservation', key, { ...good, namespace: 'shop', name: 'web-0', note: '' }],
  ['pool', 'net', pool],
  ['pool', 'net', toPoolRecord(poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64']), 1)],
  ['node', 'n2', nodeRecord('n2', { addresses: ['192.168.7.2'] })],
  ['quota', '["net","shop",4]', { generation: 3, pool: 'net', namespace: 'shop', family: 4 }],
  ['mac', '["default",2]', { generation: 3, segment: 'default', lastOctet: 2 }],
] as const

for (const [kind, under, record] of sound) {
  t.test(`sound: ${kind}`, t => {
    t.ok(isSoundRecord(kind, under, record))
    t.notOk(isSoundRecord(kind, `${under}x`, record), 'under another key')
    t.notOk(isSoundRecord(kind, under, { ...record, generation: '1' }), 'generation')
    t.notOk(isSoundRecord(kind, under, {}), 'empty')
    t.notOk(isSoundRecord(kind, under, null), 'null')
    t.notOk(isSoundRecord(kind, under, [1]), 'a list')
    t.notOk(isSoundRecord(kind, under, 'a text'), 'a text')
    t.end()
  })
}

const faults: readonly (readonly [name: string, patch: object])[] = [
  ['no address', { address: 'x' }],
  ['no state', { state: 'mine' }],
  ['bound to nothing', { attachment: null }],
  ['no holder', { holder: null }],
  ['half a holder', { holder: { kind: 'pod', network: 'net' } }],
  ['a number for a node', { node: 7 }],
]
for (const [name, patch] of faults) {
  t.test(`unsound lease: ${name}`, t => {
    t.notOk(isSoundRecord('lease', key, { ...good, ...patch }))
    t.end()
  })
}

t.test('other records that are found under their key, and cannot be worked with', t => {
  const rows = [
    ['a holder whose lease has no address', 'holder', holderKey(good.holder), { ...holder, leases: [{}] }],
    ['a holder of no address', 'holder', holderKey(good.holder), { ...holder, leases: [{ address: 'x' }] }],
    ['a reservation of no address', 'reservation', key, { generation: 1, segment: 'default', address: 'x' }],
    [
      'a pool of no subnet',
      'pool',
      'net',
      {
        ...pool,
        ranges: [[{ subnet: 'x', rangeStart: '10.0.0.1', rangeEnd: '10.0.0.9', gateway: '', exclude: [] }]],
      },
    ],
    [
      'a pool of no gateway',
      'pool',
      'net',
      {
        ...pool,
        ranges: [
          [
            {
              subnet: '10.0.0.0/24',
              rangeStart: '10.0.0.1',
              rangeEnd: '10.0.0.9',
              gateway: 'x',
              exclude: [],
            },
          ],
        ],
      },
    ],
  ] as const
  for (const [name, kind, under, record] of rows) t.notOk(isSoundRecord(kind, under, record), name)
  t.end()
})

t.test('entries of the history', t => {
  const entry = {
    event: 'held',
    segment: 'default',
    address: '10.0.0.2',
    at: 2,
    since: 1,
    holder: good.holder,
    until: null,
  } as unknown as HistoryEntry
  const rows: readonly (readonly [name: string, patch: object, sound: boolean])[] = [
    ['without an end', {}, true],
    ['with an end', { until: 3 }, true],
    ['with an end that is no time', { until: 'soon' }, false],
    ['of an event that nobody knows', { event: 'eaten' }, false],
    ['of no address', { address: 'x' }, false],
    ['of half a holder', { holder: { kind: 'container', network: 'net' } }, false],
    ['of no time', { at: '2' }, false],
  ]
  for (const [name, patch, sound] of rows) t.equal(isSoundEntry({ ...entry, ...patch }), sound, name)
  t.end()
})
