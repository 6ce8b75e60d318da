import t from 'tap'
import {
  nextMove,
  readElection,
  seeRecord,
  writeElection,
  type ElectionRecord,
} from '../../../ipkeeper-server/kubernetes/election.ts'

const place = { namespace: 'kube-system', name: 'ipkeeper' }
const noon = Date.parse('2026-01-01T12:00:00.5Z')

/** As the server would give it back. */
function stored(spec: object, resourceVersion = '7'): ElectionRecord {
  const record = readElection({ metadata: { ...place, resourceVersion }, spec })
  if (!record) throw new Error('no Lease')
  return record
}

const held = { holderIdentity: 'n1 a', leaseDurationSeconds: 30, renewTime: '1', leaseTransitions: 4 }

t.test('who may do what', t => {
  const table: readonly [what: string, spec: object, unchangedFor: number, move: string][] = [
    ['our own', { ...held, holderIdentity: 'n2 b' }, 0, 'renew'],
    ['our own, after a long silence', { ...held, holderIdentity: 'n2 b' }, 99_000, 'renew'],
    ["another's, just seen", held, 0, 'wait'],
    ["another's, seen for a while", held, 29_999, 'wait'],
    ["another's, that has not changed for its time", held, 30_000, 'take'],
    ['an earlier run of this daemon', { ...held, holderIdentity: 'n2 a' }, 1_000, 'wait'],
    ['given up', { ...held, holderIdentity: '', leaseDurationSeconds: 1 }, 0, 'take'],
    ['made by hand, without a spec', {}, 0, 'take'],
    ['of other terms than ours', { ...held, leaseDurationSeconds: 60 }, 59_999, 'wait'],
  ]
  for (const [what, spec, unchangedFor, move] of table)
    t.equal(nextMove('n2 b', { record: stored(spec), since: 1_000 }, 1_000 + unchangedFor), move, what)
  t.end()
})

t.test('a record is as old as this daemon has seen it unchanged, whatever it says itself', t => {
  const first = seeRecord(undefined, stored(held), 1_000)
  t.equal(first.since, 1_000)
  t.equal(seeRecord(first, stored(held), 5_000).since, 1_000, 'the same')
  t.equal(seeRecord(first, stored(held, '8'), 5_000).since, 1_000, 'somebody wrote a label')
  t.equal(seeRecord(first, stored({ ...held, renewTime: '2' }), 5_000).since, 5_000, 'renewed')
  t.equal(
    seeRecord(first, stored({ ...held, renewTime: '0' }), 5_000).since,
    5_000,
    'renewed by a slow clock',
  )
  t.end()
})

t.test('what is written', t => {
  const before = stored({ ...held, acquireTime: '2026-01-01T00:00:00.000000Z' })
  const at = '2026-01-01T12:00:00.500000Z'
  const table: readonly [what: string, before: ElectionRecord | undefined, holder: string, spec: object][] = [
    ['the first', undefined, 'n2 b', { acquireTime: at, leaseDurationSeconds: 30, leaseTransitions: 0 }],
    [
      'a renewal',
      before,
      'n1 a',
      { acquireTime: '2026-01-01T00:00:00.000000Z', leaseDurationSeconds: 30, leaseTransitions: 4 },
    ],
    ['taken over', before, 'n2 b', { acquireTime: at, leaseDurationSeconds: 30, leaseTransitions: 5 }],
    ['given up', before, '', { acquireTime: at, leaseDurationSeconds: 1, leaseTransitions: 4 }],
  ]
  for (const [what, earlier, holder, spec] of table) {
    t.strictSame(
      writeElection(place, earlier, holder, 30_000, noon),
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { ...place, ...(earlier && { resourceVersion: '7' }) },
        spec: { holderIdentity: holder, renewTime: at, ...spec },
      },
      what,
    )
  }
  t.end()
})

t.test('what is no Lease', t => {
  for (const object of [{}, { metadata: {} }, { metadata: { resourceVersion: '' } }, { metadata: null }])
    t.equal(readElection(object), undefined)
  t.end()
})
