import t from 'tap'
import { planReconcile } from '../../../ipkeeper-server/reconcile/plan-reconcile.ts'
import { attachment, snapshot, usualTerms } from './snapshot-words.ts'

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
        remedy: /if this machine was called old: .*"node: old"/,
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
