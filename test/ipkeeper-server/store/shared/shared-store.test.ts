import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  holderKey,
  leaseKey,
  type HolderRecord,
  type LeaseRecord,
  type NodeRecord,
  type Write,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { StoreConflict } from '../../../../ipkeeper-server/store/lease-store.ts'
import type { Journal } from '../../../../ipkeeper-server/store/shared/journal.ts'
import type { SharedStore } from '../../../../ipkeeper-server/store/shared/shared-store.ts'
import { SqliteStore } from '../../../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { EngineDouble, type NodeEngine, type Snapshot } from '../../../rigs/engine-double.ts'
import { until } from '../../../rigs/poll.ts'
import {
  attachmentOf,
  attachmentRecord,
  lease as leaseRecord,
  nodeRecord,
  nodeText,
  podHolder,
} from '../../../rigs/records.ts'
import { openSharedStore } from '../../../rigs/shared-store.ts'

function lease(address: string, containerId: string | null, generation: number): LeaseRecord {
  const network = 'fixed'
  const ended = { state: 'cooling', attachment: null, until: 2 } as const
  return leaseRecord(address, generation, {
    ...{ pool: network, network, podUid: null, named: false, source: 'dynamic', retain: 'release' },
    holder: { ...podHolder(`web-${address}`), network },
    ...(containerId === null ? ended : { attachment: { ...attachmentOf(containerId), network } }),
  })
}

const me = { id: 'me', session: 's', bootId: 'b', since: 0 }

const write = (record: LeaseRecord): Write => ({
  kind: 'lease',
  key: leaseKey(record),
  expect: record.generation === 1 ? null : record.generation - 1,
  record,
})

const attached = (containerId: string): Write => {
  const key = { ...attachmentOf(containerId), network: 'fixed' }
  const holder = lease('10.22.0.50', containerId, 1).holder
  const record = attachmentRecord({ ...key, holder, podUid: null, bootId: 'b' })
  return { kind: 'attachment', key: JSON.stringify(Object.values(key)), expect: null, record }
}

interface Node {
  readonly site: EngineDouble
  readonly engine: NodeEngine
  readonly store: SharedStore
}

/** What waits for an engine does not. */
function keepAlive(t: Test): void {
  const alive = setInterval(() => undefined, 1000)
  t.teardown(() => {
    clearInterval(alive)
  })
}

async function open(
  t: Test,
  site = new EngineDouble(),
  away: 'refuses' | false = false,
  refusesClaims: () => Problem | undefined = () => undefined,
): Promise<Node> {
  const engine = site.connect({ deadlineMs: 20 })
  engine.turn({ away })
  const store = openSharedStore(t, engine, join(t.testdir({}), 'journal.db'), {
    startTimeout: 20,
    retryAfter: 5,
    refusesClaims,
  })
  keepAlive(t)
  await store.load(() => undefined)
  return { site, engine, store }
}

const isReady =
  ({ store }: Node) =>
  (): boolean => {
    const status = store.shared.status()
    return status.state === 'ready' && status.owed === 0
  }

const stateOf = ({ site }: Node, record: LeaseRecord): string | undefined => {
  const text = site.get('lease', leaseKey(record))?.text
  return text === undefined ? undefined : (JSON.parse(text) as LeaseRecord).state
}

t.test('while claims are refused what is bound here goes on, and ends', async t => {
  let refusal: Problem | undefined
  const node = await open(t, new EngineDouble(), false, () => refusal)
  const { store } = node
  await store.commit([write(lease('10.22.0.50', 'one', 1)), attached('one')])
  refusal = new Problem('IPK_STORE_AWAY', 'whose the name is, is not known')
  await t.rejects(store.commit([write(lease('10.22.0.51', 'new', 1)), attached('new')]), { message: /whose/ })
  t.equal(node.site.get('lease', leaseKey(lease('10.22.0.51', 'new', 1))), undefined)
  await store.commit([write(lease('10.22.0.50', 'two', 2)), attached('two')])
  await store.commit([write(lease('10.22.0.50', null, 3))])
  t.equal(stateOf(node, lease('10.22.0.50', null, 3)), 'cooling')
  refusal = undefined
  await store.commit([write(lease('10.22.0.51', 'new', 1)), attached('new')])
  t.equal(stateOf(node, lease('10.22.0.51', 'new', 1)), 'bound')
})

t.test(
  'what an earlier run has left waits until the names are known to be those of this machine',
  async t => {
    const [site, journal] = [new EngineDouble(), join(t.testdir({}), 'journal.db')]
    let isSure = true
    const start = async (): Promise<Node> => {
      const engine = site.connect({ deadlineMs: 20 })
      const store = openSharedStore(t, engine, journal, { retryAfter: 5, isSure: () => isSure })
      await store.load(() => undefined)
      return { site, engine, store }
    }
    keepAlive(t)
    const before = await start()
    await before.store.commit([write(lease('10.22.0.50', 'one', 1)), attached('one')])
    before.engine.turn({ away: 'refuses' })
    await before.store.probe()
    await before.store.commit([write(lease('10.22.0.50', 'two', 2)), attached('two')])
    await before.store.close()
    isSure = false
    const node = await start()
    const { store } = node
    await until('the store is ready', () => store.shared.status().state === 'ready')
    t.equal(store.shared.status().owed, 1)
    const owner = (): string | undefined =>
      (JSON.parse(site.get('lease', leaseKey(lease('10.22.0.50', 'one', 1)))?.text ?? '{}') as LeaseRecord)
        .attachment?.containerId
    t.equal(owner(), 'one')
    // Nobody waits for that to end what is here.
    await store.commit([write(lease('10.22.0.50', null, 3))])
    t.equal(owner(), 'one')
    isSure = true
    store.shared.sure()
    await until('all is written', isReady(node))
    t.equal(stateOf(node, lease('10.22.0.50', null, 3)), 'cooling')
  },
)

t.test(
  'after a start while the store is away, an address goes on to the next sandbox of its pod',
  async t => {
    const [site, journal] = [new EngineDouble(), join(t.testdir({}), 'journal.db')]
    const start = async (isAway: boolean): Promise<Node> => {
      const engine = site.connect({ deadlineMs: 20 })
      if (isAway) engine.turn({ away: 'refuses' })
      const options = { retryAfter: 5, startTimeout: 20, isSure: () => !isAway }
      const store = openSharedStore(t, engine, journal, options)
      await store.load(() => undefined)
      return { site, engine, store }
    }
    keepAlive(t)
    const before = await start(false)
    await before.store.commit([write(lease('10.22.0.50', 'one', 1)), attached('one')])
    before.engine.turn({ away: 'refuses' })
    await before.store.probe()
    await before.store.commit([write(lease('10.22.0.50', 'two', 2)), attached('two')])
    await before.store.close()
    const node = await start(true)
    // What is pending is of this node, and nothing was lost.
    await node.store.commit([write(lease('10.22.0.50', 'three', 3)), attached('three')])
    t.equal(node.store.shared.status().owed, 1)
  },
)

t.test('a DEL after an owed change whose answer was lost', async t => {
  const node = await open(t)
  const { engine, store } = node
  const bound = lease('10.22.0.50', 'one', 1)
  await store.commit([write(bound)])
  engine.turn({ away: 'refuses' })
  // From now on the engine is not tried first.
  await store.probe()
  await store.commit([write(lease('10.22.0.50', 'two', 2))])
  // It is carried out, and nobody hears of that.
  let lost = 0
  engine.turn({
    away: false,
    fate: () => {
      lost++
      engine.turn({ away: 'silent' })
      return { untold: 1 }
    },
  })
  await until('the answer to be lost', () => lost > 0 && store.shared.status().state === 'away')
  await store.commit([write(lease('10.22.0.50', null, 3))])
  engine.turn({ away: false, fate: () => 'carried out' })
  await until('the engine to be told', isReady(node))
  t.equal(stateOf(node, bound), 'cooling')
})

t.test(
  'what was ended elsewhere while it was passed on here is said to be lost once the ledger has heard of that',
  async t => {
    const site = new EngineDouble()
    const said: string[] = []
    const [engine, other] = [site.connect({ deadlineMs: 20 }), site.connect()]
    const store = openSharedStore(t, engine, join(t.testdir({}), 'journal.db'), {
      retryAfter: 5,
      onLost: had => said.push(`lost ${had.attachment?.containerId}`),
    })
    keepAlive(t)
    await store.load(() => undefined)
    store.shared.follow(({ kind, text }) => {
      if (kind === 'lease' && text === null) said.push('gone')
    })
    const far = openSharedStore(t, other, join(t.testdir({ far: {} }), 'far.db'), { node: 'n2' })
    await far.load(() => undefined)
    await store.commit([write(lease('10.22.0.50', 'one', 1)), attached('one')])
    engine.turn({ away: 'refuses' })
    await store.probe()
    await store.commit([write(lease('10.22.0.50', 'two', 2)), attached('two')])
    await far.commit([{ ...write(lease('10.22.0.50', null, 2)), record: null }])
    engine.turn({ away: false })
    await until('the engine to be told', isReady({ site, engine, store }))
    await until('it is said', () => said.length > 1)
    t.strictSame(said, ['gone', 'lost two'])
  },
)

t.test('whoever only looks tells the engine nothing, and reads what it is owed', async t => {
  const site = new EngineDouble()
  const journal = join(t.testdir({}), 'journal.db')
  const engine = site.connect({ deadlineMs: 20 })
  const daemon = openSharedStore(t, engine, journal, { startTimeout: 20, retryAfter: 5 })
  await daemon.load(() => undefined)
  const bound = lease('10.22.0.50', 'one', 1)
  await daemon.commit([write(bound)])
  engine.turn({ away: 'refuses' })
  await daemon.commit([write(lease('10.22.0.50', null, 2))])
  await daemon.close()

  for (const { offline, has, owed } of [
    { offline: 'look', has: 'bound', owed: 1 },
    { offline: 'resolve', has: 'cooling', owed: 0 },
  ] as const) {
    const store = openSharedStore(t, site.connect({ deadlineMs: 20 }), journal, { offline, retryAfter: 5 })
    const read: string[] = []
    await store.load(({ kind, text }) => {
      if (kind === 'lease') read.push((JSON.parse(text) as LeaseRecord).state)
    })
    t.strictSame(read, ['cooling'], offline)
    // Long enough to be told, ten times over.
    if (offline === 'look') await pause(50)
    await until(`${offline} to be done`, () => store.shared.status().owed === owed)
    t.match(store.shared.status(), { state: 'ready', owed }, offline)
    t.equal(stateOf({ site, engine, store }, bound), has, `what the engine has after ${offline}`)
    await store.close()
  }
})

t.test('a DEL of before an engine was lost counts in the one that its backup was brought into', async t => {
  const journal = join(t.testdir({}), 'journal.db')
  const opened = async (site: EngineDouble, offline?: 'write'): Promise<Node> => {
    const engine = site.connect({ deadlineMs: 20 })
    const more = offline ? { offline } : {}
    const store = openSharedStore(t, engine, journal, { startTimeout: 20, retryAfter: 5, ...more })
    await store.load(() => undefined)
    return { site, engine, store }
  }
  const bound = lease('10.22.0.50', 'one', 1)
  const before = await opened(new EngineDouble())
  await before.store.commit([write(bound)])
  before.engine.turn({ away: 'refuses' })
  await before.store.commit([write(lease('10.22.0.50', null, 2))])
  await before.store.close()

  const site = new EngineDouble()
  const bringing = await opened(site, 'write')
  await bringing.store.commit([write(bound)])
  t.equal(stateOf(bringing, bound), 'bound', 'as in the backup')
  await bringing.store.close()
  const after = await opened(site)
  await until('it is told', isReady(after))
  t.equal(stateOf(after, bound), 'cooling')
})

t.test('what the engine will not take does not keep it from the rest', async t => {
  const node = await open(t)
  const { engine, store, site } = node
  const [first, second] = [lease('10.22.0.50', 'one', 1), lease('10.22.0.51', 'two', 1)]
  await store.commit([write(first)])
  await store.commit([write(second)])
  engine.turn({ away: 'refuses' })
  await store.commit([write(lease('10.22.0.50', null, 2))])
  await store.commit([write(lease('10.22.0.51', null, 2))])
  engine.turn({
    away: false,
    fate: writes => (writes.some(({ key }) => key === leaseKey(first)) ? 'refused' : 'carried out'),
  })
  await until('the second one to be told', () => stateOf(node, second) === 'cooling')
  await until('it to be resolved', () => store.shared.status().owed === 1)
  t.equal(store.shared.status().state, 'away')
  engine.turn({ fate: () => 'carried out' })
  await until('the first one to be told', isReady(node))
  t.equal(stateOf(node, first), 'cooling')
  t.equal(site.records().length, 2)
})

t.test('started while the engine was away: no claims before all of it was heard', async t => {
  const site = new EngineDouble()
  const node = await open(t, site, 'refuses')
  const { engine, store } = node
  t.match([store.shared.status().state, store.shared.isHeard()], ['away', false])
  engine.turn({ away: false, lagMs: 200 })
  await t.rejects(store.commit([write(lease('10.22.0.50', 'one', 1))]), { code: 'IPK_STORE_AWAY' })
  const before = performance.now()
  await until('it to be heard', isReady(node))
  t.ok(performance.now() - before > 100, 'not by the first answer to a probe')
  t.ok(store.shared.isHeard())
  engine.turn({ away: 'refuses' })
  await t.rejects(store.commit([write(lease('10.22.0.51', 'two', 1))]), { code: 'IPK_STORE_AWAY' })
  t.ok(store.shared.isHeard(), 'and it stays so while the engine is away again')
  engine.turn({ away: false })
  await until('it is back', isReady(node))
  await store.commit([write(lease('10.22.0.50', 'one', 1))])
})

t.test('an indeterminate commit is carried out after it was resolved', async t => {
  const node = await open(t)
  const { engine, store } = node
  engine.turn({ fate: () => ({ late: 150 }) })
  const seen: (string | undefined)[] = []
  node.site.onChange(() => seen.push(stateOf(node, lease('10.22.0.50', 'one', 1))))
  const change = [write(lease('10.22.0.50', 'one', 1)), attached('one')]
  await t.rejects(store.commit(change), { code: 'IPK_STORE_AWAY' })
  engine.turn({ fate: () => 'carried out' })
  await until('the store to be ready', isReady(node))
  await until('the commit to come, and to be taken back', () => seen.length === 2 && isReady(node)())
  t.strictSame(seen, ['bound', undefined])
  await store.commit([write(lease('10.22.0.50', 'two', 1)), attached('two')])
  t.equal(stateOf(node, lease('10.22.0.50', 'two', 1)), 'bound', 'what comes after it stays')
})

t.test('a commit comes late while a later one of its record is resolved, and the next one waits', async t => {
  const node = await open(t)
  const { site, engine, store } = node
  const [one, two] = [lease('10.22.0.50', 'one', 1), lease('10.22.0.50', 'two', 1)]
  const key = leaseKey(one)
  engine.turn({ fate: () => ({ untold: 0 }) })
  await t.rejects(store.commit([write(one), attached('one')]), { code: 'IPK_STORE_AWAY' })
  engine.turn({ fate: () => 'carried out' })
  await until('it is given up', isReady(node))

  const read = engine.read.bind(engine)
  let next: Promise<unknown> | undefined
  engine.read = async (kind, of) => {
    const present = await read(kind, of)
    next ??= store
      .commit([write(lease('10.22.0.50', 'three', 1)), attached('three')])
      .catch((error: unknown) => error)
    return present
  }
  engine.turn({
    fate: () => {
      engine.turn({ fate: () => 'carried out' })
      site.put('lease', key, JSON.stringify(one))
      return { untold: 0 }
    },
  })
  await t.rejects(store.commit([write(two), attached('two')]), { code: 'IPK_STORE_AWAY' })
  await until('that is resolved', () => next !== undefined && isReady(node)())
  await next
  const present = JSON.parse(site.get('lease', key)?.text ?? 'null') as LeaseRecord | null
  t.not(present?.attachment?.containerId, 'one', 'a sandbox that nobody was answered for has nothing')
  t.strictSame((await store.read('lease', key)) ?? null, present)
})

t.test('a commit that came late is not there for whoever reads its record first', async t => {
  const node = await open(t)
  const { site, engine, store } = node
  const [one, two] = [lease('10.22.0.50', 'one', 1), lease('10.22.0.50', 'two', 1)]
  const key = leaseKey(one)
  engine.turn({ fate: () => ({ untold: 0 }) })
  await t.rejects(store.commit([write(one), attached('one')]), { code: 'IPK_STORE_AWAY' })
  engine.turn({ fate: () => 'carried out' })
  await until('it is given up', isReady(node))
  engine.turn({ deaf: true })
  site.put('lease', key, JSON.stringify(one))
  await t.rejects(store.commit([write(two), attached('two')]), { name: 'StoreConflict' })
  t.equal(await store.read('lease', key), undefined)
  await until('it is taken back', () => isReady(node)() && site.get('lease', key) === undefined)
})

t.test('a commit comes late in the place of what somebody else had, whose end nobody heard of', async t => {
  const site = new EngineDouble()
  const engine = site.connect({ deadlineMs: 20 })
  const store = openSharedStore(t, engine, join(t.testdir({}), 'journal.db'), { retryAfter: 5 })
  let told: string | null = null
  store.shared.follow(({ text }) => (told = text))
  await store.load(() => undefined)
  const ready = isReady({ site, engine, store })
  const [ours, theirs] = [lease('10.22.0.50', 'ours', 1), lease('10.22.0.50', 'theirs', 1)]
  const key = leaseKey(ours)
  engine.turn({ fate: () => ({ untold: 0 }) })
  await t.rejects(store.commit([write(ours)]), { code: 'IPK_STORE_AWAY' })
  engine.turn({ fate: () => 'carried out' })
  await until('it is given up', ready)
  site.put('lease', key, JSON.stringify({ ...theirs, node: 'n2' }))
  await until('it is heard', () => told?.includes('theirs') === true)
  engine.turn({ deaf: true })
  site.put('lease', key, null)
  site.put('lease', key, JSON.stringify(ours))
  site.compact()
  engine.turn({ deaf: false })
  await until('it is taken back', () => site.get('lease', key) === undefined && ready())
  t.equal(told, null, 'nobody has it')
})

t.test('a commit that comes late is read before it is heard of', async t => {
  const node = await open(t)
  const { site, engine, store } = node
  const record = lease('10.22.0.50', 'one', 1)
  engine.turn({ fate: () => ({ untold: 0 }) })
  await t.rejects(store.commit([write(record)]), { code: 'IPK_STORE_AWAY' })
  engine.turn({ fate: () => 'carried out' })
  await until('it is given up', isReady(node))
  engine.turn({ deaf: true })
  site.put('lease', leaseKey(record), JSON.stringify(record))
  t.equal(await store.read('lease', leaseKey(record)), undefined, 'it is to be taken back')
  engine.turn({ deaf: false })
  await until('it is taken back', () => site.get('lease', leaseKey(record)) === undefined && isReady(node)())
})

t.test('nothing new is given while what waits for one node is not told yet by another', async t => {
  const site = new EngineDouble()
  for (const name of ['n1', 'n2']) site.put('node', name, nodeText(name))
  const opened = async (name: string): Promise<Node> => {
    const engine = site.connect({ deadlineMs: 20 })
    const store = openSharedStore(t, engine, join(t.testdir({}), `${name}.db`), { node: name, retryAfter: 5 })
    await store.load(() => undefined)
    return { site, engine, store }
  }
  keepAlive(t)
  const [one, two] = [await opened('n1'), await opened('n2')]
  const [earlier, later] = [lease('10.22.0.50', 'one', 1), { ...lease('10.22.0.50', 'two', 1), node: 'n2' }]
  const key = leaseKey(earlier)
  await one.store.commit([write(earlier), attached('one')])
  const snapshot = site.snapshot()
  await one.store.commit([{ kind: 'lease', key, expect: 1, record: null }])
  await until('its end is heard', async () => (await two.store.read('lease', key)) === undefined)
  await two.store.commit([write(later)])

  one.engine.turn({ away: 'refuses' })
  site.restore(snapshot)
  const waits = { state: 'incomplete', waitsFor: ['n1'], owed: 1 }
  const isSaid = (name: string): boolean => site.get('node', name)?.text.includes('"epoch":2') === true
  await until('the other one waits', () => isSaid('n2'))
  t.match(two.store.shared.status(), waits, 'the address may still be in use on the first one')
  two.engine.turn({ away: 'refuses' })
  one.engine.turn({ away: false })
  await until('the first one has told', () => isSaid('n1') && one.store.shared.status().state !== 'away')
  t.equal(stateOf(one, earlier), 'cooling')
  t.match(one.store.shared.status(), { state: 'incomplete', waitsFor: ['n2'] })
  await t.rejects(one.store.commit([write(lease('10.22.0.51', 'new', 1)), attached('new')]), {
    code: 'IPK_STORE_INCOMPLETE',
  })
  two.engine.turn({ away: false })
  await until('all is told', () => isReady(one)() && isReady(two)())
  t.equal(site.get('lease', key)?.text, JSON.stringify(later))
  t.notMatch(site.get('node', 'n2')?.text, 'owes')
})

/** Under a name that the engine has a claim on: whether the lease that the journal does not know ends after a loss. */
const under: readonly (readonly [
  what: string,
  names: readonly string[],
  by: string,
  state: LeaseRecord['state'],
])[] = [
  ['its own name', ['n1'], 'me', 'cooling'],
  ['a name that it had, and another machine has claimed', ['n1'], 'other', 'bound'],
  ['a name that it only wants', [], 'other', 'bound'],
  ['a name that it gave up, and has again in an engine that went back', ['n9'], 'me', 'cooling'],
]
for (const [what, names, by, state] of under) {
  t.test(`what stands under ${what}, and is not on record here, after a loss`, async t => {
    const site = new EngineDouble()
    const claim = { id: by, session: 's', bootId: 'b', since: 0 }
    site.put('node', 'n1', nodeText('n1', { claim }))
    const engine = site.connect({ deadlineMs: 20 })
    const journal = join(t.testdir({}), 'journal.db')
    const store = openSharedStore(t, engine, journal, { names: () => names, claim: me, retryAfter: 5 })
    await store.load(() => undefined)
    const theirs = lease('10.22.0.50', 'theirs', 1)
    site.put('lease', leaseKey(theirs), JSON.stringify(theirs))
    await until('it is heard of', async () => (await store.read('lease', leaseKey(theirs))) !== undefined)
    site.restore(site.snapshot())
    const isOver = { state: by === 'me' ? 'ready' : 'incomplete', owed: 0 }
    await until('the loss is dealt with', () => {
      const { state, owed } = store.shared.status()
      const isTold = site.get('node', 'n1')?.text.includes('"epoch":2') === (by === 'me')
      return isTold && state === isOver.state && owed === isOver.owed
    })
    t.equal(stateOf({ site, engine, store }, theirs), state)
  })
}

t.test(
  'after a loss another machine claims the name while a change of its record is under way here',
  async t => {
    const site = new EngineDouble()
    const node = (generation: number, id: string): NodeRecord =>
      nodeRecord('n1', { generation, epoch: 2, claim: { id, session: 's', bootId: 'b', since: 0 } })
    site.put('node', 'n1', JSON.stringify(node(1, 'me')))
    const engine = site.connect({ deadlineMs: 500 })
    const store = openSharedStore(t, engine, join(t.testdir({}), 'journal.db'), { claim: me, retryAfter: 5 })
    keepAlive(t)
    await store.load(() => undefined)
    site.restore(site.snapshot())
    const present = (): NodeRecord => JSON.parse(site.get('node', 'n1')?.text ?? '') as NodeRecord
    await until(
      'the loss is dealt with',
      () => present().epoch === 3 && store.shared.status().state === 'ready',
    )
    engine.turn({ slowMs: () => 100 })
    const { generation } = present()
    const own = node(generation + 1, 'me')
    const change = store.commit([{ kind: 'node', key: 'n1', expect: generation, record: own }])
    const theirs = lease('10.22.0.50', 'theirs', 1)
    site.put('node', 'n1', JSON.stringify({ ...node(generation + 1, 'other'), epoch: 3 }))
    site.put('lease', leaseKey(theirs), JSON.stringify(theirs))
    await t.rejects(change, StoreConflict)
    engine.turn({ slowMs: () => 0 })
    await until(
      'the lease is heard of',
      async () => (await store.read('lease', leaseKey(theirs))) !== undefined,
    )
    await until('nothing is pending', () => store.shared.status().owed === 0)
    t.equal(stateOf({ site, engine, store }, theirs), 'bound', 'its pod may live there')
  },
)

/** What stands under a name that another machine had before, by the epoch in which its record is in the engine when the loss is found. */
for (const [what, epoch, by, state] of [
  ['which nobody has told for', 1, 'me', 'bound'],
  ['which that one has told for meanwhile', 2, undefined, 'cooling'],
  ['which that one has claimed again', 1, 'other', 'cooling'],
] as const)
  t.test(`a copy of what another machine had under the same name, ${what}`, async t => {
    const site = new EngineDouble()
    const claimed = (id: string | undefined, epoch: number): string => {
      const claim = id !== undefined && { claim: { id, session: 's', bootId: 'b', since: 0 } }
      return nodeText('n1', { epoch, ...claim })
    }
    site.put('node', 'n1', claimed('me', 1))
    site.put('node', 'n2', nodeText('n2'))
    const theirs = lease('10.22.0.50', 'theirs', 1)
    site.put('lease', leaseKey(theirs), JSON.stringify(theirs))
    const journal = join(t.testdir({}), 'journal.db')
    let names: readonly string[] = []
    const open = async (): Promise<SharedStore> => {
      const store = openSharedStore(t, site.connect({ deadlineMs: 20 }), journal, {
        ...{ names: () => names, claim: me, retryAfter: 5 },
      })
      await store.load(() => undefined)
      return store
    }
    keepAlive(t)
    const before = await open()
    names = ['n1']
    await before.shared.named()
    await before.close()
    // That one has ended it.
    const ended = { ...lease('10.22.0.50', null, 2), since: 5, until: 1e15 }
    site.put('lease', leaseKey(theirs), JSON.stringify(ended))
    site.put('node', 'n1', claimed(by, epoch))
    site.put('node', 'n2', JSON.stringify({ generation: 2, name: 'n2', addresses: [], since: 0, epoch: 2 }))
    const store = await open()
    const waits = by === 'other' ? 'incomplete' : 'ready'
    await until('the loss is dealt with', () => {
      const { state, owed } = store.shared.status()
      return state === waits && owed === 0
    })
    const present = JSON.parse(site.get('lease', leaseKey(theirs))?.text ?? '{}') as LeaseRecord
    t.equal(present.state, state)
  })

const reclaims: readonly (readonly [name: string, there: LeaseRecord | undefined, container: string])[] = [
  ['what is bound here gets its lease again', undefined, 'one'],
  ['but not what somebody else has', { ...lease('10.22.0.50', 'theirs', 1), node: 'n2' }, 'theirs'],
]
for (const [name, there, container] of reclaims) {
  t.test(`an engine that has lost its records: ${name}`, async t => {
    const folder = t.testdir({})
    const opened = async (site: EngineDouble): Promise<SharedStore> => {
      const store = openSharedStore(t, site.connect(), join(folder, 'journal.db'), { retryAfter: 5 })
      await store.load(() => undefined)
      return store
    }
    const bound = lease('10.22.0.50', 'one', 1)
    const before = await opened(new EngineDouble())
    await before.commit([write(bound), attached('one')])
    await before.close()
    const site = new EngineDouble()
    if (there) site.put('lease', leaseKey(bound), JSON.stringify(there))
    const store = await opened(site)
    t.teardown(() => store.close())
    await until('all to be resolved', () => store.shared.status().owed === 0)
    const leases = site
      .records()
      .filter(({ kind }) => kind === 'lease')
      .map(({ text }) => JSON.parse(text) as LeaseRecord)
    t.strictSame(
      leases.map(({ attachment }) => attachment?.containerId),
      [container],
    )
  })
}

/** What becomes of an engine while the daemon is away that had an address of it in the third generation. */
const elsewhere: readonly (readonly [
  what: string,
  become: (site: EngineDouble, before: Snapshot) => { site?: EngineDouble; location?: string } | undefined,
  isTaken: boolean,
])[] = [
  [
    'an address was given anew after its record was deleted',
    site => {
      site.put('lease', leaseKey(earlier), null)
      site.put('lease', leaseKey(earlier), JSON.stringify({ ...lease('10.22.0.50', 'new', 1), node: 'n2' }))
      return undefined
    },
    true,
  ],
  [
    'an engine that has gone back tells of an earlier owner',
    (site, before) => {
      site.restore(before)
      return undefined
    },
    false,
  ],
  [
    'another engine tells of one, and has done more',
    () => {
      const site = new EngineDouble()
      for (let more = 0; more < 20; more++) site.put('pool', 'net', `{"generation":${more}}`)
      site.put('lease', leaseKey(earlier), JSON.stringify(earlier))
      return { site, location: 'elsewhere' }
    },
    false,
  ],
]
const earlier: LeaseRecord = { ...lease('10.22.0.50', 'old', 2), node: 'n2' }

for (const [what, become, isTaken] of elsewhere) {
  for (const heard of ['first', 'while the ledger is read in']) {
    t.test(`at the start ${what}, which is heard ${heard}`, async t => {
      keepAlive(t)
      const file = join(t.testdir({}), 'journal.db')
      const first = new EngineDouble()
      first.put('lease', leaseKey(earlier), JSON.stringify(earlier))
      const before = openSharedStore(t, first.connect(), file)
      await before.load(() => undefined)
      const snapshot = first.snapshot()
      await before.commit([write(lease('10.22.0.50', 'one', 3)), attached('one')])
      await before.close()

      const { site = first, location = 'in this process' } = become(first, snapshot) ?? {}
      const engine = Object.defineProperty(site.connect(), 'location', { value: location })
      const journal: Journal = SqliteStore.open(file)
      if (heard !== 'first') {
        engine.turn({ away: 'refuses' })
        const load = journal.load.bind(journal)
        journal.load = async visit => {
          engine.turn({ away: false })
          await until('all to be listed', () => store.shared.isHeard())
          await load(visit)
        }
      }
      const store = openSharedStore(t, engine, journal, { startTimeout: heard === 'first' ? 1000 : 20 })
      await store.load(() => undefined)
      const taken = store.shared.takenAtStart().map(({ attachment }) => attachment?.containerId)
      t.strictSame(taken, isTaken ? ['one'] : [])
    })
  }
}

t.test('an engine loses a pending write while the journal notes that it was made', async t => {
  const site = new EngineDouble()
  const engine = site.connect({ deadlineMs: 20 })
  const journal: Journal = SqliteStore.open(join(t.testdir({}), 'journal.db'))
  const commit = journal.commit.bind(journal)
  let moment: 'before' | 'armed' | 'lost' | 'found' = 'before'
  journal.commit = async (change, events, notes = []) => {
    if (moment === 'lost' && notes.some(({ kind }) => kind === 'engine')) moment = 'found'
    await commit(change, events, notes)
    const isClosing = notes.some(({ kind, text }) => kind === 'owed' && text === null)
    if (moment !== 'armed' || !isClosing) return
    moment = 'lost'
    site.restore()
    await until('the loss to be found', () => moment === 'found')
  }
  const store = openSharedStore(t, engine, journal, { startTimeout: 20, retryAfter: 5 })
  const gone: string[] = []
  store.shared.follow(({ key, text }) => {
    if (text === null) gone.push(key)
  })
  await store.load(() => undefined)
  const moved = lease('10.22.0.50', 'two', 2)
  await store.commit([write(lease('10.22.0.50', 'one', 1)), attached('one')])
  engine.turn({ away: 'refuses' })
  await store.probe()
  await store.commit([write(moved), attached('two')])
  moment = 'armed'
  engine.turn({ away: false })
  await until('the loss to be made good', () => moment === 'found' && isReady({ site, engine, store })())
  const present = JSON.parse(site.get('lease', leaseKey(moved))?.text ?? 'null') as LeaseRecord | null
  t.equal(present?.attachment?.containerId, 'two')
  t.notOk(gone.includes(leaseKey(moved)), 'the ledger never hears that it has gone')
})

t.test('an engine goes back to when a pod lived here that has ended and moved since', async t => {
  const site = new EngineDouble()
  const engine = site.connect({ deadlineMs: 20 })
  const store = openSharedStore(t, engine, join(t.testdir({}), 'journal.db'), { retryAfter: 5 })
  const told = new Map<string, string | null>()
  store.shared.follow(({ key, text }) => {
    told.set(key, text)
  })
  await store.load(() => undefined)
  const bound: LeaseRecord = { ...lease('10.22.0.50', 'one', 1), retain: 'forever' }
  const { holder, attachment, segment, address } = bound
  const sandbox = { node: 'n1', podUid: null, since: 1 }
  const owned: HolderRecord = {
    ...{ generation: 1, holder, attachment, sandbox, leases: [{ segment, address }] },
  }
  const holderWrite = { kind: 'holder', key: holderKey(holder) } as const
  await store.commit([write(bound), { ...holderWrite, expect: null, record: owned }, attached('one')])
  const snapshot = site.snapshot()
  const held: LeaseRecord = { ...bound, generation: 2, state: 'held', attachment: null }
  const kept: HolderRecord = { generation: 2, holder, attachment: null, leases: owned.leases }
  const deleted = { kind: 'attachment', key: attached('one').key, expect: 1, record: null } as const
  await store.commit([write(held), { ...holderWrite, expect: 1, record: kept }, deleted])
  // It was on another node, and is kept again.
  const elsewhere = JSON.stringify({ ...held, generation: 4, node: 'n2' })
  site.put('lease', leaseKey(bound), elsewhere)
  site.put('holder', holderKey(holder), JSON.stringify({ ...kept, generation: 4 }))
  await until('it is heard', () => told.get(leaseKey(bound)) === elsewhere)
  site.restore(snapshot)
  await until('its end is told again', () => {
    const text = site.get('lease', leaseKey(bound))?.text ?? '{}'
    return (JSON.parse(text) as LeaseRecord).state === 'held' && isReady({ site, engine, store })()
  })
  for (const { kind, key, text } of site.records())
    if (kind === 'lease' || kind === 'holder') t.equal(told.get(key), text, `the ledger has the ${kind}`)
})

t.test('what was tried, given up and then made after all is no late commit at the next start', async t => {
  const site = new EngineDouble()
  const journal = join(t.testdir({}), 'journal.db')
  const opened = async (): Promise<{ readonly engine: NodeEngine; readonly store: SharedStore }> => {
    const engine = site.connect({ deadlineMs: 20 })
    const store = openSharedStore(t, engine, journal, { startTimeout: 20, retryAfter: 5 })
    await store.load(() => undefined)
    return { engine, store }
  }
  const record = lease('10.22.0.50', 'one', 1)
  const ready =
    ({ store }: { readonly store: SharedStore }) =>
    () =>
      store.shared.status().state === 'ready' && store.shared.status().owed === 0
  const first = await opened()
  first.engine.turn({ fate: () => ({ untold: 0 }) })
  await t.rejects(first.store.commit([write(record)]), { code: 'IPK_STORE_AWAY' })
  first.engine.turn({ fate: () => 'carried out' })
  await until('it is given up', ready(first))
  await first.store.commit([write(record)])
  await first.store.close()
  const second = await opened()
  await until('it is open', ready(second))
  t.ok(site.get('lease', leaseKey(record)), 'it is there')
  t.match(await second.store.read('lease', leaseKey(record)), { state: 'bound' })
})

t.test(
  'somebody deletes what is bound here, in an engine where nobody leaves traces of what he ends',
  async t => {
    const site = new EngineDouble()
    const journal = join(t.testdir({}), 'journal.db')
    const bound = lease('10.22.0.50', 'one', 1)
    const heard: (string | null)[] = []
    keepAlive(t)
    const follow = async (away: 'refuses' | false): Promise<Node> => {
      const engine = site.connect({ deadlineMs: 20, ignores: ['ending'] })
      engine.turn({ away })
      const store = openSharedStore(t, engine, journal, { startTimeout: 20, retryAfter: 5 })
      store.shared.follow(({ key, text }) => {
        if (key === leaseKey(bound)) heard.push(text)
      })
      await store.load(() => undefined)
      return { site, engine, store }
    }
    const remove = async (): Promise<void> => {
      const { revision = null } = site.get('lease', leaseKey(bound)) ?? {}
      await site.connect().commit([{ kind: 'lease', key: leaseKey(bound), base: revision, text: null }])
    }
    const first = await follow(false)
    await first.store.commit([write(bound), attached('one')])

    await remove()
    await until('it is there again', () => stateOf(first, bound) === 'bound')
    await until('all is resolved', isReady(first))
    await first.store.close()

    await remove()
    const second = await follow('refuses')
    second.engine.turn({ away: false })
    await until('it is there again', () => stateOf(second, bound) === 'bound')
    await until('all is resolved', isReady(second))
    t.notOk(heard.includes(null), 'the ledger never hears that it has gone')
  },
)

t.test('a commit that comes late while the ledger is read in is taken back', async t => {
  const site = new EngineDouble()
  const file = join(t.testdir({}), 'journal.db')
  const bound = lease('10.22.0.50', 'one', 1)
  const engine = site.connect({ deadlineMs: 20 })
  const store = openSharedStore(t, engine, file, { startTimeout: 20, retryAfter: 5 })
  await store.load(() => undefined)
  engine.turn({ fate: () => ({ untold: 0 }) })
  await t.rejects(store.commit([write(bound), attached('one')]), { code: 'IPK_STORE_AWAY' })
  engine.turn({ fate: () => 'carried out' })
  await until('it to be taken back', isReady({ site, engine, store }))
  await store.close()

  const journal = SqliteStore.open(file)
  const load = journal.load.bind(journal)
  const heard = site.connect()
  journal.load = async visit => {
    await load(visit)
    site.put('lease', leaseKey(bound), JSON.stringify(bound))
    // Long enough to be heard of, ten times over.
    await pause(50)
  }
  const next = openSharedStore(t, heard, journal, { startTimeout: 1000, retryAfter: 5 })
  const read: string[] = []
  await next.load(({ kind, key }) => {
    if (kind === 'lease') read.push(key)
  })
  t.strictSame(read, [], 'the ledger is not given it')
  await until('the engine to be without it', () => !site.get('lease', leaseKey(bound)))
})

/** A pod that another node has, with two addresses; what an ADD here makes of its holder; and what is left after half of its DEL. */
function podElsewhere(site: EngineDouble) {
  const there = { network: 'fixed', containerId: 'there', ifname: 'eth0' }
  const leases = ['10.22.0.50', '10.22.0.51'].map(address => ({ ...lease(address, 'there', 1), node: 'n2' }))
  const [gone, kept] = leases as [LeaseRecord, LeaseRecord]
  const { holder } = gone
  const key = holderKey(holder)
  const before: HolderRecord = {
    ...{ generation: 1, holder, attachment: there, sandbox: { node: 'n2', podUid: null, since: 1 } },
    leases: leases.map(({ segment, address }) => ({ segment, address })),
  }
  for (const one of leases) site.put('lease', leaseKey(one), JSON.stringify(one))
  site.put('holder', key, JSON.stringify(before))
  const taken = (containerId: string): HolderRecord => ({
    ...{ ...before, generation: 2, attachment: { ...there, containerId }, leases: [] },
  })
  return {
    key,
    taken,
    write: (containerId: string): Write => ({ kind: 'holder', key, expect: 1, record: taken(containerId) }),
    /** By the DEL of the other node, which leaves a holder alone that has moved on. */
    deleteHalf: (): void => {
      const released = { ...gone, generation: 2, state: 'cooling', attachment: null, until: 2 }
      site.put('lease', leaseKey(gone), JSON.stringify(released))
    },
    left: { attachment: there, leases: [{ segment: kept.segment, address: kept.address }] },
  }
}

t.test('a holder goes back without what its former sandbox has let go meanwhile', async t => {
  const node = await open(t)
  const { site, engine, store } = node
  const { key, left, ...pod } = podElsewhere(site)
  await until('it to be heard', async () => (await store.read('holder', key)) !== undefined)
  engine.turn({
    fate: () => {
      engine.turn({ away: 'refuses' })
      return { untold: 1 }
    },
  })
  await t.rejects(store.commit([pod.write('here'), attached('here')]), { code: 'IPK_STORE_AWAY' })
  const told = new Map<string, string | null>()
  store.shared.follow(({ key: of, text }) => {
    told.set(of, text)
  })
  pod.deleteHalf()
  engine.turn({ away: false, fate: () => 'carried out' })
  await until('it to be taken back', isReady(node))
  t.match(JSON.parse(site.get('holder', key)?.text ?? 'null'), left)
  t.equal(told.get(key), site.get('holder', key)?.text, 'the ledger hears of it')
})

t.test('likewise where it had moved on by a commit that came late', async t => {
  const node = await open(t)
  const { site, engine, store } = node
  const { key, left, ...pod } = podElsewhere(site)
  await until('it to be heard', async () => (await store.read('holder', key)) !== undefined)
  engine.turn({ fate: () => ({ untold: 0 }) })
  await t.rejects(store.commit([pod.write('one'), attached('one')]), { code: 'IPK_STORE_AWAY' })
  engine.turn({ fate: () => 'carried out' })
  await until('it is given up', isReady(node))
  engine.turn({
    fate: () => {
      engine.turn({ fate: () => 'carried out' })
      site.put('holder', key, JSON.stringify(pod.taken('one')))
      pod.deleteHalf()
      return { untold: 0 }
    },
  })
  await t.rejects(store.commit([pod.write('two'), attached('two')]), { code: 'IPK_STORE_AWAY' })
  await until('it to be taken back', isReady(node))
  t.match(JSON.parse(site.get('holder', key)?.text ?? 'null'), left)
})

t.test('what goes back as a later version is told, also when the answer to that was lost', async t => {
  const node = await open(t)
  const { engine, store } = node
  let told: LeaseRecord | undefined
  store.shared.follow(({ kind, text }) => {
    if (kind === 'lease' && text !== null) told = JSON.parse(text) as LeaseRecord
  })
  const key = leaseKey(lease('10.22.0.50', 'one', 1))
  await store.commit([write(lease('10.22.0.50', 'one', 1))])
  await store.commit([write(lease('10.22.0.50', null, 2))])
  let lost = 0
  // That of the ADD, and that of what takes it back.
  engine.turn({ fate: () => (lost++ < 2 ? { untold: 1 } : 'carried out') })
  await t.rejects(store.commit([write(lease('10.22.0.50', 'two', 3)), attached('two')]))
  await until('it is back', isReady(node))
  const present = JSON.parse(node.site.get('lease', key)?.text ?? '{}') as LeaseRecord
  t.match(present, { state: 'cooling', generation: 4 })
  t.strictSame(told, present)
})
