import t from 'tap'
import type { JsonObject } from '../../../../shared/json/fold.ts'
import type {
  HolderRecord,
  LeaseRecord,
  NodeRecord,
  PoolRecord,
  ReservationRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { readPoolSpec } from '../../../../ipkeeper-server/config/read-pool-object.ts'
import { holderSpec, readHolder } from '../../../../ipkeeper-server/store/kubernetes/holder-object.ts'
import { leaseSpec, readLease } from '../../../../ipkeeper-server/store/kubernetes/lease-object.ts'
import { nodeSpec, readNode } from '../../../../ipkeeper-server/store/kubernetes/node-object.ts'
import { poolSpec, readPoolObject } from '../../../../ipkeeper-server/store/kubernetes/pool-object.ts'
import {
  readApiRecord,
  UnreadableObject,
  type ApiRecord,
} from '../../../../ipkeeper-server/store/kubernetes/read-object.ts'
import {
  readReservations,
  reservationSpec,
} from '../../../../ipkeeper-server/store/kubernetes/reservation-object.ts'
import { holderRecord, lease, nodeRecord, reservationRecord } from '../../../rigs/records.ts'

const since = 1_700_000_000_123

/** As the API gives it back: through JSON, with its own keys. */
const stored = (spec: object, metadata: object = {}): ApiRecord => {
  const object = {
    metadata: { name: 'prod', uid: 'u', resourceVersion: '7', generation: 4, ...metadata },
    spec,
  }
  const record = readApiRecord(JSON.parse(JSON.stringify(object)) as JsonObject)
  if (!record) throw new Error('no object')
  return record
}

const readPool = (name: string, spec: JsonObject) =>
  readPoolSpec(name, spec, { retention: 'release', cooldown: 0, preferFor: 0 }).pool

const least = lease('10.22.0.5', 3, {
  ...{ pool: 'prod', podUid: null, attachment: null, named: false, source: 'dynamic', retain: 'release' },
  since,
})

const leases: Readonly<Record<string, Partial<LeaseRecord>>> = {
  'the least': {},
  'all there is': {
    podUid: 'u1',
    workload: { namespace: 'shop', kind: 'StatefulSet', name: 'web', apiVersion: 'apps/v1', uid: 'w1' },
    attachment: { network: 'net', containerId: 'c1', ifname: 'eth0' },
    mac: '02:00:00:00:00:01',
    carried: 'routed',
    ownLink: true,
    until: since + 1,
    remembered: true,
  },
  'a workload that is only guessed at': {
    workload: { namespace: 'shop', kind: null, name: 'web', apiVersion: null, uid: null },
  },
  'a container': { holder: { kind: 'container', network: 'net', containerId: 'c1', ifname: 'eth0' } },
  forever: { retain: 'forever' },
  'for days': { retain: { milliseconds: 172_800_000 } },
  'for milliseconds': { retain: { milliseconds: 1_500 } },
}
for (const [name, patch] of Object.entries(leases)) {
  t.test(`a lease: ${name}`, t => {
    t.strictSame(readLease(stored(leaseSpec({ ...least, ...patch }))), { ...least, ...patch })
    t.end()
  })
}

const holder = holderRecord({ attachment: null })
const holders: Readonly<Record<string, Partial<HolderRecord>>> = {
  'with nothing': {},
  'of a sandbox': {
    attachment: { network: 'net', containerId: 'c1', ifname: 'eth0' },
    sandbox: { node: 'n1', podUid: 'u1', since },
    leases: [{ segment: 'default', address: '10.22.0.5' }],
  },
  'of a pod without a UID': { sandbox: { node: 'n1', podUid: null, since } },
}
for (const [name, patch] of Object.entries(holders)) {
  t.test(`a holder: ${name}`, t => {
    t.strictSame(readHolder(stored(holderSpec({ ...holder, ...patch }))), { ...holder, ...patch })
    t.end()
  })
}

const claim = { id: 'i1', session: 's1', bootId: 'b1', since: since + 7 }
const node = nodeRecord('n1', { addresses: ['192.0.2.1', 'fd00::1'], since })
const asked = {
  ...{ network: 'net', containerId: 'c1', ifname: 'eth0', segment: 'default', address: '10.22.0.50' },
  ...{ by: 'n2', since },
}
const nodes: Readonly<Record<string, Partial<NodeRecord>>> = {
  'that promises nothing': {},
  'that no address is known of': { addresses: [] },
  'that stops when it is cut off': { stopsAfter: 120_000, renewedAt: since + 1 },
  'whose name is claimed': { claim, refused: 's9' },
  'whose name others want and had': {
    claim,
    challenge: { ...claim, session: 's2', machineId: 'm2' },
    formers: [{ ...claim, id: 'i0', hardware: 'h0', gone: { since: 5, by: 'n9' } }],
  },
  'that an operator asks for': { claim, challenge: { ...claim, session: 's3', askedOn: 'n2' } },
  'that has told again what it holds': { claim, epoch: 3 },
  'that has told but for what waits': { claim, epoch: 3, owes: true },
  'whose sandboxes have to give addresses up': {
    yields: [asked, { ...asked, containerId: 'c2', notHere: true }],
  },
  'that is gone for good': { epoch: 2, gone: { since: since + 9, by: 'n2' } },
}
for (const [name, patch] of Object.entries(nodes)) {
  t.test(`a node ${name}`, t => {
    t.strictSame(readNode(stored(nodeSpec({ ...node, ...patch }))), { ...node, ...patch })
    t.end()
  })
}

const reservation = reservationRecord('10.22.0.5', 'web-0', { generation: 2, since })
const reservations: Readonly<Record<string, Partial<ReservationRecord>>> = {
  'of a pod': {},
  'of a workload': { kind: 'StatefulSet', name: 'web', note: 'why' },
  'of a printer': { kind: 'external', namespace: '', name: 'printer-3' },
  'with a retention': { retain: { milliseconds: 1_800_000 } },
}
for (const [name, patch] of Object.entries(reservations)) {
  t.test(`a reservation: ${name}`, t => {
    const record = { ...reservation, ...patch }
    t.strictSame(readReservations(stored(reservationSpec([record]), { namespace: 'shop' })), [record])
    t.end()
  })
}

t.test('a reservation that people made', t => {
  const spec = { owner: { pod: 'web-0' }, segment: 'lab', addresses: ['10.0.0.1', 'fd00::1'], retain: '1h' }
  const metadata = { namespace: 'shop', creationTimestamp: '2023-11-14T22:13:20Z' }
  const each = {
    ...{ segment: 'lab', generation: 4, namespace: 'shop', name: 'web-0', note: '' },
    ...{ retain: { milliseconds: 3_600_000 }, since: 1_700_000_000_000 },
  }
  t.strictSame(readReservations(stored(spec, metadata)), [
    { ...each, address: '10.0.0.1' },
    { ...each, address: 'fd00::1' },
  ])
  t.end()
})

t.test('a pool that is remembered', t => {
  const range = { subnet: '10.8.0.0/24', rangeStart: '10.8.0.1', rangeEnd: '10.8.0.254', gateway: '10.8.0.1' }
  const record: PoolRecord = {
    generation: 1,
    name: 'Fixed_Net',
    segment: 'default',
    ranges: [
      [
        {
          ...range,
          exclude: [
            ['10.8.0.1', '10.8.0.9'],
            ['10.8.0.20', '10.8.0.20'],
          ],
        },
      ],
    ],
  }
  for (const one of [record, { ...record, origin: 'config' as const }])
    t.strictSame(readPoolObject(stored(poolSpec(one)), readPool), one)
  t.end()
})

t.test('a pool that people made', t => {
  const spec = { subnet: '10.7.0.0/24', rangeEnd: '10.7.0.9', retention: '30m' }
  const times = { creationTimestamp: '2023-11-14T22:13:20Z', deletionTimestamp: '2023-11-14T22:14:20Z' }
  t.match(readPoolObject(stored(spec, times), readPool), {
    ...{ generation: 4, name: 'prod', segment: 'default', origin: 'api' },
    ranges: [[{ subnet: '10.7.0.0/24', rangeStart: '10.7.0.1', rangeEnd: '10.7.0.9' }]],
    object: { spec, createdAt: 1_700_000_000_000, deleting: true },
  })
  t.match(readPoolObject(stored(spec), readPool), { object: { deleting: false } })
  t.end()
})

const unreadable: Readonly<Record<string, readonly [read: () => unknown, why: string | RegExp]>> = {
  'a newer lease': [
    () => readLease(stored({ ...leaseSpec(least), schema: 2 })),
    'written by a newer ipkeeper (schema 2; this one knows 1): update this node',
  ],
  'a holder that is neither': [
    () => readLease(stored({ ...leaseSpec(least), holder: { kind: 'pod', network: 'net', ifname: 'eth0' } })),
    'its holder is neither a pod nor a container',
  ],
  'no moment': [() => readLease(stored({ ...leaseSpec(least), since: 'soon' })), '"soon" is no moment'],
  'no retention': [() => readLease(stored({ ...leaseSpec(least), retain: '5y' })), '"5y" is no retention'],
  'a pool with a mistake': [
    () => readPoolObject(stored({ subnet: '10.7.0.0/24', retention: 'never' }), readPool),
    /^spec\.retention: .*"never"/,
  ],
  'a pool with several': [
    () => readPoolObject(stored({ ranges: [[{ subnet: 'x' }]], cooldown: '1y' }), readPool),
    /^spec\.cooldown: "1y" .*; spec\.ranges\[0\]\[0\]\.subnet: "x" /,
  ],
}
for (const [name, [read, why]] of Object.entries(unreadable)) {
  t.test(`cannot be read: ${name}`, t => {
    try {
      read()
      t.fail('nothing was thrown')
    } catch (error) {
      if (!(error instanceof UnreadableObject)) throw error
      t.match(error.message, why)
    }
    t.end()
  })
}
