/** What the API server makes of objects: which it takes, and how it lists them. */
import t from 'tap'
import type { LeaseRecord, NodeRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import { leaseSpec } from '../../ipkeeper-server/store/kubernetes/lease-object.ts'
import { nodeSpec } from '../../ipkeeper-server/store/kubernetes/node-object.ts'
import { lease, nodeRecord } from '../rigs/records.ts'
import { startCluster } from '../rigs/cluster.ts'
import { installCustomResources } from '../rigs/custom-resources.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('cluster')

const root = '/apis/ipkeeper.io/v1alpha1'

interface Row {
  readonly kind: 'IPPool' | 'IPReservation' | 'IPLease' | 'IPNode'
  readonly name?: string
  readonly spec: object
  /** What the server says against it; without, it takes it. */
  readonly against?: RegExp
}

const pool = (spec: object, against?: RegExp): Row => ({ kind: 'IPPool', spec, ...(against && { against }) })
const promise = (spec: object, against?: RegExp): Row => ({
  kind: 'IPReservation',
  spec: { addresses: ['10.1.0.1'], ...spec },
  ...(against && { against }),
})
const bound = (patch: Partial<LeaseRecord>, name: string, against?: RegExp): Row => ({
  kind: 'IPLease',
  name,
  spec: leaseSpec(lease('10.22.0.5', 1, patch)),
  ...(against && { against }),
})

const node = (patch: Partial<NodeRecord>, against?: RegExp): Row => ({
  kind: 'IPNode',
  spec: nodeSpec(nodeRecord('n1', { since: 1_700_000_000_000, ...patch })),
  ...(against && { against }),
})

const rows: Readonly<Record<string, Row>> = {
  'a pool of one subnet': pool({ subnet: '10.1.0.0/24' }),
  'a pool of ranges': pool({
    ranges: [
      [{ subnet: '10.1.0.0/24', rangeEnd: '10.1.0.99' }],
      [{ subnet: 'fd00:1::/64', gateway: 'fd00:1::1' }],
    ],
    retention: '30m',
    namespaces: ['shop', 'team-*'],
  }),
  'a pool of nothing': pool({}, /has neither "ranges" nor "subnet"/),
  'a pool of people, applied over a record of one': pool(
    { subnet: '10.22.0.0/16', recorded: { generation: 1, origin: 'config', name: 'prod' } },
    /is a record of a pool elsewhere; kubectl replace -f puts yours in its place/,
  ),
  'a subnet that is none': pool({ subnet: '10.1.0.0' }, /spec\.subnet: .*must be a network, such as/),
  'a subnet with host bits': pool({ subnet: '10.1.0.5/24' }, /has host bits set/),
  'host bits in a range': pool(
    { ranges: [[{ subnet: '10.1.0.5/24' }]] },
    /spec\.ranges\[0\]\[0\]\.subnet: .*host bits/,
  ),
  'a start outside': pool(
    { subnet: '10.1.0.0/24', rangeStart: '10.2.0.1' },
    /rangeStart must be in the subnet/,
  ),
  'a gateway of the other family': pool(
    { subnet: '10.1.0.0/24', gateway: 'fd00::1' },
    /gateway must be in the subnet/,
  ),
  'an end that is no address': pool({ subnet: '10.1.0.0/24', rangeEnd: 'last' }, /must be an IP address/),
  'an end without a subnet': pool(
    { ranges: [[{ subnet: '10.1.0.0/24' }]], rangeEnd: '10.1.0.9' },
    /"rangeEnd" stands beside a "subnet" only/,
  ),
  'a pool with a key of another type': pool(
    { subnet: '10.1.0.0/24', namespaces: 'shop' },
    /spec\.namespaces/,
  ),
  'a strategy that there is not': pool(
    { subnet: '10.1.0.0/24', strategy: 'random' },
    /spec\.strategy: Unsupported value/,
  ),
  'a promise to a pod': promise({ owner: { pod: 'web-0' }, retain: '7d', note: 'why' }),
  'to a workload': promise({ owner: { kind: 'StatefulSet', name: 'web' } }),
  'to a printer': promise({ owner: { external: 'printer-3' } }),
  'to nobody': promise({ owner: {} }, /must have either pod, or kind and name, or external/),
  'to two': promise({ owner: { pod: 'web-0', external: 'printer-3' } }, /must have either pod/),
  'to a kind without a name': promise({ owner: { kind: 'Job' } }, /must have either pod/),
  'to a kind that has no pods': promise(
    { owner: { kind: 'Secret', name: 'web' } },
    /Unsupported value: "Secret"/,
  ),
  'of nothing': promise({ owner: { pod: 'web-0' }, addresses: [] }, /spec\.addresses.*at least 1/),
  'of an address twice': promise(
    { owner: { pod: 'web-0' }, addresses: ['10.1.0.1', '10.1.0.1'] },
    /Duplicate value/,
  ),
  'of an address in another form': promise(
    { owner: { pod: 'web-0' }, addresses: ['FD00::1'] },
    /canonical form/,
  ),
  'with a retention that is none': promise({ owner: { pod: 'web-0' }, retain: 'a week' }, /spec\.retain/),
  'a lease': bound({}, 'default-010-022-000-005'),
  'of IPv6': bound({ address: 'fd00::1' }, 'default-fd00-0000-0000-0000-0000-0000-0000-0001'),
  'of a segment': bound({ segment: 'lab-2' }, 'lab-2-010-022-000-005'),
  'under the name of another address': bound(
    {},
    'default-010-022-000-006',
    /an IPLease is named by its segment and address/,
  ),
  'under a name that is none': bound({}, 'web-0', /an IPLease is named by its segment and address/),
  'in a state that there is not': bound(
    { state: 'lost' as 'held' },
    'default-010-022-000-005',
    /Unsupported value: "lost"/,
  ),
  'a node': node({ addresses: ['192.0.2.1', 'fd00::1'] }),
  'a node that renews its record': node({ stopsAfter: 120_000, renewedAt: 1_700_000_000_000 }),
  'a node at an address that is none': node({ addresses: ['n1.example.org'] }, /must be an IP address/),
}

/** What the server says, its quotation marks as they are meant. */
async function refusal(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof Error ? error.message.replaceAll('\\"', '"') : 'nothing is said against it'
}

t.test('on a real API server', { skip }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })

  const manifest = ({ kind, name = 'one', spec }: Row) => ({
    apiVersion: 'ipkeeper.io/v1alpha1',
    kind,
    metadata: { name, ...(kind === 'IPReservation' && { namespace: 'shop' }) },
    spec,
  })
  const collections = {
    IPPool: `${root}/ippools`,
    IPReservation: `${root}/namespaces/shop/ipreservations`,
    IPLease: `${root}/ipleases`,
    IPNode: `${root}/ipnodes`,
  }
  for (const [name, row] of Object.entries(rows)) {
    await t.test(`${row.against ? 'refused' : 'taken'}: ${name}`, async t => {
      const asked = cluster.request('POST', `${collections[row.kind]}?dryRun=All`, manifest(row))
      if (row.against) t.match(await refusal(asked), row.against)
      else await asked
    })
  }

  await t.test('what cannot be changed', async t => {
    await cluster.create(manifest(bound({}, 'default-010-022-000-005')))
    await t.rejects(
      cluster.request('PATCH', `${root}/ipleases/default-010-022-000-005`, {
        spec: { address: '10.22.0.6' },
      }),
      /segment and address cannot be changed/,
    )
    await cluster.create(manifest(node({})))
    await t.rejects(
      cluster.request('PATCH', `${root}/ipnodes/one`, { spec: { name: 'n2' } }),
      /the name cannot be changed/,
    )
  })

  const listed = async (path: string) => (await cluster.printed(path))[0] ?? {}

  await t.test('columns that kubectl prints', async t => {
    await cluster.create(manifest(pool({ subnet: '10.1.0.0/24' })))
    await cluster.create(manifest(promise({ owner: { kind: 'StatefulSet', name: 'web' }, note: 'why' })))
    const { Age: made, ...ofPool } = await listed(`${root}/ippools`)
    t.type(made, 'string')
    t.strictSame(Object.keys(ofPool), [
      'Name',
      'Ranges',
      'V4Used',
      'V4Free',
      'V6Used',
      'V6Free',
      'Origin',
      'Ready',
    ])
    t.match(ofPool, { Name: 'one' })
    await cluster.request('PATCH', `${root}/ippools/one/status`, {
      status: {
        ipv4: { capacity: 253, used: 2, held: 1, free: 250, ratio: '2/253' },
        ipv6: { capacity: '18446744073709551614', used: 2, held: 0, free: '18446744073709551612' },
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            lastTransitionTime: '2026-01-01T00:00:00Z',
            reason: 'InForce',
            message: '',
          },
        ],
      },
    })
    t.match(await listed(`${root}/ippools`), {
      V4Used: '2/253',
      V4Free: '250',
      V6Free: '18446744073709551612',
      Ready: 'True',
    })

    const { Since: since, ...ofLease } = await listed(`${root}/ipleases`)
    t.type(since, 'string')
    const { pool: from, node, holder } = lease('10.22.0.5', 1)
    t.strictSame(ofLease, {
      Name: 'default-010-022-000-005',
      Address: '10.22.0.5',
      State: 'bound',
      Pool: from,
      Namespace: holder.kind === 'pod' ? holder.namespace : '',
      Pod: holder.kind === 'pod' ? holder.name : '',
      Node: node,
    })
    const { Age: age, ...ofReservation } = await listed(`${root}/ipreservations`)
    t.type(age, 'string')
    for (const [name, owner] of Object.entries({
      ...{ pod: { pod: 'web-0' }, printer: { external: 'printer-3' } },
    }))
      await cluster.create(manifest({ ...promise({ owner }), name }))
    t.strictSame(
      (await cluster.printed(`${root}/ipreservations`)).map(({ Name, Kind, Owner }) => [Name, Kind, Owner]),
      [
        ['one', 'StatefulSet', 'web'],
        ['pod', null, 'web-0'],
        ['printer', null, 'printer-3'],
      ],
    )
    t.strictSame(ofReservation, {
      Name: 'one',
      Addresses: '["10.1.0.1"]',
      Kind: 'StatefulSet',
      Owner: 'web',
      Note: 'why',
    })
  })
})
