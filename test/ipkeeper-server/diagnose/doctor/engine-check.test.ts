import t from 'tap'
import { engineCheck } from '../../../../ipkeeper-server/diagnose/doctor/checks/engine.ts'
import type { NodeView } from '../../../../ipkeeper-server/diagnose/doctor/node-view.ts'
import type { StatusReply } from '../../../../shared/api/listing.schema.ts'

const look = async (store: Partial<StatusReply['store']>): Promise<unknown> => {
  const status = { store: { kind: 'etcd', location: 'https://10.0.0.1:2379', ...store } }
  return await engineCheck.run({ status: () => Promise.resolve(status) } as unknown as NodeView)
}
const since = '2026-11-21T10:00:00.000Z'
const where = 'etcd https://10.0.0.1:2379'
const lost = { state: 'incomplete', reason: 'it is another cluster than before', since } as const

const cases: readonly (readonly [what: string, store: Partial<StatusReply['store']>, finding: object])[] = [
  ["this node's own", {}, { state: 'skip' }],
  ['ready', { state: 'ready', owed: 0 }, { state: 'ok', says: where }],
  [
    'away',
    { state: 'away', reason: 'ECONNREFUSED', since, owed: 2 },
    { state: 'fail', says: /is away since/ },
  ],
  [
    'deaf',
    { state: 'ready', reason: 'no watch is open', since },
    { state: 'warn', says: /is not heard since/ },
  ],
  [
    'incomplete',
    { ...lost, owed: 0, waitsFor: ['n3', 'n4'] },
    {
      state: 'fail',
      says: `${where} has lost records (it is another cluster than before), and nothing new is given since ${since}; it waits for n3, n4`,
      mend: ['ipkeeperctl', 'status'],
    },
  ],
  [
    'incomplete, and waits for nobody else',
    { ...lost, owed: 7, waitsFor: [] },
    {
      state: 'fail',
      says: /nothing new is given since 2026-11-21T10:00:00\.000Z; 7 records wait to be told to it$/,
    },
  ],
]
for (const [what, store, finding] of cases) {
  t.test(what, async t => {
    t.match(await look(store), finding)
  })
}
