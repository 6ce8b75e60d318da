import t from 'tap'
import type { NodeView } from '../../../../ipkeeper-server/diagnose/doctor/probe-node.ts'
import { otherNodesCheck } from '../../../../ipkeeper-server/diagnose/doctor/checks/store.ts'
import type { NodeItem } from '../../../../shared/api/node.schema.ts'

const item = (name: string, more: Partial<NodeItem> = {}): Partial<NodeItem> => ({
  ...{ name, here: false, state: 'unknown', leases: 1, lastContact: null, ...more },
})
const own = item('n1', { here: true, state: 'lives' })

for (const [what, nodes, state, says] of [
  ['this node alone', [own], 'ok', '1 node'],
  ['one that had nothing to write', [own, item('n2')], 'ok', '2 nodes'],
  ['one that is gone and has nothing', [own, item('n2', { state: 'gone', leases: 0 })], 'ok', '2 nodes'],
  [
    'one that is out of contact',
    [own, item('n2', { state: 'silent', lastContact: '2026-11-02T08:00:00.000Z' })],
    'warn',
    'node n2 is out of contact (1 address bound there, last contact 2026-11-02T08:00:00.000Z)',
  ],
  [
    'several',
    [
      own,
      item('n2', { state: 'gone', leases: 3 }),
      item('n3', { state: 'out-of-service' }),
      item('n4', { state: 'waited-for' }),
    ],
    'warn',
    'node n2 is gone (3 addresses bound there); and 2 others: n3, n4',
  ],
] as const)
  t.test(what, async t => {
    const node = {
      status: () => Promise.resolve({ store: { kind: 'etcd', state: 'ready' } }),
      ask: () => Promise.resolve({ nodes, more: 0 }),
    } as unknown as NodeView
    const result = await otherNodesCheck.run(node)
    t.match(result, { state, says })
  })
