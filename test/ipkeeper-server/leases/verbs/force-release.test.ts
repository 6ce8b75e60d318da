/** An operator releases by force what a sandbox has: ledgers in front of one engine, and one by itself. */
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { NodeRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { NameClaims } from '../../../../ipkeeper-server/leases/tasks/name-claims.ts'
import { listHistory } from '../../../../ipkeeper-server/leases/queries/list-history.ts'
import { forceRelease, type ForceTerms } from '../../../../ipkeeper-server/leases/verbs/force-release.ts'
import { renameNode } from '../../../../ipkeeper-server/leases/verbs/rename-node.ts'
import type { LeaseService } from '../../../../ipkeeper-server/leases/verbs/service.ts'
import { AskedYields } from '../../../../ipkeeper-server/reconcile/asked-yields.ts'
import { EngineDouble, type NodeEngine } from '../../../rigs/engine-double.ts'
import { until } from '../../../rigs/poll.ts'
import { nodeText } from '../../../rigs/records.ts'
import { openSharedLeases } from '../../../rigs/shared-store.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { assertSound } from '../ledger/sound-ledger.ts'
import { poolFrom, TestService } from '../test-service.ts'

const address = '10.22.0.50'
const key = { segment: 'default', address }
const usual: ForceTerms = { poweredOff: false, dryRun: false, answerWithin: 300 }
const off: ForceTerms = { ...usual, poweredOff: true }

const force = async (service: LeaseService, terms: ForceTerms = usual) =>
  await forceRelease(service, 'default', address, terms)

t.test('on this node', async t => {
  for (const [dead, way, calls] of [
    [false, 'cut-off', ['cut off c1']],
    [true, 'ended', ['cut off c1']],
  ] as const) {
    const story = await TestService.open()
    story.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
    await story.add({ pod: 'a', container: 'c1', ip: address, retain: 'forever' })
    if (dead) story.dead.add('c1')
    const dry = await force(story.service, { ...usual, dryRun: true })
    t.match(dry, {
      plan: { way, others: ['fd00:22::2'], warning: null, of: { containerId: 'c1' } },
      reply: null,
    })
    t.equal(story.service.ledger.lease(key)?.state, 'bound', 'a dry run does nothing')
    const { reply } = await force(story.service, { ...usual, of: dry.plan.of })
    t.match(reply, { released: { address, containerId: 'c1' }, after: { state: 'cooling' } })
    t.strictSame(story.network.calls, calls)
    t.match(story.leases(), [`${address} cooling shop/a -`, 'fd00:22::2 held shop/a -'])
    assertSound(story.service.ledger, 'after the release')
    const [, had] = (await listHistory(story.service, key, { limit: 2 })).history
    t.match(had, { state: 'bound', ended: 'released by force' })
    t.match(await story.add({ pod: 'b', container: 'c2', ip: address }), address)
    await story.del('c1')
    t.equal(story.service.ledger.lease(key)?.attachment?.containerId, 'c2', 'a late DEL touches nothing')
  }
})

t.test('what cannot be cut off needs the word that it is off', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1', ip: address, netnsInode: null })
  t.match(await thrownProblem(() => force(story.service)), {
    code: 'IPK_NODE_MAY_RUN',
    details: /two pods then answer for one address/,
    hint: /release --force 10\.22\.0\.50 --powered-off$/,
  })
  t.match(await force(story.service, off), {
    plan: { way: 'by-word' },
    reply: { after: { state: 'cooling' } },
  })
})

t.test('what no sandbox has, what nobody has, and what has changed hands', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'a', container: 'c1', ip: address })
  const { plan } = await force(story.service, { ...usual, dryRun: true })
  await story.del('c1')
  t.match(await force(story.service, { ...usual, dryRun: true }), { plan: { way: 'kept' }, reply: null })
  await story.add({ pod: 'b', container: 'c2', ip: address })
  t.match(await thrownProblem(() => force(story.service, { ...usual, of: plan.of })), {
    code: 'IPK_ADDRESS_HELD',
    message:
      /^10\.22\.0\.50 has been assigned to another holder in the meantime: it is bound to shop\/b on node n1$/,
  })
  await story.del('c2')
  t.match(await force(story.service), { plan: { way: 'kept' }, reply: { after: null } })
  t.match(await thrownProblem(() => force(story.service)), { code: 'IPK_ADDRESS_FREE' })
})

const claim = { id: 'one', session: 's1', bootId: 'b1', since: 0 }

/** Pod a has the address on n1, whose daemon may live; an operator types on n2. */
async function twoNodes(t: Test) {
  const folder = tempFolder(t)
  const engine = new EngineDouble()
  engine.put('node', 'n1', nodeText('n1', { addresses: ['192.0.2.1'], claim, version: '1.2.3' }))
  const connection = engine.connect()
  const open = (node: string, own: NodeEngine, file = node): Promise<TestService> =>
    openSharedLeases(t, own, folder.file(`${file}.db`), { node, retryAfter: 10 })
  const [one, two] = [await open('n1', connection), await open('n2', engine.connect())]
  await one.add({ pod: 'a', container: 'c1', ip: address })
  await until('it is heard', () => two.service.ledger.lease(key)?.state === 'bound')
  const stored = (): NodeRecord => JSON.parse(engine.get('node', 'n1')?.text ?? 'null') as NodeRecord
  /** Answers that it lives. */
  const answer = ({ ledger }: LeaseService = one.service): NameClaims => {
    const claims = new NameClaims({
      ...{ ledger, stateDir: '/s', now: Date.now, monotonic: () => performance.now(), mine: claim },
      onChallenge: () => undefined,
      onLost: () => undefined,
      onError: () => undefined,
    })
    claims.hold('n1')
    ledger.subscribe({
      changed: ({ kind, record }) => {
        if (kind === 'node')
          queueMicrotask(() => {
            claims.heard(record.name)
          })
      },
    })
    t.teardown(() => claims.stop())
    return claims
  }
  const [done, errors]: [string[], unknown[]] = [[], []]
  const obey = (service: LeaseService = one.service): AskedYields => {
    const yields = new AskedYields({
      service,
      onDone: asked => done.push(`${asked.containerId} gave up ${asked.address} by ${asked.by}`),
      onError: error => errors.push(error),
    })
    t.teardown(() => yields.stop())
    return yields
  }
  return { open, engine, connection, one, two, stored, answer, obey, done, errors }
}

t.test('a node that lives does it itself', async t => {
  const { one, two, stored, answer, obey, done } = await twoNodes(t)
  answer()
  obey()
  t.match(await force(two.service), { plan: { way: 'by-its-node' }, reply: { after: { state: 'cooling' } } })
  t.strictSame(one.network.calls, ['cut off c1'])
  await until('it is said', () => done.length > 0)
  t.strictSame(done, ['c1 gave up 10.22.0.50 by n2'])
  t.equal(stored().yields, undefined, 'nothing is left of it')
})

t.test('one that cannot is asked again, and ends it then', async t => {
  const { one, two, answer, obey, done, errors } = await twoNodes(t)
  answer()
  const { network } = one.service
  let failing = true
  Object.assign(one.service, {
    network: {
      ...network,
      cutOff: async (...args: Parameters<typeof network.cutOff>) => {
        if (failing) throw new Error('the kernel is busy')
        return await network.cutOff(...args)
      },
    },
  })
  obey()
  const forced = force(two.service, { ...usual, answerWithin: 5_000 })
  await until('it fails', () => errors.length > 0)
  t.equal(two.service.ledger.lease(key)?.state, 'bound', 'nothing is ended that is not cut off')
  failing = false
  t.match(await forced, { plan: { way: 'by-its-node' } })
  await until('it is said', () => done.length === 1)
})

t.test('one whose record cannot be written at present tries that again after a pause', async t => {
  const { engine, connection, stored, obey, done, errors } = await twoNodes(t)
  obey()
  connection.turn({
    fate: writes => (writes.some(({ kind }) => kind === 'node') ? 'conflict' : 'carried out'),
  })
  const asked = { network: 'net', containerId: 'c1', ifname: 'eth0', ...key, by: 'n2', since: 0 }
  engine.put('node', 'n1', JSON.stringify({ ...stored(), yields: [asked] }))
  await until('it fails', () => errors.length > 0)
  await delay(300)
  t.equal(errors.length, 1, 'news of the refused write begins no other try')
  connection.turn({ fate: () => 'carried out' })
  await until('it is said', () => done.length === 1)
  t.equal(stored().yields, undefined)
})

t.test('one that does not know of it', async t => {
  const { two, stored, answer } = await twoNodes(t)
  answer()
  t.match(await thrownProblem(() => force(two.service)), {
    code: 'IPK_NODE_LIVES',
    message: 'node n1 is running but has not released 10.22.0.50 within 1 s (its daemon is version 1.2.3)',
    hint: 'delete shop/a; or on node n1: ipkeeperctl release --force 10.22.0.50',
  })
  t.equal(stored().yields, undefined, 'it is taken back')
  t.equal(two.service.ledger.lease(key)?.state, 'bound')
})

t.test(
  'a sandbox of the machine that had the name before is nothing the one that has it can cut off',
  async t => {
    const { engine, open, one, two, stored, answer, obey, done } = await twoNodes(t)
    const former = { ...claim, id: 'former' }
    const taker = await open('n1', engine.connect(), 'taker')
    engine.put('node', 'n1', nodeText('n1', { generation: 9, claim, formers: [former] }))
    await until('it is heard', () => taker.service.ledger.node('n1')?.formers !== undefined)
    answer(taker.service)
    const yields = obey(taker.service)

    t.match(await force(two.service, { ...usual, dryRun: true }), {
      plan: {
        way: 'by-its-node',
        says: /^node n1 is running: its daemon disconnects the sandbox, if that machine runs it;/,
      },
    })
    t.match(await thrownProblem(() => force(two.service)), {
      code: 'IPK_NODE_MAY_RUN',
      message:
        /^node n1 is running and has no record of that sandbox: the machine that had the name n1 before \(ID former since .*\) may still run it$/,
      details:
        /^if node n1, or the machine that had the name n1 before .*, is still running, shop\/a there keeps using/,
      hint: /release --force 10\.22\.0\.50 --powered-off$/,
    })
    t.strictSame([two.service.ledger.lease(key)?.state, stored().yields], ['bound', undefined])

    t.match(await force(two.service, off), {
      plan: { way: 'by-word', warning: /two pods then answer for one address/ },
      reply: { after: { state: 'cooling' } },
    })
    await yields.begin()
    t.match(stored().yields, [{ containerId: 'c1', notHere: true }], 'it waits for that machine')
    t.equal(done.length, 0)

    // That machine is back, under another name.
    engine.put('node', 'n3', nodeText('n3', { claim: former }))
    await until('it is heard', () => one.service.ledger.node('n3') !== undefined)
    const renamed = {
      node: 'n3',
      from: ['n1'],
      wasOurs: (name: string) => name === 'n1',
      only: 'attachment',
    } as const
    await renameNode(one.service.ledger, renamed)
    await obey({ ...one.service, node: 'n3' }).begin()
    t.strictSame([one.network.calls, done.length, stored().yields], [['cut off c1'], 1, undefined])
  },
)

t.test('nothing is released on a statement whose consequences were not shown', async t => {
  const shown = async (two: TestService, more: Partial<ForceTerms>) =>
    (await force(two.service, { ...off, ...more, dryRun: true })).plan
  const refused = {
    code: 'IPK_NODE_MAY_RUN',
    details: /^if node n1.* is still running, shop\/a there keeps using 10\.22\.0\.50: two pods then answer/,
    hint: /release --force 10\.22\.0\.50 --powered-off$/,
  }

  await t.test('its daemon stops in between', async t => {
    const { one, two, stored, answer } = await twoNodes(t)
    const claims = answer()
    const plan = await shown(two, {})
    t.match(plan, { way: 'by-its-node', warning: null })
    claims.stop()
    t.match(await thrownProblem(() => force(two.service, { ...off, of: plan.of })), {
      ...refused,
      message:
        /^node n1 may still run, and nothing was shown of that: the sandbox of shop\/a .* cannot be disconnected/,
    })
    t.strictSame(
      [stored().yields, two.service.ledger.lease(key)?.state, one.network.calls],
      [undefined, 'bound', []],
    )
    const again = await shown(two, {})
    t.match(again, { way: 'by-word', warning: /two pods then answer/ })
    t.match(await force(two.service, { ...off, of: again.of }), { plan: { way: 'by-word' } })
  })

  await t.test('another machine takes its name in between', async t => {
    const { engine, open, two, stored, answer, obey } = await twoNodes(t)
    const taker = await open('n1', engine.connect(), 'taker')
    const claims = answer()
    const plan = await shown(two, {})
    claims.stop()
    engine.put('node', 'n1', nodeText('n1', { generation: 9, claim, formers: [{ ...claim, id: 'former' }] }))
    await until('it is heard', () => taker.service.ledger.node('n1')?.formers !== undefined)
    answer(taker.service)
    obey(taker.service)
    t.match(await thrownProblem(() => force(two.service, { ...off, of: plan.of })), refused)
    t.strictSame([two.service.ledger.lease(key)?.state, stored().yields], ['bound', undefined])
  })
})

t.test('nobody waits for a machine that had the name and was declared gone', async t => {
  const { engine, open, two, stored, answer, obey } = await twoNodes(t)
  const taker = await open('n1', engine.connect(), 'taker')
  const formers = [{ ...claim, id: 'former', gone: { since: 1, by: 'n2' } }]
  engine.put('node', 'n1', nodeText('n1', { generation: 9, claim, formers }))
  await until('it is heard', () => taker.service.ledger.node('n1')?.formers !== undefined)
  answer(taker.service)
  obey(taker.service)
  t.match(await force(two.service), {
    plan: { way: 'by-its-node', warning: null },
    reply: { released: { address } },
  })
  t.equal(stored().yields, undefined)
})

const answering = [{ address: '192.0.2.1', mac: '0a:58:00:00:00:01' }]

for (const [name, more, reasons] of [
  ['nothing is known', {}, /^node n1 may still run: its daemon does not answer.*\(last contact not known\)$/],
  ['it was heard of', { lastHeardOf: () => 90_000 }, /\(last contact 1 min 30 s ago\)$/],
  [
    'it was declared gone, and its machine answers',
    { isForgotten: () => true, answersOnLink: () => Promise.resolve(answering) },
    /^node n1 may still run: 0a:58:00:00:00:01 on the network answers for its address 192\.0\.2\.1$/,
  ],
  ['it was declared gone', { isForgotten: () => true, answersOnLink: () => Promise.resolve([]) }, undefined],
  ['the API says so', { lostNode: () => 'out-of-service' as const }, undefined],
  [
    'it is silent for long enough',
    { contactAgeOf: () => ({ kind: 'over', age: 1, needed: 1 }) as const },
    undefined,
  ],
] as const)
  t.test(`nobody answers: ${name}`, async t => {
    const { one, two, stored, obey, done } = await twoNodes(t)
    const service: LeaseService = { ...two.service, ...more }
    if (reasons) {
      t.match(await thrownProblem(() => force(service)), { code: 'IPK_NODE_MAY_RUN', message: reasons })
      t.equal(stored().yields, undefined)
      t.equal(stored().challenge, undefined)
      t.equal(two.service.ledger.lease(key)?.state, 'bound')
    }
    t.match(await force(service, reasons ? off : usual), {
      plan: {
        way: 'by-word',
        warning:
          /^if node n1 is still running, shop\/a there keeps using 10\.22\.0\.50: two pods then answer/,
      },
      reply: { after: { state: 'cooling' } },
    })
    t.match(stored().yields, [{ containerId: 'c1', address, by: 'n2' }], 'it stays until the node is back')
    t.equal(await two.add({ pod: 'b', container: 'c2', ip: address }), address)
    // It is back.
    await until('it hears', () => one.service.ledger.node('n1')?.yields !== undefined)
    await obey().begin()
    t.strictSame([one.network.calls, done.length, stored().yields], [['cut off c1'], 1, undefined])
    t.equal(one.service.ledger.hasAttachment({ network: 'net', containerId: 'c1', ifname: 'eth0' }), false)
    t.equal(two.service.ledger.lease(key)?.attachment?.containerId, 'c2')
  })
