import t from 'tap'
import { planReconcile, type Doubts } from '../../../ipkeeper-server/reconcile/plan-reconcile.ts'
import { attachment, snapshot, usualTerms } from './snapshot-words.ts'
import type { SeenElsewhere } from '../../../ipkeeper-server/reconcile/plan-snapshot.ts'

t.test('what bears another name is told, once for each name, and left alone', t => {
  const of = (id: string, node: string) => {
    const { record, leases } = attachment({ id })
    return { record: { ...record, node }, leases }
  }
  const { planned } = planReconcile(
    snapshot({ misnamed: [of('a', 'old'), of('b', 'old'), of('c', 'older')] }),
    new Map(),
    usualTerms,
    0,
  )
  t.match(planned, [
    {
      action: { kind: 'none' },
      finding: {
        kind: 'record-of-another-name',
        state: 'reported',
        says: /^shop\/a \(.*\), and 1 more was added here on node old$/,
        remedy: /if this machine was formerly named old: .*"node: old"/,
      },
    },
    { finding: { says: /^shop\/c .*on node older$/ } },
  ])
  t.end()
})

t.test(
  'what is bound here and not on record is told once it has been so for long enough, and left alone',
  t => {
    const { record, leases } = attachment({ id: 'a' })
    const { network, containerId, ifname, holder } = record
    const unrecorded = leases.map(lease => ({
      ...lease,
      holder,
      node: 'n1',
      podUid: null,
      attachment: { network, containerId, ifname },
    }))
    const seen = snapshot({ unrecorded })
    const first = planReconcile(seen, new Map(), usualTerms, 0)
    t.match(first.planned, [
      { action: { kind: 'none' }, finding: { kind: 'lease-without-record', state: 'waiting' } },
    ])
    let { doubts } = first
    for (let pass = 1; pass < 10; pass++) ({ doubts } = planReconcile(seen, doubts, usualTerms, pass))
    const { planned } = planReconcile(seen, doubts, usualTerms, 1e9)
    t.match(planned, [
      { action: { kind: 'none' }, finding: { state: 'reported', says: /is bound on this node to shop\/a/ } },
    ])
    t.end()
  },
)

/** What a lost node has left; the node was gone for long, and one pass has seen it before. */
function plan(words: Partial<SeenElsewhere>, terms: object = {}, passes = 2): string[] {
  const { record, leases } = attachment({ id: 'a' })
  const seen: SeenElsewhere = {
    ...{
      record: { ...record, node: 'worker-9' },
      leases,
      goneFor: 300_000,
      nodeWasThere: false,
      pod: 'gone',
    },
    ...words,
  }
  let doubts: Doubts = new Map()
  let said: string[] = []
  for (let pass = 0; pass < passes; pass++) {
    const made = planReconcile(snapshot({ elsewhere: [seen] }), doubts, { ...usualTerms, ...terms }, pass)
    doubts = made.doubts
    said = made.planned.map(
      ({ action, finding }) =>
        `${finding.kind} ${finding.state} ${action.kind}: ${finding.why}; ${finding.remedy}`,
    )
  }
  return said
}

t.test('what lost nodes have left', t => {
  const table: readonly [what: string, words: Partial<SeenElsewhere>, says: readonly RegExp[]][] = [
    [
      'neither the node nor the pod is there',
      {},
      [/^lease-of-lost-node due end-attachment: the Kubernetes API has neither node worker-9 nor this pod/],
    ],
    ['not for long enough', { goneFor: 299_999 }, [/^\S+ waiting none: .*is 299 s old, waits for 300 s/]],
    ['its pod is not asked for yet', { pod: 'later' }, [/^\S+ reported none: .*its pod is asked for first/]],
    [
      'its pod is there: the daemon calls its node by another name',
      { pod: 'exists' },
      [/^\S+ reported none: .*has no node worker-9, but this pod; .*is not the name of its Node/],
    ],
    ['nobody can say of its pod', { pod: 'unknown' }, []],
    [
      'a container of a node that was one of the cluster',
      { pod: 'none', nodeWasThere: true },
      [/^\S+ due end-attachment: the Kubernetes API has no node worker-9 any more/],
    ],
    [
      'a container of a host that may never have been one',
      { pod: 'none' },
      [
        /^\S+ reported none: .*may never have been one of it.*if that machine is off: ipkeeperctl release --force \S+ --powered-off/,
      ],
    ],
  ]
  for (const [what, words, says] of table) {
    const said = plan(words)
    if (says.length === 0) t.strictSame(said, [], what)
    else t.match(said, says, what)
  }
  t.match(plan({}, {}, 1), [/^\S+ waiting none: .*seen in 1 of 2 passes/], 'in several passes')
  t.match(plan({}, { mode: 'report' }), [/^\S+ due none: .*; set reconcile.mode to repair/])
  t.match(plan({}, { kinds: { 'lease-of-lost-node': { mode: 'off' } } }), [])
  t.end()
})
