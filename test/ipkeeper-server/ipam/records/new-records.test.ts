/** What each record says when it is made, and what it leaves out. */
import t from 'tap'
import {
  attachmentByLease,
  attachmentElsewhere,
  newAttachment,
  newHolder,
  newLease,
  ofSandbox,
  undoEntry,
} from '../../../../ipkeeper-server/ipam/records/new-records.ts'
import type { LeaseRecord, WiringRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'

const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
const holder = { kind: 'pod', network: 'net', namespace: 'shop', name: 'web-0', ifname: 'eth0' } as const
const who = { holder, podUid: 'u1', node: 'n1' }
const place = {
  ...{ segment: 'default', address: '10.22.0.2', pool: 'net' },
  ...{ rangeSet: 0, prefixLength: 24, gateway: '10.22.0.1' },
}
const grant = { ...who, workload: null, attachment: key, named: true, source: 'annotation ipkeeper.io/ip' }
const lease = (patch: object = {}, before?: LeaseRecord): LeaseRecord =>
  newLease(before, place, { ...grant, retain: 'release', mac: null, since: 100, ...patch })

t.test('a lease', t => {
  const rows: readonly (readonly [name: string, patch: object, says: object])[] = [
    [
      'that a sandbox has',
      {},
      { state: 'bound', attachment: key, until: null, network: 'net', generation: 1 },
    ],
    [
      'that is kept for a while',
      { attachment: null, retain: { milliseconds: 50 } },
      { state: 'held', until: 150 },
    ],
    ['that is kept without an end', { attachment: null, retain: 'forever' }, { state: 'held', until: null }],
    [
      'of a pod that is wired for itself',
      { carried: 'routed', ownLink: true },
      { carried: 'routed', ownLink: true },
    ],
  ]
  for (const [name, patch, says] of rows) t.match(lease(patch), says, name)
  const plain = lease()
  for (const field of ['workload', 'carried', 'ownLink', 'remembered'])
    t.notOk(Object.hasOwn(plain, field), `${field} is not there`)
  t.equal(lease({}, plain).generation, 2, 'each record that replaces another one has the next generation')
  t.end()
})

t.test('a holder', t => {
  const sandbox = { ...key, ...who, since: 100 }
  const first = newHolder(undefined, holder, ofSandbox(sandbox), [lease()])
  t.strictSame(first, {
    generation: 1,
    holder,
    attachment: key,
    sandbox: { node: 'n1', podUid: 'u1', since: 100 },
    leases: [{ segment: 'default', address: '10.22.0.2' }],
  })
  t.strictSame(newHolder(first, holder, ofSandbox(null), []), {
    generation: 2,
    holder,
    attachment: null,
    leases: [],
  })
  t.end()
})

t.test('an attachment', t => {
  const origin = {
    ...who,
    ...{ bootId: 'boot-1', netns: '/run/netns/c1', netnsInode: '1', invocationId: null, startedAt: 5 },
    ...{ since: 100, undo: { leases: [], attachment: null } },
  }
  const plain = newAttachment(1, key, origin)
  t.match(plain, { ...key, ...who, generation: 1, answered: 1 })
  for (const field of ['answeredAt', 'delegatedTo', 'wiring', 'madeBy'])
    t.notOk(Object.hasOwn(plain, field), `${field} is not there`)
  const wiring = { mode: 'ptp' } as WiringRecord
  const more = { answeredAt: 7, delegatedTo: 'dhcp', wiring, madeBy: '/run/containerd/containerd.sock' }
  t.match(newAttachment(2, key, { ...origin, ...more }), { generation: 2, answered: 2, ...more })
  t.end()
})

t.test('an attachment of another node is known by a lease or a holder alone, and proves no death', t => {
  const expected = { ...key, ...who, generation: 0, since: 100, bootId: null, netns: '', netnsInode: null }
  t.match(attachmentElsewhere(key, { ...who, since: 100 }), expected)
  t.match(attachmentByLease(lease()), expected)
  t.equal(attachmentByLease(lease({ attachment: null })), undefined, 'what nobody has is of no sandbox')
  t.end()
})

t.strictSame(
  undoEntry(lease(), null),
  { segment: 'default', address: '10.22.0.2', wrote: 1, before: null },
  'an undo knows what it wrote, and what was there before',
)
