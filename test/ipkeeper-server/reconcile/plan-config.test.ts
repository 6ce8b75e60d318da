import t from 'tap'
import { planReconcile } from '../../../ipkeeper-server/reconcile/plan-reconcile.ts'
import type { NodeSnapshot } from '../../../ipkeeper-server/reconcile/plan-snapshot.ts'
import { snapshot, usualTerms } from './snapshot-words.ts'

const path = '/etc/ipkeeper/config.yaml'

const rows: readonly (readonly [what: string, seen: Partial<NodeSnapshot>, finding: object | undefined])[] = [
  ['all is in force', {}, undefined],
  [
    'a configuration file that is refused',
    {
      refusedConfig: {
        ...{ path, message: 'no such key: pol', loadedAt: 0 },
        remedy: `ipkeeper-server check-config ${path}`,
      },
    },
    {
      kind: 'configuration-refused',
      says: `${path} is not in force: no such key: pol`,
      why: 'what is in force was loaded at 1970-01-01T00:00:00.000Z',
      remedy: `ipkeeper-server check-config ${path}`,
    },
  ],
  [
    'an IPPool whose newest spec is refused',
    { refusedPools: [{ says: 'IPPool prod: no', next: ['kubectl', 'edit', 'ippool', 'my pool'] }] },
    {
      kind: 'ippool-refused',
      says: 'IPPool prod: no',
      why: 'every node keeps the earlier spec in force',
      remedy: "kubectl edit ippool 'my pool'",
    },
  ],
]
for (const [what, seen, finding] of rows)
  t.test(`${what}: it is told at once, and left alone`, t => {
    const { planned } = planReconcile(snapshot(seen), new Map(), usualTerms, 0)
    t.equal(planned.length, finding ? 1 : 0)
    if (finding)
      t.match(planned, [
        { action: { kind: 'none' }, finding: { ...finding, severity: 'error', state: 'reported' } },
      ])
    t.end()
  })

t.test('another reason is another finding, and the same one is not', t => {
  const keyOf = (message: string, loadedAt: number): string | undefined => {
    const refusedConfig = { path, message, loadedAt, remedy: '' }
    return planReconcile(snapshot({ refusedConfig }), new Map(), usualTerms, 0).planned[0]?.key
  }
  t.equal(keyOf('a', 1), keyOf('a', 2))
  t.not(keyOf('a', 1), keyOf('b', 1))
  t.end()
})
