/** An operator says that a node is gone for good: ledgers in front of one engine. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { NodeRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { forgetNode } from '../../../../ipkeeper-server/leases/verbs/forget-node.ts'
import { NameClaims } from '../../../../ipkeeper-server/leases/tasks/name-claims.ts'
import type { Problem } from '../../../../shared/problem/problem.ts'
import { EngineDouble, type NodeEngine, type NodeEngineOptions } from '../../../rigs/engine-double.ts'
import { until } from '../../../rigs/poll.ts'
import { nodeText } from '../../../rigs/records.ts'
import { openSharedLeases } from '../../../rigs/shared-store.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { Site, type SiteNode } from '../several-nodes.ts'
import { TestService, type PodWords } from '../test-service.ts'

const off = { byTime: undefined, offlineGrace: 300_000 }
/** Nobody is there to answer. */
const hasty = { answerWithin: 20 }

const recordIn = (engine: EngineDouble, name: string): NodeRecord | undefined => {
  const text = engine.get('node', name)?.text
  return text === undefined ? undefined : (JSON.parse(text) as NodeRecord)
}

const openNode = (t: Test, own: NodeEngine, node = 'n1'): Promise<TestService> =>
  openSharedLeases(t, own, join(t.testdir({}), `${node}.db`), { node, retryAfter: 10 })

const told = (name: string, more: Partial<NodeRecord> = {}): [kind: 'node', key: string, text: string] => [
  'node',
  name,
  nodeText(name, more),
]

t.test('nobody waits for it any more', async t => {
  const engine = new EngineDouble()
  engine.put(...told('n1', { epoch: 2 }))
  engine.put(...told('n2', { epoch: 1, addresses: ['192.0.2.2'] }))
  engine.put(...told('n3'))
  const { service } = await openNode(t, engine.connect())
  await until('all is heard', () => service.ledger.isHeard())
  t.strictSame(service.ledger.storeStatus()?.waitsFor, ['n2', 'n3'])
  const reply = await forgetNode(service, 'n2', hasty)
  t.match(reply, { node: 'n2', gone: { by: 'n1' }, changed: true, bound: 0, waitsFor: ['n3'] })
  t.match(recordIn(engine, 'n2'), { generation: 2, addresses: ['192.0.2.2'], epoch: 1, gone: { by: 'n1' } })
  const { revision } = engine
  t.strictSame(await forgetNode(service, 'n2', hasty), { ...reply, changed: false }, 'that is known already')
  t.equal(engine.revision, revision)
  t.strictSame((await forgetNode(service, 'n3', hasty)).waitsFor, [])
})

t.test('who is misspelt, or is this node, is told so', async t => {
  const engine = new EngineDouble()
  for (const name of ['n1', 'n2', 'n3']) engine.put(...told(name))
  engine.put(...told('n0', { gone: { since: 0, by: 'n2' } }))
  const { service } = await openNode(t, engine.connect())
  await until('all is heard', () => service.ledger.isHeard())
  t.match(await thrownProblem(() => forgetNode(service, 'n33', hasty)), {
    code: 'IPK_NODE_UNKNOWN',
    message: 'no node n33 is known; there are, beside this one: n2, n3',
  })
  t.match(await thrownProblem(() => forgetNode(service, 'n1', hasty)), {
    code: 'IPK_NODE_LIVES',
    message: 'n1 is this very node, and its daemon runs',
    hint: 'if it is gone for good, run this command on another node',
  })
  t.equal(recordIn(engine, 'n1')?.gone, undefined)
})

t.test('many names are not all told', async t => {
  const engine = new EngineDouble()
  for (let index = 100; index < 125; index++) engine.put(...told(`n${index}`))
  const { service } = await openNode(t, engine.connect())
  await until('all is heard', () => service.ledger.isHeard())
  t.match(await thrownProblem(() => forgetNode(service, 'n33', hasty)), {
    message: /: n100, .*, n119 and 5 more$/,
  })
})

t.test('where one daemon has the store to itself there is no other node', async t => {
  const { service } = await TestService.open()
  t.match(await thrownProblem(() => forgetNode(service, 'n2', hasty)), {
    code: 'IPK_NODE_UNKNOWN',
    message: 'this store knows of no other node than n1',
  })
})

t.test('while the engine is away nothing can be said', async t => {
  const engine = new EngineDouble()
  for (const name of ['n1', 'n2']) engine.put(...told(name))
  const own = engine.connect({})
  const { service } = await openNode(t, own)
  await until('all is heard', () => service.ledger.isHeard())
  own.turn({ away: 'refuses' })
  t.match(await thrownProblem(() => forgetNode(service, 'n2', hasty)), { code: 'IPK_STORE_AWAY' })
  t.equal(service.ledger.node('n2')?.gone, undefined)
})

const claim = { id: 'two', session: 's2', bootId: 'b2', since: 0 }

/** A node that answers whoever asks for its name. */
async function startClaimant(
  t: Test,
  engine: EngineDouble,
  { session = 's2', answerWithin = 150 } = {},
): Promise<{ readonly claims: NameClaims; readonly asked: string[] }> {
  const { ledger } = (await openNode(t, engine.connect(), 'n2')).service
  const asked: string[] = []
  const claims = new NameClaims({
    ...{ ledger, stateDir: '/s', now: Date.now, monotonic: () => performance.now(), answerWithin },
    mine: { ...claim, session },
    onChallenge: (_, { askedOn = 'no operator' }) => asked.push(askedOn),
    onLost: () => undefined,
    onError: () => undefined,
  })
  t.teardown(() => claims.stop())
  ledger.subscribe({
    changed: ({ kind, record }) => {
      if (kind === 'node')
        queueMicrotask(() => {
          claims.heard(record.name)
        })
    },
  })
  return { claims, asked }
}

/** Whatever was ever said of n2: "asked on n1", "gone". */
function sayings(engine: EngineDouble): ReadonlySet<string> {
  const said = new Set<string>()
  engine.onChange(() => {
    const { challenge, gone } = recordIn(engine, 'n2') ?? {}
    if (challenge) said.add(`asked on ${challenge.askedOn ?? 'none'}`)
    if (gone) said.add('gone')
  })
  return said
}

const lives = {
  code: 'IPK_NODE_LIVES',
  message: 'node n2 is running: its daemon answered (ID two since 1970-01-01T00:00:00Z, at 192.0.2.2)',
  hint: /ipkeeperctl status/,
}

/** Two nodes where operators type, and n2, which somebody has claimed. */
async function openOperators(t: Test, options: NodeEngineOptions = {}) {
  const engine = new EngineDouble()
  engine.put(...told('n2', { claim, addresses: ['192.0.2.2'] }))
  const own = engine.connect(options)
  const { service: one } = await openNode(t, own)
  const { service: three } = await openNode(t, engine.connect(), 'n3')
  for (const { ledger } of [one, three]) await until('all is heard', () => ledger.isHeard())
  return { engine, own, one, three, said: sayings(engine) }
}

t.test('a node that lives is asked first, and nothing is written', async t => {
  const { engine, one, three, said } = await openOperators(t)
  const { claims, asked } = await startClaimant(t, engine)
  await claims.take('n2')
  claims.hold('n2')
  const before = recordIn(engine, 'n2')
  t.match(await thrownProblem(() => forgetNode(one, 'n2')), lives)
  const after = recordIn(engine, 'n2')
  t.match(after?.refused, /^[0-9a-f]{16}$/)
  const { generation, refused } = after ?? {}
  t.strictSame(
    after,
    { ...before, generation, refused },
    'of the question nothing is left but who was answered',
  )
  t.strictSame(asked, ['n1'])
  const both = await Promise.all([one, three].map(who => thrownProblem(() => forgetNode(who, 'n2'))))
  t.match(both, [lives, lives], 'nor by two operators at once')
  t.notOk(said.has('gone'))
  t.equal(claims.refusal(), undefined, 'it goes on')
})

t.test('an answer counts also where somebody else has asked meanwhile', async t => {
  const { engine, one, three, said } = await openOperators(t)
  const { claims, asked } = await startClaimant(t, engine)
  await claims.take('n2')
  claims.hold('n2')
  const operators = new AbortController()
  engine.onChange(() => {
    if (asked.length > 4) operators.abort()
  })
  const forget = (who: typeof one): Promise<Problem> =>
    thrownProblem(() => forgetNode(who, 'n2', { signal: operators.signal }))
  const first = forget(one)
  await until('the first one is answered', () => recordIn(engine, 'n2')?.refused !== undefined)
  const both = await Promise.all([first, forget(three)])
  t.match(both, [lives, lives])
  t.strictSame(asked, ['n1', 'n3'], 'each asks once')
  t.notOk(said.has('gone'))
})

t.test('one that is silent is gone after that time, and not before', async t => {
  const { engine, one, said } = await openOperators(t)
  const began = performance.now()
  let goneAfter = 0
  engine.onChange(() => {
    if (recordIn(engine, 'n2')?.gone && goneAfter === 0) goneAfter = performance.now() - began
  })
  t.match(await forgetNode(one, 'n2', { answerWithin: 300 }), { changed: true, asked: true })
  t.ok(goneAfter >= 300, `${goneAfter} ms`)
  t.strictSame([...said], ['asked on n1', 'gone'])
  t.match(recordIn(engine, 'n2'), { claim, gone: { by: 'n1' } })
  t.equal(recordIn(engine, 'n2')?.challenge, undefined)
  t.match(await forgetNode(one, 'n2', hasty), { changed: false, asked: false })
})

t.test('two operators at once say it once', async t => {
  const { one, three } = await openOperators(t)
  const replies = await Promise.all(
    [one, one, three].map(who => forgetNode(who, 'n2', { answerWithin: 300 })),
  )
  t.strictSame(replies.map(({ changed }) => changed).sort(), [false, false, true])
})

t.test('a question that was left behind holds nobody up for good', async t => {
  const { engine, one } = await openOperators(t)
  const challenge = { ...claim, id: 'three', session: 'dead', askedOn: 'n3' }
  engine.put(...told('n2', { generation: 2, claim, challenge }))
  await until('it is heard', () => one.ledger.node('n2')?.challenge !== undefined)
  t.match(await forgetNode(one, 'n2', hasty), { changed: true, asked: true })
})

t.test('who interrupts takes the question back', async t => {
  const { engine, one, said } = await openOperators(t)
  const operator = new AbortController()
  const forgetting = thrownProblem(() =>
    forgetNode(one, 'n2', { answerWithin: 60_000, signal: operator.signal }),
  )
  await until('it is asked', () => said.size > 0)
  operator.abort()
  t.match(await forgetting, { code: 'IPK_INTERRUPTED' })
  t.strictSame([...said], ['asked on n1'])
  t.match(recordIn(engine, 'n2'), { generation: 3, claim })
  t.equal(recordIn(engine, 'n2')?.challenge, undefined)
})

t.test('silence while the store is away proves nothing', async t => {
  const { own, one, said } = await openOperators(t)
  const forgetting = thrownProblem(() => forgetNode(one, 'n2', { answerWithin: 1000 }))
  await until('it is asked', () => said.size > 0)
  own.turn({ away: 'refuses' })
  t.match(await forgetting, { code: 'IPK_STORE_AWAY' })
  t.notOk(said.has('gone'))
})

t.test('nor does silence while it stood still', async t => {
  const { own, one, said, engine } = await openOperators(t, { deadlineMs: 10_000 })
  const { claims } = await startClaimant(t, engine)
  const forgetting = thrownProblem(() => forgetNode(one, 'n2', { answerWithin: 2000 }))
  await until('it is asked', () => said.size > 0)
  // One look takes longer than the time to answer; the claimant hears of it only after that.
  own.turn({ slowMs: 1250 })
  await delay(1800)
  own.turn({ slowMs: 0 })
  await delay(1100)
  claims.hold('n2')
  t.match(await forgetting, lives)
  t.notOk(said.has('gone'))
})

t.test('a machine that starts meanwhile need not wait until it is gone', async t => {
  const { engine, one, said } = await openOperators(t)
  const forgetting = thrownProblem(() => forgetNode(one, 'n2', { answerWithin: 1000 }))
  await until('it is asked', () => said.size > 0)
  const { claims } = await startClaimant(t, engine, { session: 's3', answerWithin: 1000 })
  await claims.take('n2')
  claims.hold('n2')
  t.match(await forgetting, lives)
  t.notOk(said.has('gone'))
  t.match(recordIn(engine, 'n2'), { claim: { id: 'two', session: 's3' } })
})

const address = '10.22.0.50'
const web = (node: SiteNode, container: string, uid: string): PodWords => ({
  ...{ pod: 'web-0', container, uid, ip: address, node: node.name },
})

t.test('what its pods had goes to their next ones, and to nobody else', async t => {
  const site = new Site()
  const one = await site.join(t, 'n1', off)
  const two = await site.join(t, 'n2', off)
  t.equal(await one.world.add(web(one, 'c1', 'u1')), address)
  await until('the other node knows', () => two.ledger.boundOn('n1') === 1)
  t.equal(await two.world.add(web(two, 'c2', 'u2')), 'IPK_HOLDER_LIVE')
  await one.presence.stop()
  const { service } = two.world
  t.match(await forgetNode(service, 'n1', hasty), { changed: true, bound: 1 })
  t.equal(await two.world.add({ ...web(two, 'c3', 'u3'), pod: 'other' }), 'IPK_ADDRESS_HELD')
  t.equal(await two.world.add(web(two, 'c2', 'u2')), address)
  t.strictSame(two.world.leases(), ['10.22.0.50 bound shop/web-0 c2'])
})

t.test('also of a node that left addresses and no record', async t => {
  const site = new Site()
  const one = await site.join(t, 'n1', off)
  const two = await site.join(t, 'n2', off)
  await one.world.add({ ...web(one, 'c0', 'u1'), node: 'n0' })
  await until('the other node knows', () => two.ledger.boundOn('n0') === 1)
  t.match(await forgetNode(two.world.service, 'n0', hasty), { changed: true, bound: 1 })
  t.match(recordIn(site.engine, 'n0'), { generation: 1, addresses: [], gone: { by: 'n2' } })
  t.equal(await two.world.add(web(two, 'c2', 'u2')), address)
})

for (const [field, more] of [
  ['gone', {}],
  ['challenge', { claim }],
] as const) {
  t.test(`a store that leaves out ${field}, as it does not know it, is found out`, async t => {
    const engine = new EngineDouble()
    engine.put(...told('n1'))
    engine.put(...told('n2', more))
    const { service } = await openNode(t, engine.connect())
    await until('all is heard', () => service.ledger.isHeard())
    // As a definition of custom resources of old does.
    engine.onChange(() => {
      const { [field]: dropped, ...pruned } = recordIn(engine, 'n2') ?? {}
      if (dropped) engine.put('node', 'n2', JSON.stringify(pruned))
    })
    t.match(await thrownProblem(() => forgetNode(service, 'n2', hasty)), {
      code: 'IPK_STORE_FAILED',
      hint: 'bring the custom resources up to date: kubectl apply -k deploy/crds',
    })
  })
}
