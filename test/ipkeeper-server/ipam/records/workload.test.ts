import t from 'tap'
import type { Owner } from '../../../../ipkeeper-server/ipam/records/pod-facts.ts'
import type { Holder, Workload } from '../../../../ipkeeper-server/ipam/records/records.ts'
import {
  bearsGeneratedName,
  describeWorkload,
  isKnown,
  ordinalOf,
  sameWorkload,
  workloadOf,
} from '../../../../ipkeeper-server/ipam/records/workload.ts'
import { podHolder as pod } from '../../../rigs/records.ts'

const container: Holder = { kind: 'container', network: 'net', containerId: 'c1', ifname: 'eth0' }
const owner = (kind: string, ordinalsStart?: number): Owner => ({
  apiVersion: 'apps/v1',
  kind,
  name: 'web',
  uid: 'o1',
  ...(ordinalsStart !== undefined && { ordinalsStart }),
})
const workload = (patch: Partial<Workload>): Workload => ({
  namespace: 'shop',
  kind: 'Deployment',
  name: 'web',
  apiVersion: null,
  uid: null,
  ...patch,
})

/** Without the API: the name tells. Made-up parts as apimachinery makes them: no vowels, no 0, 1 and 3. */
for (const [name, kind, base, ordinal, madeUp] of [
  ['web-0', 'StatefulSet', 'web', 0, false],
  ['web-10', 'StatefulSet', 'web', 10, false],
  ['my-web-2', 'StatefulSet', 'my-web', 2, false],
  ['web-00', 'Pod', 'web-00', undefined, false],
  ['web-007', 'Pod', 'web-007', undefined, false],
  ['web-10000', 'StatefulSet', 'web', 10000, false],
  ['web-24567', null, 'web', undefined, true],
  ['web-1234567890', 'Pod', 'web-1234567890', undefined, false],
  ['-0', 'Pod', '-0', undefined, false],
  ['web', 'Pod', 'web', undefined, false],
  ['printer-3a', 'Pod', 'printer-3a', undefined, false],
  ['web-6d4cf56db6-x2x5z', 'Deployment', 'web', undefined, true],
  ['my-web-7c8b9d5f44-24567', 'Deployment', 'my-web', undefined, true],
  ['web-6d4cf56db6-12345', 'Deployment', 'web', undefined, true],
  ['agent-x2x5z', null, 'agent', undefined, true],
  ['import-1-x2x5z', null, 'import-1', undefined, true],
  ['nightly-29123456-x2x5z', null, 'nightly-29123456', undefined, true],
  ['nightly-29456789-x2x5z', null, 'nightly-29456789', undefined, true],
  ['my-nginx', 'Pod', 'my-nginx', undefined, false],
  ['my-proxy', 'Pod', 'my-proxy', undefined, false],
  ['web-x2x5', 'Pod', 'web-x2x5', undefined, false],
] as const) {
  t.test(`by its name alone: ${name}`, t => {
    const inferred = workloadOf(pod(name), 'u1', undefined)
    t.strictSame(inferred, { namespace: 'shop', kind, name: base, apiVersion: null, uid: null })
    t.strictSame(
      ordinalOf(pod(name), undefined),
      ordinal === undefined ? undefined : { ordinal, index: ordinal },
    )
    t.equal(bearsGeneratedName(name, inferred), madeUp)
    t.end()
  })
}

t.test('what the API says counts, whatever the name looks like', t => {
  for (const [name, said, kind, base, uid] of [
    ['web-0', owner('StatefulSet'), 'StatefulSet', 'web', 'o1'],
    ['web-x2x5z', owner('DaemonSet'), 'DaemonSet', 'web', 'o1'],
    ['web-0', owner('StrimziPodSet'), 'StrimziPodSet', 'web', 'o1'],
    ['web-0', null, 'Pod', 'web-0', 'u1'],
    ['web-6d4cf56db6-x2x5z', null, 'Pod', 'web-6d4cf56db6-x2x5z', 'u1'],
  ] as const) {
    t.match(workloadOf(pod(name), 'u1', said), { namespace: 'shop', kind, name: base, uid }, name)
  }
  t.equal(workloadOf(container, null, undefined), null, 'a container without a pod has none')
  t.equal(workloadOf(container, null, null), null)
  t.end()
})

t.test('the ordinal: of StatefulSets, and of bare pods that are named like theirs', t => {
  for (const [name, said, expected] of [
    ['web-7', owner('StatefulSet'), { ordinal: 7, index: 7 }],
    ['web-7', owner('StatefulSet', 5), { ordinal: 7, index: 2 }],
    ['web-4', owner('StatefulSet', 5), { ordinal: 4, index: -1 }],
    ['web-24567', owner('StatefulSet'), { ordinal: 24567, index: 24567 }],
    ['web-7', owner('StrimziPodSet'), undefined],
    ['web-7', owner('Job'), undefined],
    ['web-7', null, { ordinal: 7, index: 7 }],
    ['web-24567', null, undefined],
    ['web', owner('StatefulSet'), undefined],
  ] as const) {
    t.strictSame(ordinalOf(pod(name), said), expected, `${name} ${said?.kind ?? 'bare'}`)
  }
  t.equal(ordinalOf(container, undefined), undefined)
  t.end()
})

t.test('whether a name was made up: by the kind where it is known', t => {
  for (const [name, kind, expected] of [
    ['web-24567', 'StatefulSet', false],
    ['web-x2x5z', 'Pod', false],
    ['web-x2x5z', 'ReplicationController', true],
    ['a-long-name-that-was-cutx2x5z', 'Deployment', true],
    ['kafka-0', 'StrimziPodSet', false],
    ['clone-x2x5z', 'CloneSet', true],
    ['web-x2x5z', null, true],
    ['web-0', null, false],
  ] as const) {
    t.equal(bearsGeneratedName(name, workload({ kind })), expected, `${name} of ${kind ?? 'unknown'}`)
  }
  t.equal(bearsGeneratedName('web-x2x5z', undefined), true)
  t.end()
})

t.test('one workload, as far as it is known of both', t => {
  const known = workload({ apiVersion: 'apps/v1', uid: 'o1' })
  for (const [a, b, same] of [
    [known, known, true],
    [known, workload({}), true],
    [known, workload({ uid: 'o2' }), false],
    [known, workload({ namespace: 'other' }), false],
    [known, workload({ name: 'web-v2' }), false],
    [known, workload({ kind: 'StatefulSet' }), false],
    [known, workload({ kind: null }), true],
    [workload({ kind: null }), workload({ kind: null }), true],
    [workload({ kind: null }), workload({ kind: 'StatefulSet' }), false],
    [workload({ kind: 'Pod' }), workload({ kind: null }), false],
    [known, null, false],
    [undefined, undefined, false],
  ] as const) {
    t.equal(sameWorkload(a, b), same, `${JSON.stringify(a)} and ${JSON.stringify(b)}`)
    t.equal(sameWorkload(b, a), same, 'and the other way round')
  }
  t.end()
})

t.test('how it is told, and whether the API can be asked for it', t => {
  t.equal(describeWorkload(workload({})), 'Deployment shop/web')
  t.equal(describeWorkload(workload({ kind: null })), 'workload shop/web')
  t.equal(isKnown(workload({})), false)
  t.equal(isKnown(workload({ uid: 'o1' })), false)
  t.equal(isKnown(workload({ apiVersion: 'apps/v1', uid: 'o1' })), true)
  t.end()
})
