/** Which address a pod gets that names none: a reserved one, one kept for its workload, the lowest free one, the one at rest longest. */
import t from 'tap'
import { whyInherited } from '../../../../ipkeeper-server/ipam/choose/choose-address.ts'
import type { LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { configured, minute, tellStories, type Step } from '../../leases/story.ts'
import { poolFrom, type PodWords } from '../../leases/test-service.ts'

/** A pod of Deployment api, of the old or the new generation of its template. */
const older = (container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'api-6d4cf56db6-x2x5z',
  container,
  retain: 'forever',
  ...patch,
})
const newer = (container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'api-7c8b9d5f44-g6h7j',
  container,
  ...patch,
})

/** The same ranges as those of network net, on another link. */
const elsewhere = { ...poolFrom('lab', ['10.22.0.0/24']), segment: 'lab' }
const inLab = { pool: elsewhere, network: 'net' }

const lastUsed = configured('lru', [['10.22.0.0/29']], { policy: { strategy: 'least-recently-used' } })
const fromLastUsed = { network: 'net', configured: ['lru'] }
const single = { pool: poolFrom('net', ['10.22.0.0/30']) }

const stories: Readonly<Record<string, readonly Step[]>> = {
  'what is reserved for a workload goes to one pod of it after the other': [
    ['reserve', '10.22.0.60', 'shop/deployment/api'],
    ['add', older('c1'), '10.22.0.60', /reserved for this workload/],
    ['add', newer('c2'), '10.22.0.2', /lowest free address/],
    ['del', 'c2'],
    ['del', 'c1'],
    [
      'leases',
      ['10.22.0.2 cooling shop/api-7c8b9d5f44-g6h7j -', '10.22.0.60 held shop/api-6d4cf56db6-x2x5z -'],
    ],
    ['add', newer('c3'), '10.22.0.60', /reserved for this workload/],
  ],
  'what is reserved on another link is another address': [
    ['reserve', '10.22.0.60', 'shop/web-0'],
    ['add', { pod: 'web-0', container: 'c1', ...inLab }, '10.22.0.2', /lowest free address/],
    ['del', 'c1', 'eth0', 'net'],
    ['add', { pod: 'web-0', container: 'c2' }, '10.22.0.60', /reserved for this pod/],
  ],
  'what is kept for a workload goes to its next pod': [
    ['add', older('c1'), '10.22.0.2'],
    ['del', 'c1'],
    [
      'add',
      newer('c2'),
      '10.22.0.2',
      /kept for Deployment shop\/api since shop\/api-6d4cf56db6-x2x5z is gone/,
    ],
  ],
  'but not where it is reserved for somebody else': [
    ['add', older('c1'), '10.22.0.2'],
    ['reserve', '10.22.0.2', 'shop/api-6d4cf56db6-x2x5z'],
    ['del', 'c1'],
    ['add', newer('c2'), '10.22.0.3', /lowest free address/],
  ],
  'nor on another link': [
    ['add', older('c1'), '10.22.0.2'],
    ['del', 'c1'],
    ['add', newer('c2', inLab), '10.22.0.2', /lowest free address/],
    [
      'leases',
      ['10.22.0.2 held shop/api-6d4cf56db6-x2x5z -', '10.22.0.2 bound shop/api-7c8b9d5f44-g6h7j c2'],
    ],
  ],
  'when nothing else is left, one that rests is given': [
    ['add', { pod: 'a', container: 'c1', ...single }, '10.22.0.2'],
    ['del', 'c1'],
    [
      'add',
      { pod: 'b', container: 'c2', ...single },
      '10.22.0.2',
      /all others are taken: the one that has cooled down longest/,
    ],
  ],
  'but not one that a pod had asked for by name, as long as it rests': [
    ['add', { pod: 'a', container: 'c1', ip: '10.22.0.2', ...single }, '10.22.0.2'],
    ['del', 'c1'],
    ['add', { pod: 'b', container: 'c2', ...single }, 'IPK_POOL_FULL'],
  ],
  'nor one that is reserved for somebody else': [
    ['add', { pod: 'a', container: 'c1', ...single }, '10.22.0.2'],
    ['reserve', '10.22.0.2', 'shop/a'],
    ['del', 'c1'],
    ['add', { pod: 'b', container: 'c2', ...single }, 'IPK_POOL_FULL'],
  ],
  'a pool that remembers gives each address once before it gives one again': [
    ['configure', lastUsed],
    ['add', { pod: 'a', container: 'c1', ...fromLastUsed }, '10.22.0.2'],
    ['del', 'c1'],
    ['wait', 2 * minute],
    ['add', { pod: 'b', container: 'c2', ...fromLastUsed }, '10.22.0.3', /lowest free address/],
    ['add', { pod: 'c', container: 'c3', ...fromLastUsed }, '10.22.0.4'],
    ['add', { pod: 'd', container: 'c4', ...fromLastUsed }, '10.22.0.5'],
    ['add', { pod: 'e', container: 'c5', ...fromLastUsed }, '10.22.0.6'],
    ['del', 'c3'],
    ['wait', 2 * minute],
    ['add', { pod: 'f', container: 'c6', ...fromLastUsed }, '10.22.0.2', /the least recently used/],
    ['add', { pod: 'g', container: 'c7', ...fromLastUsed }, '10.22.0.4', /the least recently used/],
    ['add', { pod: 'h', container: 'c8', ...fromLastUsed }, 'IPK_POOL_FULL'],
  ],
}
tellStories(t, stories)

t.test('why a pod gets what another one had', t => {
  const holder = { kind: 'pod', network: 'net', namespace: 'shop', name: 'api-1', ifname: 'eth0' } as const
  const workload = { namespace: 'shop', kind: 'Deployment', name: 'api', apiVersion: null, uid: null }
  const cases: readonly (readonly [state: 'held' | 'bound', known: boolean, why: string])[] = [
    ['held', true, 'kept for Deployment shop/api since shop/api-1 is gone'],
    ['held', false, 'kept for this workload since shop/api-1 is gone'],
    ['bound', true, 'Deployment shop/api takes it over from shop/api-1 on node n1: the old sandbox is dead'],
    ['bound', false, 'this workload takes it over from shop/api-1 on node n1: the old sandbox is dead'],
  ]
  for (const [state, known, why] of cases) {
    const lease = { state, holder, node: 'n1', ...(known && { workload }) } as unknown as LeaseRecord
    t.equal(whyInherited(lease, { left: () => 'the old sandbox is dead' }), why)
  }
  t.end()
})
