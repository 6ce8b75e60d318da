import t from 'tap'
import { EngineMemory, type HeardAll } from '../../../../ipkeeper-server/store/shared/engine-memory.ts'
import type { EnginePosition, EngineRecord } from '../../../../ipkeeper-server/store/shared/engine.ts'
import { nodeRecord, nodeText } from '../../../rigs/records.ts'

const node = (name: string, revision: number, more: object = {}): EngineRecord => ({
  ...{ kind: 'node', key: name, revision },
  text: nodeText(name, { since: 1, ...more }),
})

const lease = (address: string, revision: number): EngineRecord => ({
  ...{ kind: 'lease', key: `["default","${address}"]`, revision },
  text: JSON.stringify({ generation: 1, node: 'n1', segment: 'default', address }),
})

const ending = (address: string): EngineRecord => ({
  ...{ kind: 'ending', key: `["n1","default","${address}","x"]`, revision: 60 },
  text: JSON.stringify({ node: 'n1', segment: 'default', address, generation: 1, by: 'n2', since: 1 }),
})

const bound = new Map([['lease ["default","10.22.0.50"]', 40]])
const all = [node('n1', 10), node('n2', 11), lease('10.22.0.50', 40)]

/** After a loss, which n2 has told of. */
const secondEpoch = { before: { epoch: 2 } }

interface Case {
  /** Of the nodes, when they were heard of. */
  readonly before?: object
  readonly name: string
  readonly records?: readonly EngineRecord[]
  readonly position?: EnginePosition
  readonly more?: Partial<HeardAll>
  readonly loss: RegExp | undefined
}

const cases: readonly Case[] = [
  { name: 'all is there', loss: undefined },
  { name: 'another cluster', position: { cluster: 'b', revision: 100 }, loss: /another cluster/ },
  {
    name: 'a revision that went back',
    position: { cluster: 'a', revision: 49 },
    loss: /from revision 50 to 49/,
  },
  {
    name: 'a revision below what is bound here',
    ...{ position: { cluster: 'a', revision: 55 }, more: { bound: new Map([['lease x', 56]]) } },
    loss: /from revision 56 to 55/,
  },
  { name: 'no record of a node', records: [node('n1', 10), lease('10.22.0.50', 40)], loss: /node n2/ },
  {
    name: 'no record of a node, in an engine that keeps none',
    ...{ records: [lease('10.22.0.50', 40)], more: { keepsNodes: false }, loss: undefined },
  },
  { name: 'a lease that is missing', records: all.slice(0, 2), loss: /was never released/ },
  {
    name: 'a lease that somebody else has ended',
    ...{ records: [...all.slice(0, 2), ending('10.22.0.50')], loss: undefined },
  },
  {
    name: 'a lease that is missing where no traces are kept',
    ...{ records: all.slice(0, 2), more: { keepsEndings: false }, loss: undefined },
  },
  {
    name: 'a lease in an older version',
    ...{ records: [...all.slice(0, 2), lease('10.22.0.50', 39)], loss: /older version/ },
  },
  {
    name: "somebody else's record in an older version than it was heard in",
    ...{
      more: { revisionOf: ({ key }) => (key === 'n2' ? 12 : undefined) },
      loss: /node n2 in an older version/,
    },
  },
  {
    name: 'another node has found it',
    ...{ records: [...all, node('n3', 70, { epoch: 2 })], loss: /node n3 has found/ },
  },
  {
    name: 'nobody knows of the loss before',
    ...secondEpoch,
    loss: /has no record of an earlier loss/,
  },
  {
    name: 'one node still knows of the loss before',
    ...secondEpoch,
    ...{ records: [node('n1', 10), node('n2', 11, { epoch: 2 }), lease('10.22.0.50', 40)], loss: undefined },
  },
  {
    name: 'a node that is gone for good needs no record',
    ...{ records: [node('n1', 10), node('n2', 11), node('n3', 70, { gone: {} }), lease('10.22.0.50', 40)] },
    loss: undefined,
  },
]

function heard(memory: EngineMemory, { records = all, position, more }: Case): string | undefined {
  return memory.lossIn({
    ...{ records, position: position ?? { cluster: 'a', revision: 80 }, bound, isFirst: true },
    revisionOf: () => undefined,
    isOwn: name => name === 'n1',
    ...{ keepsNodes: true, keepsEndings: true },
    ...more,
  })
}

const remembered = (more: object = {}): string => {
  const before = new EngineMemory('etcd here')
  before.heard({ cluster: 'a', revision: 45 })
  before.passed(50)
  for (const name of ['n1', 'n2']) before.sees(nodeRecord(name, { since: 1, ...more }))
  return before.note().text ?? ''
}

for (const one of cases) {
  t.test(one.name, t => {
    const memory = new EngineMemory('etcd here')
    memory.found(remembered(one.before))
    t.match(heard(memory, one) ?? 'none', one.loss ?? /^none$/)
    t.end()
  })
}

t.test('a journal that knows nothing of this engine finds no loss', t => {
  for (const one of cases) t.equal(heard(new EngineMemory('etcd here'), one), undefined, one.name)
  const elsewhere = new EngineMemory('etcd there')
  elsewhere.found(remembered())
  t.equal(elsewhere.isNew, true)
  t.end()
})

t.test('that nobody is in an epoch is no loss before somebody has told in it', t => {
  const memory = new EngineMemory('etcd here')
  memory.found(remembered())
  memory.lost('it went back', 1, 5)
  const [one] = cases
  t.equal(heard(memory, one!), undefined)
  const later = new EngineMemory('etcd here')
  later.found(memory.note().text ?? '')
  t.equal(heard(later, one!), undefined, 'nor after a restart')
  memory.sees({ generation: 2, name: 'n2', addresses: [], since: 1, epoch: 2 })
  t.match(heard(memory, one!), /earlier loss/)
  t.end()
})

t.test('an epoch of others is taken, one of our own is the next', t => {
  const memory = new EngineMemory('etcd here')
  memory.found(remembered())
  memory.lost('it went back', 1, 5)
  t.equal(memory.epoch, 2)
  memory.lost('others say so', 7, 6)
  t.equal(memory.epoch, 7)
  t.match(memory.loss, { reason: 'others say so', since: 6 })
  t.end()
})
