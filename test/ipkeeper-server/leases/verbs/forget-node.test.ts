/** An operator says that a node is gone for good: ledgers in front of one engine. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { NodeRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { forgetNode } from '../../../../ipkeeper-server/leases/verbs/forget-node.ts'
import { NameClaims } from '../../../../ipkeeper-server/leases/tasks/name-claims.ts'
import { EngineDouble } from '../../../rigs/engine-double.ts'
import { until } from '../../../rigs/poll.ts'
import { openSharedStore } from '../../../rigs/shared-store.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { Site, type SiteNode } from '../several-nodes.ts'
import { TestService, type PodWords } from '../test-service.ts'

const off = { byTime: undefined, offlineGrace: 300_000 }
/** Nobody is there to contradict. */
const patience = 20

const recordIn = (engine: EngineDouble, name: string): NodeRecord | undefined => {
  const text = engine.get('node', name)?.text
  return text === undefined ? undefined : (JSON.parse(text) as NodeRecord)
}

async function openNode(t: Test, engine: EngineDouble, options = {}, name = 'n1'): Promise<TestService> {
  const store = openSharedStore(t, engine.connect(options), join(t.testdir({}), `${name}.db`), {
    node: name,
    retryAfter: 10,
  })
  return await TestService.open(store, 'release', name)
}

const told = (name: string, more: Partial<NodeRecord> = {}): [kind: 'node', key: string, text: string] => [
  'node',
  name,
  JSON.stringify({ generation: 1, name, addresses: [], since: 0, ...more }),
]

t.test('nobody waits for it any more', async t => {
  const engine = new EngineDouble()
  engine.put(...told('n1', { epoch: 2 }))
  engine.put(...told('n2', { epoch: 1, addresses: ['192.0.2.2'] }))
  engine.put(...told('n3'))
  const { service } = await openNode(t, engine)
  await until('all is heard', () => service.ledger.isHeard())
  t.strictSame(service.ledger.storeStatus()?.waitsFor, ['n2', 'n3'])
  const reply = await forgetNode(service, 'n2', patience)
  t.match(reply, { node: 'n2', gone: { by: 'n1' }, changed: true, bound: 0, waitsFor: ['n3'] })
  t.match(recordIn(engine, 'n2'), { generation: 2, addresses: ['192.0.2.2'], epoch: 1, gone: { by: 'n1' } })
  const { revision } = engine
  t.strictSame(
    await forgetNode(service, 'n2', patience),
    { ...reply, changed: false },
    'that is known already',
  )
  t.equal(engine.revision, revision)
  t.strictSame((await forgetNode(service, 'n3', patience)).waitsFor, [])
})

t.test('who is misspelt, or is this node, is told so', async t => {
  const engine = new EngineDouble()
  for (const name of ['n1', 'n2', 'n3']) engine.put(...told(name))
  engine.put(...told('n0', { gone: { since: 0, by: 'n2' } }))
  const { service } = await openNode(t, engine)
  await until('all is heard', () => service.ledger.isHeard())
  t.match(await thrownProblem(() => forgetNode(service, 'n33', patience)), {
    code: 'IPK_NODE_UNKNOWN',
    message: 'no node n33 is known; there are, beside this one: n2, n3',
  })
  t.match(await thrownProblem(() => forgetNode(service, 'n1', patience)), {
    code: 'IPK_NODE_LIVES',
    message: 'n1 is this very node, and its daemon runs',
    hint: 'when it is gone for good, say so on another node',
  })
  t.equal(recordIn(engine, 'n1')?.gone, undefined)
})

t.test('many names are not all told', async t => {
  const engine = new EngineDouble()
  for (let index = 100; index < 125; index++) engine.put(...told(`n${index}`))
  const { service } = await openNode(t, engine)
  await until('all is heard', () => service.ledger.isHeard())
  t.match(await thrownProblem(() => forgetNode(service, 'n33', patience)), {
    message: /: n100, .*, n119 and 5 more$/,
  })
})

t.test('where one daemon has the store to itself there is no other node', async t => {
  const { service } = await TestService.open()
  t.match(await thrownProblem(() => forgetNode(service, 'n2', patience)), {
    code: 'IPK_NODE_UNKNOWN',
    message: 'this store knows of no other node than n1',
  })
})

t.test('while the engine is away nothing can be said', async t => {
  const engine = new EngineDouble()
  for (const name of ['n1', 'n2']) engine.put(...told(name))
  const own = engine.connect({})
  const store = openSharedStore(t, own, join(t.testdir({}), 'n1.db'), { node: 'n1', retryAfter: 10 })
  const { service } = await TestService.open(store, 'release', 'n1')
  await until('all is heard', () => service.ledger.isHeard())
  own.turn({ away: 'refuses' })
  t.match(await thrownProblem(() => forgetNode(service, 'n2', patience)), { code: 'IPK_STORE_AWAY' })
  t.equal(service.ledger.node('n2')?.gone, undefined)
})

t.test('a node that lives takes it back, and who said it is told', async t => {
  const engine = new EngineDouble()
  const [one, two] = [await openNode(t, engine), await openNode(t, engine, {}, 'n2')]
  const { ledger } = two.service
  const claims = new NameClaims({
    ...{ ledger, stateDir: '/s', now: Date.now, monotonic: () => performance.now() },
    mine: { id: 'two', session: 's2', bootId: 'b2', since: 0 },
    onChallenge: () => undefined,
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
  await claims.take('n2')
  claims.hold('n2')
  await until('the other one knows', () => one.service.ledger.node('n2') !== undefined)
  t.match(await thrownProblem(() => forgetNode(one.service, 'n2')), {
    code: 'IPK_NODE_LIVES',
    message: 'node n2 lives: its daemon took that back',
  })
  t.match(recordIn(engine, 'n2'), { claim: { id: 'two' } })
  t.equal(recordIn(engine, 'n2')?.gone, undefined)
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
  t.match(await forgetNode(service, 'n1', patience), { changed: true, bound: 1 })
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
  t.match(await forgetNode(two.world.service, 'n0', patience), { changed: true, bound: 1 })
  t.match(recordIn(site.engine, 'n0'), { generation: 1, addresses: [], gone: { by: 'n2' } })
  t.equal(await two.world.add(web(two, 'c2', 'u2')), address)
})

t.test('a store that leaves out what it does not know is found out', async t => {
  const engine = new EngineDouble()
  for (const name of ['n1', 'n2']) engine.put(...told(name))
  const { service } = await openNode(t, engine)
  await until('all is heard', () => service.ledger.isHeard())
  // As a definition of custom resources of old does.
  engine.onChange(() => {
    const { gone, ...pruned } = recordIn(engine, 'n2') ?? {}
    if (gone) engine.put('node', 'n2', JSON.stringify(pruned))
  })
  t.match(await thrownProblem(() => forgetNode(service, 'n2', patience)), {
    code: 'IPK_STORE_FAILED',
    hint: 'bring the custom resources up to date: kubectl apply -k deploy/crds',
  })
})
