import t from 'tap'
import { suspectSandboxes, suspectTwins } from '../../../ipkeeper-server/reconcile/plan-sandboxes.ts'
import { attachment, sandbox, snapshot, type AttachmentWords } from './snapshot-words.ts'

t.test('a sandbox with an address of a pool', t => {
  const pooledSandboxes = [{ sandbox: sandbox('s1'), address: '10.22.0.9', pool: 'net' }]
  t.match(suspectSandboxes(snapshot({ pooledSandboxes })), [
    {
      kind: 'sandbox-without-lease',
      says: /shop\/s1 \(container s1\) uses 10\.22\.0\.9 of pool net/,
      about: { pod: 'shop/s1', podUid: 'uid-s1', containerId: 's1', address: '10.22.0.9' },
      action: { kind: 'none' },
    },
  ])
  t.same(
    suspectSandboxes(snapshot({ pooledSandboxes, attachedSince: new Set(['s1']) })),
    [],
    'added meanwhile',
  )
  t.end()
})

t.test('two sandboxes of one pod', t => {
  const rows: readonly (readonly [what: string, of: readonly AttachmentWords[], groups: number])[] = [
    ['one', [{ id: 'a', pod: 'web-0' }], 0],
    [
      'two',
      [
        { id: 'a', pod: 'web-0' },
        { id: 'b', pod: 'web-0' },
      ],
      1,
    ],
    ['three', ['a', 'b', 'c'].map(id => ({ id, pod: 'web-0' })), 1],
    [
      'of two pods',
      [
        { id: 'a', pod: 'web-0' },
        { id: 'b', pod: 'web-1' },
      ],
      0,
    ],
    [
      'two interfaces',
      [
        { id: 'a', pod: 'web-0' },
        { id: 'a', pod: 'web-0', ifname: 'net1' },
      ],
      0,
    ],
    [
      'one is dead',
      [
        { id: 'a', pod: 'web-0', death: 'namespace' },
        { id: 'b', pod: 'web-0' },
      ],
      0,
    ],
    [
      'containers',
      [
        { id: 'a', pod: null },
        { id: 'b', pod: null },
      ],
      0,
    ],
  ]
  for (const [what, of, groups] of rows) {
    const found = suspectTwins(snapshot({ attachments: of.map(attachment) }))
    t.equal(found.length, groups, what)
    for (const { action, kind } of found) t.same([action.kind, kind], ['none', 'two-sandboxes'])
  }
  const [twins] = suspectTwins(
    snapshot({
      attachments: [
        attachment({ id: 'new', pod: 'web-0', since: 2 }),
        attachment({ id: 'old', pod: 'web-0', since: 1, addresses: [] }),
      ],
    }),
  )
  t.match(twins, {
    says: 'shop/web-0 has 2 sandboxes: old with no address; new with 10.22.0.2',
    remedy: /crictl inspectp old/,
    about: { pod: 'shop/web-0', podUid: 'uid-web-0', containerId: 'old' },
  })
  const canary = ['new', 'old'].map(id =>
    attachment({ id, pod: 'web.cache[0]', since: id === 'old' ? 1 : 2 }),
  )
  t.match(suspectTwins(snapshot({ attachments: canary })), [{ remedy: /: nomad alloc status old$/ }])
  t.end()
})
