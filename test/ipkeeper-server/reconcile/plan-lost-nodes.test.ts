import t from 'tap'
import type { SeenElsewhere } from '../../../ipkeeper-server/reconcile/plan-snapshot.ts'
import { planReconcile, type Doubts } from '../../../ipkeeper-server/reconcile/plan-reconcile.ts'
import { attachment, snapshot, usualTerms } from './snapshot-words.ts'

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
      [/^\S+ reported none: .*may never have been one of it.*send the DEL from any other node/],
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
