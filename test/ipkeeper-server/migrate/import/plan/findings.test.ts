import t from 'tap'
import {
  completeFindings,
  type NodeKnowledge,
  type SourceAllocation,
  bareAllocation,
} from '../../../../../ipkeeper-server/migrate/import/plan/findings.ts'
import type { CachedAttachment } from '../../../../../ipkeeper-server/result-cache/plan/read-cached-result.ts'
import type { RuntimeAnswer, Sandbox } from '../../../../../ipkeeper-server/runtime/sandboxes.ts'

const cached = (containerId: string, more: Partial<CachedAttachment> = {}): CachedAttachment => ({
  ...{ network: 'net', containerId, ifname: 'net1', addresses: ['10.22.0.2'] },
  pod: { namespace: 'shop', name: 'web-0', uid: 'u' },
  ...{ netns: '/n', mac: '02:00:00:00:00:01' },
  ...more,
})

const sandbox = (id: string, more: Partial<Sandbox> = {}): Sandbox => ({
  ...{ id, namespace: 'shop', name: 'web-0', uid: 'u', ready: true, createdAt: 1 },
  ...more,
})

const lists = (...sandboxes: readonly Sandbox[]): RuntimeAnswer => ({
  socket: '/s',
  state: 'listed',
  sandboxes,
})
const fails: RuntimeAnswer = { socket: '/s', state: 'failed', reason: 'ECONNREFUSED' }
const told = (more: Partial<SourceAllocation> = {}): SourceAllocation => ({
  ...bareAllocation('here', '10.22.0.2'),
  ...more,
})
const pod = { namespace: 'shop', name: 'web-0', uid: null }

/** "net c1 net1 shop/web-0 /n listed" */
function completed(
  one: SourceAllocation,
  { cached: entries = [], runtimes = [] }: Partial<NodeKnowledge>,
  network?: string,
): string {
  const { found } = completeFindings(
    { allocations: [one], unreadable: [] },
    { cached: entries, runtimes },
    { network },
  )
  const [only] = found
  if (!only) return 'not wanted'
  const whose = only.pod ? `${only.pod.namespace}/${only.pod.name} ${only.pod.uid ?? '-'}` : '- -'
  return [only.network, only.containerId, only.ifname, whose, only.netns, only.runtime]
    .map(part => part ?? '-')
    .join(' ')
}

t.test('what a source leaves out', t => {
  const rows: readonly (readonly [
    what: string,
    told: SourceAllocation,
    known: Partial<NodeKnowledge>,
    expected: string,
    network?: string,
  ])[] = [
    ['nothing is known', told(), {}, '- - - - - - unknown'],
    ['the cache has the address', told(), { cached: [cached('c1')] }, 'net c1 net1 shop/web-0 u /n cached'],
    [
      'of this container',
      told({ containerId: 'c1' }),
      { cached: [cached('c1'), cached('c2')] },
      'net c1 net1 shop/web-0 u /n cached',
    ],
    ['of another container', told({ containerId: 'c3' }), { cached: [cached('c1')] }, '- c3 - - - - unknown'],
    ['of another network', told({ network: 'other' }), { cached: [cached('c1')] }, 'other - - - - - unknown'],
    [
      'of another pod',
      told({ pod: { ...pod, name: 'db-0' } }),
      { cached: [cached('c1')] },
      '- - - shop/db-0 - - unknown',
    ],
    [
      'of two, the one that runs',
      told(),
      { cached: [cached('c1'), cached('c2')], runtimes: [lists(sandbox('c2'))] },
      'net c2 net1 shop/web-0 u /n listed',
    ],
    ['of two, and nobody knows', told(), { cached: [cached('c1'), cached('c2')] }, '- - - - - - unknown'],
    [
      'the runtime knows the pod of a container',
      told({ containerId: 'c1' }),
      { runtimes: [lists(sandbox('c1'))] },
      '- c1 - shop/web-0 u - listed',
    ],
    [
      'the runtime knows the container of a pod',
      told({ pod }),
      { runtimes: [lists(sandbox('c1'))] },
      '- c1 - shop/web-0 u - listed',
    ],
    [
      'the newest that runs',
      told({ pod }),
      {
        runtimes: [
          lists(
            sandbox('c1'),
            sandbox('c2', { createdAt: 2 }),
            sandbox('c3', { createdAt: 3, ready: false }),
          ),
        ],
      },
      '- c2 - shop/web-0 u - listed',
    ],
    [
      'not one of another UID',
      told({ pod: { ...pod, uid: 'v' } }),
      { runtimes: [lists(sandbox('c1'))] },
      '- - - shop/web-0 v - absent',
    ],
    [
      'stopped: its namespace has to tell',
      told({ containerId: 'c1' }),
      { cached: [cached('c1')], runtimes: [lists(sandbox('c1', { ready: false }))] },
      'net c1 net1 shop/web-0 u /n cached',
    ],
    [
      'stopped, and nobody knows its namespace',
      told({ containerId: 'c1' }),
      { runtimes: [lists(sandbox('c1', { ready: false }))] },
      '- c1 - shop/web-0 u - listed',
    ],
    [
      'no runtime lists it',
      told({ containerId: 'c9' }),
      { runtimes: [lists(sandbox('c1'))] },
      '- c9 - - - - absent',
    ],
    [
      'a runtime that lists nothing says nothing',
      told({ containerId: 'c9' }),
      { runtimes: [lists()] },
      '- c9 - - - - unknown',
    ],
    [
      'one of two cannot be asked',
      told({ containerId: 'c9' }),
      { runtimes: [lists(sandbox('c1')), fails] },
      '- c9 - - - - unknown',
    ],
    [
      'not in a list, but cached',
      told({ containerId: 'c1' }),
      { cached: [cached('c1')], runtimes: [lists(sandbox('c2'))] },
      'net c1 net1 shop/web-0 u /n cached',
    ],
    ['the network that is wanted', told({ containerId: 'c1' }), {}, 'mine c1 - - - - unknown', 'mine'],
    [
      'of another network than is wanted',
      told({ network: 'net', containerId: 'c1' }),
      {},
      'not wanted',
      'mine',
    ],
  ]
  for (const [what, one, known, expected, network] of rows)
    t.equal(completed(one, known, network), expected, what)
  t.end()
})

t.test('what cannot be read is found in the cache, where one has the address', t => {
  const unreadable = [
    { origin: '/n/10.22.0.2', address: '10.22.0.2', why: 'it is empty' },
    { origin: '/n/10.22.0.3', address: '10.22.0.3', why: 'it is empty' },
    { origin: 'pool', address: null, why: 'its range is none' },
  ]
  const known = { cached: [cached('c1'), cached('c2', { addresses: ['10.22.0.4'] })], runtimes: [] }
  const { found, unreadable: left } = completeFindings({ allocations: [], unreadable }, known, {
    network: undefined,
  })
  t.match(found, [{ origin: '/n/10.22.0.2', containerId: 'c1', network: 'net', ifname: 'net1', netns: '/n' }])
  t.same(
    left.map(({ origin }) => origin),
    ['/n/10.22.0.3', 'pool'],
  )
  t.end()
})
