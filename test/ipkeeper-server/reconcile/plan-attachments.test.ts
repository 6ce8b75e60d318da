import t from 'tap'
import {
  needsPods,
  seesNoNamespaces,
  suspectAttachments,
} from '../../../ipkeeper-server/reconcile/plan-attachments.ts'
import type { NodeSnapshot } from '../../../ipkeeper-server/reconcile/plan-snapshot.ts'
import { attachment, pod, runtime, snapshot, type AttachmentWords } from './snapshot-words.ts'

const [crio, containerd] = ['/run/crio/crio.sock', '/run/containerd/containerd.sock']
const known = (...names: readonly string[]): Partial<NodeSnapshot> => ({
  pods: { state: 'asked', found: names.map(name => pod(name)) },
})

/** What is suspected: kind, by what certainty, and what would be done. */
const table: readonly (readonly [
  what: string,
  of: AttachmentWords,
  seen: Partial<NodeSnapshot>,
  suspected: string | undefined,
])[] = [
  ['a living one, no runtime', { id: 'a' }, {}, undefined],
  ['a living one, listed', { id: 'a' }, { runtimes: [runtime(containerd, ['a'])] }, undefined],
  [
    'listed as not ready',
    { id: 'a', madeBy: containerd },
    { runtimes: [runtime(containerd, ['a!'])] },
    undefined,
  ],
  ['its boot is over', { id: 'a', death: 'boot' }, {}, 'dead-boot proof end-attachment'],
  [
    'its namespace is gone',
    { id: 'a', death: 'namespace' },
    {},
    'lease-without-sandbox proof end-attachment',
  ],
  [
    'its namespace is gone, and the runtime calls it ready',
    { id: 'a', death: 'namespace' },
    { runtimes: [runtime(containerd, ['a', 'b'])] },
    'lease-without-sandbox proof end-attachment',
  ],
  [
    'dead, left to a fallback',
    { id: 'a', death: 'boot', delegatedTo: 'host-local' },
    {},
    'dead-boot proof none',
  ],
  [
    'its maker lists others',
    { id: 'a', madeBy: containerd },
    { runtimes: [runtime(containerd, ['b'])] },
    'lease-without-sandbox absence end-attachment',
  ],
  [
    'its maker lists others, the pod is known to the API',
    { id: 'a', madeBy: containerd },
    { runtimes: [runtime(containerd, ['b'])], ...known('a') },
    'lease-without-sandbox absence end-attachment',
  ],
  [
    'its maker lists others that are not ready',
    { id: 'a', madeBy: containerd },
    { runtimes: [runtime(containerd, ['b!'])] },
    'lease-without-sandbox absence end-attachment',
  ],
  [
    'a container without pod that its maker omits',
    { id: 'a', pod: null, madeBy: containerd },
    { runtimes: [runtime(containerd, ['b'])] },
    'lease-without-sandbox absence end-attachment',
  ],
  [
    'left to a fallback, and omitted',
    { id: 'a', madeBy: containerd, delegatedTo: 'dhcp' },
    { runtimes: [runtime(containerd, ['b'])] },
    'lease-without-sandbox absence none',
  ],
  [
    'its maker lists nothing',
    { id: 'a', madeBy: containerd },
    { runtimes: [runtime(containerd, [])] },
    undefined,
  ],
  [
    'its maker fails',
    { id: 'a', madeBy: containerd },
    { runtimes: [runtime(containerd, 'failed')] },
    undefined,
  ],
  ['its maker is away', { id: 'a', madeBy: containerd }, { runtimes: [] }, undefined],
  [
    'its maker fails, another one lists others, the API knows nothing of it',
    { id: 'a', madeBy: containerd },
    { runtimes: [runtime(containerd, 'failed'), runtime(crio, ['b'])], ...known('b') },
    undefined,
  ],
  [
    'its maker omits it, another one lists it',
    { id: 'a', madeBy: containerd },
    { runtimes: [runtime(containerd, ['b']), runtime(crio, ['a'])] },
    undefined,
  ],
  [
    'no maker, no pod',
    { id: 'a', pod: null },
    { runtimes: [runtime(containerd, ['b'])], ...known('b') },
    undefined,
  ],
  [
    'no maker, a pod without UID',
    { id: 'a', uid: null },
    { runtimes: [runtime(containerd, ['b'])], ...known('b') },
    undefined,
  ],
  [
    'no maker, the API knows the pod',
    { id: 'a' },
    { runtimes: [runtime(containerd, ['b'])], ...known('a', 'b') },
    undefined,
  ],
  [
    'no maker, the API knows it by the hash of a static pod',
    { id: 'a', uid: 'hash' },
    {
      runtimes: [runtime(containerd, ['b'])],
      pods: { state: 'asked', found: [pod('a', { uids: ['other', 'hash'] })] },
    },
    undefined,
  ],
  [
    'no maker, the API knows its name with another UID',
    { id: 'a' },
    {
      runtimes: [runtime(containerd, ['b'])],
      pods: { state: 'asked', found: [pod('a', { uids: ['new'] })] },
    },
    'lease-without-sandbox absence end-attachment',
  ],
  [
    'no maker, neither knows it',
    { id: 'a' },
    { runtimes: [runtime(containerd, ['b'])], ...known('b') },
    'lease-without-sandbox absence end-attachment',
  ],
  [
    'no maker, the API lists nothing',
    { id: 'a' },
    { runtimes: [runtime(containerd, ['b'])], ...known() },
    undefined,
  ],
  [
    'no maker, the API fails',
    { id: 'a' },
    { runtimes: [runtime(containerd, ['b'])], pods: { state: 'failed', reason: 'no' } },
    undefined,
  ],
  [
    'no maker, the API is asked later',
    { id: 'a' },
    { runtimes: [runtime(containerd, ['b'])], pods: { state: 'later' } },
    undefined,
  ],
  [
    'no maker, no API',
    { id: 'a' },
    { runtimes: [runtime(containerd, ['b'])] },
    'lease-without-sandbox absence none',
  ],
  [
    'no maker, all list nothing',
    { id: 'a' },
    { runtimes: [runtime(containerd, [])], ...known('b') },
    undefined,
  ],
  [
    'no maker, one runtime of two fails',
    { id: 'a' },
    { runtimes: [runtime(containerd, ['b']), runtime(crio, 'failed')], ...known('b') },
    undefined,
  ],
  ['no runtime, the API knows nothing of it', { id: 'a' }, known('b'), undefined],
]

for (const [what, of, seen, suspected] of table) {
  t.test(what, t => {
    const found = suspectAttachments(snapshot({ attachments: [attachment(of)], ...seen }))
    t.same(
      found.map(({ kind, certainty, action }) => `${kind} ${certainty.by} ${action.kind}`),
      suspected === undefined ? [] : [suspected],
    )
    for (const { action, certainty } of found)
      if (action.kind === 'end-attachment') t.equal(action.proved, certainty.by === 'proof')
    t.end()
  })
}

t.test('all ready sandboxes seem to have lost their namespaces', t => {
  const of = (...deaths: readonly (AttachmentWords['death'] | 'lives')[]): NodeSnapshot =>
    snapshot({
      attachments: deaths.map((death, index) =>
        attachment({ id: `c${index}`, ...(death !== 'lives' && { death }) }),
      ),
      runtimes: [runtime(containerd, ['c0', 'c1', 'c2!'])],
    })
  t.ok(seesNoNamespaces(of('namespace', 'namespace')))
  t.ok(seesNoNamespaces(of('namespace', 'namespace', 'lives')), 'who is not ready is no witness')
  t.notOk(seesNoNamespaces(of('namespace')), 'one alone is')
  t.notOk(seesNoNamespaces(of('namespace', 'lives')))
  t.notOk(seesNoNamespaces(of('namespace', 'boot')), 'nor is one of another boot')
  t.notOk(seesNoNamespaces(snapshot({ runtimes: [runtime(containerd, ['c0'])] })))
  const found = suspectAttachments(of('namespace', 'namespace', 'namespace'))
  t.same(
    found.map(({ action }) => action.kind),
    ['none', 'none', 'none'],
  )
  for (const { remedy } of found) t.match(remedy, /HostToContainer/)
  const [dead] = suspectAttachments(
    snapshot({
      attachments: [
        attachment({ id: 'old', death: 'boot' }),
        ...['c0', 'c1'].map(id => attachment({ id, death: 'namespace' })),
      ],
      runtimes: [runtime(containerd, ['c0', 'c1'])],
    }),
  )
  t.match(
    dead,
    { kind: 'dead-boot', action: { kind: 'end-attachment' } },
    'a boot that is over stays a proof',
  )
  t.end()
})

t.test('whether the API has to be asked', t => {
  const rows: readonly (readonly [AttachmentWords, readonly string[] | 'failed' | 'none', boolean])[] = [
    [{ id: 'a' }, ['b'], true],
    [{ id: 'a' }, 'failed', true],
    [{ id: 'a' }, 'none', false],
    [{ id: 'a' }, ['a'], false],
    [{ id: 'a', madeBy: containerd }, ['b'], false],
    [{ id: 'a', uid: null }, ['b'], false],
    [{ id: 'a', death: 'namespace' }, ['b'], false],
  ]
  for (const [of, answer, needed] of rows) {
    const runtimes = answer === 'none' ? [] : [runtime(containerd, answer)]
    t.equal(needsPods([attachment(of)], runtimes), needed, JSON.stringify([of, answer]))
  }
  t.notOk(needsPods([], [runtime(containerd, ['b'])]))
  t.end()
})
