import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { NodeClaim, NodeRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import { nodeWrite } from '../../../../ipkeeper-server/leases/ledger/write-node.ts'
import { NameClaims } from '../../../../ipkeeper-server/leases/tasks/name-claims.ts'
import type { Problem } from '../../../../shared/problem/problem.ts'
import { EngineDouble, type NodeEngine, type NodeEngineOptions } from '../../../rigs/engine-double.ts'
import { until } from '../../../rigs/poll.ts'
import { nodeText } from '../../../rigs/records.ts'
import { openSharedStore } from '../../../rigs/shared-store.ts'

interface Node {
  readonly engine: NodeEngine
  readonly ledger: Ledger
  readonly claims: NameClaims
  /** "challenge it", "declared gone by n2", "lost", "regained", "error". */
  readonly told: string[]
}

async function startNode(
  t: Test,
  double: EngineDouble,
  mine: Partial<NodeClaim>,
  options: NodeEngineOptions = {},
  switches: Parameters<NodeEngine['turn']>[0] = {},
  names: readonly string[] = ['n1'],
): Promise<Node> {
  const engine = double.connect(options)
  engine.turn(switches)
  const { id = 'me', session = `${id}-1` } = mine
  const store = openSharedStore(
    t,
    engine,
    join(t.testdir({ [`${session}.d`]: {} }), `${session}.d`, 'journal.db'),
    {
      names: () => names,
      retryAfter: 20,
      startTimeout: 500,
    },
  )
  const ledger = await Ledger.open(store, Date.now, 'n1')
  const told: string[] = []
  const claims = new NameClaims({
    ledger,
    mine: { id, session, bootId: 'b1', since: 0, ...mine },
    stateDir: '/var/lib/ipkeeper',
    now: Date.now,
    monotonic: () => performance.now(),
    answerWithin: 150,
    onChallenge: (_, by) => told.push(`challenge ${by.id}`),
    onDeclaredGone: (_, by) => told.push(`declared gone by ${by}`),
    onLost: (_, problem) => told.push(problem ? 'lost' : 'regained'),
    onError: () => told.push('error'),
  })
  ledger.subscribe({
    changed: ({ kind, record }) => {
      if (kind === 'node')
        queueMicrotask(() => {
          claims.heard(record.name)
        })
    },
  })
  t.teardown(() => claims.stop())
  return { engine, ledger, claims, told }
}

const recordIn = (double: EngineDouble, name = 'n1'): NodeRecord =>
  JSON.parse(double.get('node', name)?.text ?? '{}') as NodeRecord

async function take({ claims }: Node, name = 'n1'): Promise<Problem | undefined> {
  try {
    await claims.takeAll(name, [])
    claims.hold(name)
    return undefined
  } catch (error) {
    return error as Problem
  }
}

t.test('a free name is had at once, and nothing is written for it again', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, {})
  t.equal(await take(one), undefined)
  t.match(recordIn(double), { name: 'n1', claim: { id: 'me', session: 'me-1' } })
  const { revision } = double
  t.equal(await take(one), undefined)
  t.equal(double.revision, revision)
})

t.test('who lives is not displaced', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, { id: 'one' })
  await take(one)
  const two = await startNode(t, double, { id: 'two' })
  t.match(await take(two), {
    code: 'IPK_NODE_NAME_TAKEN',
    message: /^node n1 is another machine that runs \(ID one since .*\); this one is ID two since/,
    hint: /"node" in its configuration/,
  })
  t.strictSame(one.told, ['challenge two'])
  t.match(recordIn(double), { claim: { id: 'one' }, refused: 'two-1' })
  t.equal(one.claims.refusal(), undefined)
})

const claim: NodeClaim = { id: 'one', session: 'one-1', bootId: 'b1', since: 0 }
const taken = {
  code: 'IPK_NODE_NAME_TAKEN',
  message: /^node n1 has not reported what is in use there/,
}
const awaited: readonly (readonly [
  what: string,
  record: Partial<NodeRecord>,
  names: readonly string[],
  refusal?: object,
])[] = [
  ['by another machine', { claim }, [], taken],
  ['by another machine, of a placeholder', {}, [], taken],
  ['by another machine, once it is gone for good', { claim, gone: { by: 'n2', since: 1 } }, []],
  ['by another machine, once it has told', { claim, epoch: 2 }, []],
  ['by the machine itself', { claim: { ...claim, id: 'me' } }, []],
  ['by the machine itself, of a placeholder', {}, ['n1']],
]
for (const [what, record, names, refusal] of awaited) {
  t.test(`a name that is waited for after a loss is wanted ${what}`, async t => {
    const double = new EngineDouble()
    const put = (name: string, more: Partial<NodeRecord>): void => {
      double.put('node', name, nodeText(name, more))
    }
    put('n1', record)
    put('n2', { epoch: 2 })
    const refused = await take(await startNode(t, double, {}, {}, {}, names))
    t.match(refused ?? 'taken', refusal ?? 'taken')
    if (refused) t.match(refused.hint, /ipkeeperctl forget-node n1$/)
    t.equal(recordIn(double).claim?.id, refusal ? record.claim?.id : 'me')
  })
}

for (const [what, record] of [
  ['another machine has it', { claim }],
  ['nobody has it any more', {}],
] as const)
  t.test(
    `a name that is waited for after a loss is asked for again after a pause, where ${what}`,
    async t => {
      const double = new EngineDouble()
      double.put('node', 'n1', nodeText('n1', record))
      double.put('node', 'n2', nodeText('n2', { epoch: 2 }))
      const { claims, ledger, told } = await startNode(t, double, {}, {}, {}, [])
      const readNode = ledger.readNode.bind(ledger)
      let reads = 0
      ledger.readNode = async name => (reads++, await readNode(name))
      claims.hold('n1')
      await until('it is lost', () => told.includes('lost'))
      await delay(100)
      t.equal(reads, 1)
    },
  )

t.test('nor by a copy of itself', async t => {
  const double = new EngineDouble()
  await take(await startNode(t, double, { id: 'one' }))
  t.match(await take(await startNode(t, double, { id: 'one', session: 'copy' })), {
    message: /^a machine with a copy of this state folder runs as node n1/,
    hint: /mv \/var\/lib\/ipkeeper\/\* \/var\/lib\/ipkeeper\.copy\/ && touch/,
  })
})

t.test('who was refused asks again, and has the name when nobody contradicts any more', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, { id: 'one' })
  await take(one)
  const two = await startNode(t, double, { id: 'two' })
  t.match(await take(two), { code: 'IPK_NODE_NAME_TAKEN' })
  t.match(await take(two), { code: 'IPK_NODE_NAME_TAKEN' }, 'each time anew')
  t.strictSame([one.told, two.claims.isSure()], [['challenge two', 'challenge two'], false])
  await one.claims.stop()
  t.equal(await take(two), undefined)
  t.match(recordIn(double), { claim: { id: 'two' }, formers: [{ id: 'one' }] })
  t.ok(two.claims.isSure())
})

t.test('who says nothing is, and is remembered', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, { id: 'one' })
  await take(one)
  await one.claims.stop()
  const two = await startNode(t, double, { id: 'two' })
  const began = performance.now()
  t.equal(await take(two), undefined)
  t.ok(performance.now() - began >= 150)
  const { claim, formers, challenge } = recordIn(double)
  t.match(
    { claim, formers, challenge },
    { claim: { id: 'two' }, formers: [{ id: 'one' }], challenge: undefined },
  )
})

t.test('an answer that comes late finds the name gone; then who lives contradicts', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, { id: 'one' })
  await take(one)
  one.engine.turn({ deaf: true })
  const two = await startNode(t, double, { id: 'two' })
  t.equal(await take(two), undefined)
  one.engine.turn({ deaf: false })
  // Any change of the record tells it.
  double.put(
    'node',
    'n1',
    JSON.stringify({ ...recordIn(double), generation: recordIn(double).generation + 1 }),
  )
  await until('it knows', () => one.told.includes('lost'))
  t.match(one.claims.refusal(), { code: 'IPK_NODE_NAME_TAKEN', message: /ID two/ })
  await until('it has asked again, in vain', () => two.told.includes('challenge one'))
  t.equal(two.claims.refusal(), undefined)
  const { revision } = double
  await new Promise(resolve => setTimeout(resolve, 400))
  t.equal(double.revision, revision, 'and does not go on asking')
})

t.test('a name that comes free is had again', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, { id: 'one' })
  await take(one)
  const stolen = { ...recordIn(double), claim: { id: 'dead', session: 'dead-1', bootId: 'b0', since: 0 } }
  double.put('node', 'n1', JSON.stringify({ ...stolen, generation: 9 }))
  await until('it is lost, and asked for', () => one.told.includes('lost'))
  await until('it is had again', () => one.told.includes('regained'))
  t.match(recordIn(double), { claim: { id: 'one' }, formers: [{ id: 'dead' }] })
  t.equal(one.claims.refusal(), undefined)
})

t.test('an engine that forgot the record', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, { id: 'one' })
  await take(one)
  double.put('node', 'n1', null)
  await until('it is told again', () => double.get('node', 'n1') !== undefined)
  t.match(recordIn(double), { claim: { id: 'one' } })
  t.strictSame(one.told, [])
})

t.test('of many that come at once, one has the name', async t => {
  const double = new EngineDouble()
  const nodes = await Promise.all(['a', 'b', 'c', 'd'].map(id => startNode(t, double, { id })))
  const outcomes = await Promise.all(nodes.map(node => take(node)))
  const won = outcomes.flatMap((problem, index) => (problem ? [] : [index]))
  t.equal(won.length, 1)
  t.equal(recordIn(double).claim?.id, ['a', 'b', 'c', 'd'][won[0]!])
})

t.test('two that want the name of one that is gone', async t => {
  const double = new EngineDouble()
  const dead = { id: 'dead', session: 'dead-1', bootId: 'b0', since: 0 }
  double.put('node', 'n1', nodeText('n1', { claim: dead }))
  const nodes = await Promise.all(['a', 'b'].map(id => startNode(t, double, { id })))
  const outcomes = await Promise.all(nodes.map(node => take(node)))
  t.equal(outcomes.filter(problem => problem === undefined).length, 1)
  t.equal(recordIn(double).formers?.length, 1)
})

t.test('an engine without records of nodes has no claims', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, {}, { ignores: ['node'] })
  t.equal(await take(one), undefined)
  t.equal(double.get('node', 'n1'), undefined)
  t.strictSame(one.told, [])
})

t.test('an engine that is away is said to be so', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, {})
  one.engine.turn({ away: 'refuses' })
  t.match(await take(one), { code: 'IPK_STORE_AWAY' })
})

t.test(
  'an engine that is away while the name is held is asked now and then, and told when it is back',
  async t => {
    const double = new EngineDouble()
    const one = await startNode(t, double, {})
    one.engine.turn({ away: 'refuses' })
    await one.ledger.readNode('n1').catch(() => undefined)
    let tries = 0
    one.ledger.subscribe({
      changed: ({ kind }) => {
        if (kind === 'node') tries++
      },
    })
    one.claims.hold('n1')
    await until('it is said', () => one.told.includes('error'))
    await until('it was tried again', () => tries > 4)
    t.ok(tries < 50, `${tries} changes heard of`)
    t.strictSame(one.told, ['error'], 'and said once')
    one.engine.turn({ away: false })
    await until('it has the name', () => recordIn(double).claim?.id === 'me')
  },
)

t.test('began while the engine was away: no ADD between its return and its word on the name', async t => {
  const double = new EngineDouble()
  await take(await startNode(t, double, { id: 'one' }))
  // An engine that says nothing keeps no process alive.
  const alive = setInterval(() => undefined, 1000)
  t.teardown(() => {
    clearInterval(alive)
  })
  const two = await startNode(t, double, { id: 'two' }, {}, { away: 'refuses' })
  two.claims.hold('n1')
  await until('it asked in vain', () => two.told.includes('error'))
  t.equal(two.claims.refusal(), undefined, 'what is bound here goes on')
  two.engine.turn({ away: false })
  await until('it is back', () => two.ledger.storeStatus()?.state === 'ready')
  t.match(two.claims.claimRefusal(), { code: /^IPK_(STORE_AWAY|NODE_NAME_TAKEN)$/ })
  await until('it is refused', () => two.claims.refusal() !== undefined)
  t.match(two.claims.claimRefusal(), { code: 'IPK_NODE_NAME_TAKEN' })
})

t.test('who was refused is asked again when the store is back, also where nothing has changed', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, { id: 'one' })
  await take(one)
  const two = await startNode(t, double, { id: 'two' })
  two.claims.hold('n1')
  await until('it is refused', () => two.told.includes('lost'))
  await until('that is answered', () => recordIn(double).refused === 'two-1')
  await one.claims.stop()
  two.claims.askAgain()
  await until('it has the name', () => two.told.includes('regained'))
  t.match(recordIn(double), { claim: { id: 'two' } })
})

t.test(
  'began again while the engine was away, in the same boot: the name is confirmed when it is back',
  async t => {
    const double = new EngineDouble()
    const before = await startNode(t, double, { id: 'one' })
    await take(before)
    await before.claims.stop()
    const alive = setInterval(() => undefined, 1000)
    t.teardown(() => {
      clearInterval(alive)
    })
    const again = await startNode(t, double, { id: 'one' }, {}, { away: 'refuses' })
    again.claims.hold('n1')
    t.match(again.claims.claimRefusal(), { code: 'IPK_STORE_AWAY' })
    again.engine.turn({ away: false })
    await until('it is back', () => again.ledger.storeStatus()?.state === 'ready')
    again.claims.askAgain()
    await until('it may take addresses', () => again.claims.claimRefusal() === undefined)
    t.equal(again.claims.refusal(), undefined)
    t.match(recordIn(double), { claim: { session: 'one-1' } })
    const { revision } = double
    again.claims.heard('n1')
    again.claims.askAgain()
    t.equal(double.revision, revision, 'and nothing is written for it')
  },
)

t.test('a name is given up, but not by whom it is not', async t => {
  const double = new EngineDouble()
  const [one, two] = [await startNode(t, double, { id: 'one' }), await startNode(t, double, { id: 'two' })]
  await take(one, 'n1')
  // One that is held would be asked for again at once.
  await two.claims.take('n2')
  await until(
    'they know each other',
    () => one.ledger.node('n2') !== undefined && two.ledger.node('n1') !== undefined,
  )
  t.strictSame(
    [one.claims.names(), two.claims.isOthers('n1'), one.claims.isOthers('n1')],
    [['n1'], true, false],
  )
  await two.claims.giveUp('n1', 'n3', () => false)
  t.match(recordIn(double), { claim: { id: 'one' } })
  await two.claims.giveUp('n2', 'n3', () => true)
  t.equal(recordIn(double, 'n2').claim, undefined)
  t.equal(recordIn(double, 'n2').name, 'n2', 'what others still bear can be found by it')
  await two.claims.giveUp('n2', 'n3', () => false)
  t.match(
    recordIn(double, 'n2'),
    { name: 'n2', gone: { by: 'n3' } },
    'a record that vanishes would look like a loss',
  )
  const { revision } = double
  await two.claims.giveUp('n2', 'n3', () => false)
  t.equal(double.revision, revision)
  await one.claims.take('n2')
  const { claim, gone } = recordIn(double, 'n2')
  t.match({ claim, gone }, { claim: { id: 'one' }, gone: undefined }, 'whoever is called so is not gone')
})

/** Somebody says on another node that n1 is gone for good. */
async function declareGone({ ledger }: Node): Promise<void> {
  await until('it is known', () => ledger.node('n1') !== undefined)
  const record = ledger.node('n1') as NodeRecord
  const gone = { since: 1, by: 'n2' }
  const { generation } = record
  await ledger.commit([
    { kind: 'node', key: 'n1', expect: generation, record: { ...record, gone, generation: generation + 1 } },
  ])
}

t.test('a node that lives contradicts who says that it is gone', async t => {
  const double = new EngineDouble()
  const one = await startNode(t, double, { id: 'one' })
  await take(one)
  const two = await startNode(t, double, { id: 'two' })
  await declareGone(two)
  await until('it is taken back', () => recordIn(double).gone === undefined)
  t.match(recordIn(double), { claim: { session: 'one-1' } })
  await until('it is told', () => one.told.length > 0)
  t.strictSame(one.told, ['declared gone by n2'])
})

t.test('so does one that comes back, as it was or after a boot', async t => {
  for (const session of ['one-1', 'one-2']) {
    const double = new EngineDouble()
    const one = await startNode(t, double, { id: 'one' })
    await take(one)
    await one.claims.stop()
    await declareGone(await startNode(t, double, { id: `two of ${session}` }))
    t.match(recordIn(double), { gone: { by: 'n2' } })
    const back = await startNode(t, double, { id: 'one', session })
    t.equal(await take(back), undefined)
    t.match(recordIn(double), { claim: { session }, gone: undefined })
    t.notOk('gone' in recordIn(double))
  }
})

t.test('a change of the record that is on its way to an engine that goes away keeps nobody busy', async t => {
  const double = new EngineDouble()
  const node = await startNode(t, double, {}, { deadlineMs: 1_000 })
  const other = await startNode(t, double, { id: 'other' })
  await other.claims.take('n1')
  await until('it is heard', () => node.ledger.node('n1') !== undefined)
  node.engine.turn({ slowMs: 300 })
  const record = node.ledger.node('n1')
  const changed = record && node.ledger.commit([nodeWrite('n1', record, record)]).catch(() => undefined)
  await delay(5)
  node.engine.turn({ away: 'refuses', slowMs: 0 })
  const taken = node.claims.take('n1').catch((error: unknown) => error)
  await changed
  t.match(await taken, { code: 'IPK_STORE_AWAY' }, 'timers come in time, and it ends')
})
