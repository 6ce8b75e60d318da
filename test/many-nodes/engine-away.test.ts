import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { startLan } from '../rigs/lan.ts'
import { loseNamespaces, makeNamespaces } from '../rigs/many-namespaces.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { makeSharedNode, type Reply, type Sandbox, type SharedNode } from '../rigs/shared-node.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import type { EngineServer } from './engine-side.ts'
import { startEtcdSide, type EtcdSide } from './etcd-side.ts'
import { hastyConfig, playPool } from './play.ts'

/** What a node does while its etcd is away, and when it is back: each promise of docs/guides/many-nodes.md, by the real daemon. */

/** Milliseconds within which a claim is refused. */
const refusedWithin = 30_000

/** Milliseconds within which an engine that is back is served from. */
const backWithin = 20_000

interface Site {
  readonly engine: EtcdSide
  readonly server: EngineServer
  /** The one that things are done to, and another one. */
  readonly node: SharedNode
  readonly other: SharedNode
}

let pods = 0
const newPod = (asked: readonly string[] = []): Sandbox => ({
  ...{ container: newId(), pod: `web-${++pods}`, uid: newId(), asked },
})
const nextSandbox = (sandbox: Sandbox): Sandbox => ({ ...sandbox, container: newId() })
const newId = (): string => randomBytes(6).toString('hex')

/** Fails unless addresses were given. */
function given(reply: Reply): readonly string[] {
  if (reply.kind !== 'given') throw new Error(JSON.stringify(reply))
  return reply.addresses
}

/** Adds a pod, and fails unless it was given addresses. */
async function added(node: SharedNode, asked: readonly string[] = []) {
  const sandbox = newPod(asked)
  return { sandbox, addresses: given(await node.add(sandbox)) }
}

async function refusesClaims(t: Test, node: SharedNode, why: RegExp): Promise<void> {
  const began = performance.now()
  const reply = await node.add(newPod())
  const took = performance.now() - began
  t.match(reply, { kind: 'refused', error: { code: 'IPK_STORE_AWAY', cniCode: 11, retryable: true } })
  const message = reply.kind === 'refused' ? reply.error.message : ''
  t.match(
    message,
    /^etcd http:\/\/10\.30\.0\.\d+:2379 has been unreachable for \d+ s \(.+\)/,
    'it names the store',
  )
  t.match(message, why, 'and the reason')
  t.ok(took < refusedWithin, `${took.toFixed(0)} ms`)
}

/** New claims are served and nothing is owed, without a restart. */
async function comesBack(t: Test, node: SharedNode): Promise<void> {
  const { pid } = node.daemon()
  const began = performance.now()
  const waiting = newPod()
  await until('a new claim is served', async () => (await node.add(waiting)).kind === 'given', backWithin)
  t.comment(`a new claim is served after ${(performance.now() - began).toFixed(0)} ms`)
  const { store } = await node.status()
  t.match(store, { state: 'ready', owed: 0 })
  t.equal(node.daemon().pid, pid)
  given(await node.del(waiting))
}

/** Which container each address is bound to in the engine. */
async function boundTo({ engine }: Site): Promise<ReadonlyMap<string, string | null>> {
  const { leases } = await engine.read()
  return new Map(leases.flatMap(l => (l.state === 'bound' ? [[l.address, l.container]] : [])))
}

const containersOf = (bound: ReadonlyMap<string, string | null>, addresses: readonly string[]) =>
  addresses.map(address => bound.get(address))

/** Ways in which the engine goes away and comes back. */
const ways: readonly {
  readonly name: string
  readonly why: RegExp
  readonly go: (site: Site) => Promise<void>
  readonly back: (site: Site) => Promise<void>
}[] = [
  {
    name: 'stopped',
    why: /ECONNREFUSED/,
    go: ({ server }) => server.kill(),
    back: ({ server }) => server.start(),
  },
  {
    name: 'frozen',
    why: /Deadline exceeded|no answer within \d+ ms/,
    go: async ({ server }) => {
      server.freeze()
      return Promise.resolve()
    },
    back: async ({ server }) => {
      server.thaw()
      return Promise.resolve()
    },
  },
  {
    name: 'cut off, and the others go on and compact',
    why: /Deadline exceeded|no answer within \d+ ms/,
    go: ({ node }) => node.cut('both'),
    back: async ({ node, other, engine }) => {
      for (let count = 0; count < 20; count++) await other.del((await added(other)).sandbox)
      await added(other)
      await engine.compact()
      await node.mend()
    },
  },
]

t.test('etcd is away', { skip: missing('namespaces', 'nft', 'cluster', 'executables') }, async t => {
  const folder = tempFolder(t)
  const lan = await startLan({ hosts: 3 })
  t.teardown(() => lan.close())
  const engine = await startEtcdSide(t, lan.hosts.slice(2), folder)
  const nodes = lan.hosts
    .slice(0, 2)
    .map(host =>
      makeSharedNode(t, { host, ledger: engine.ledger, folder, config: hastyConfig, ipam: playPool }),
    )
  const [node, other] = nodes
  const [server] = engine.servers
  if (!node || !other || !server) throw new Error('the site has too little')
  const site: Site = { engine, server, node, other }
  for (const one of nodes) await one.start()

  for (const [index, { name, why, go, back }] of ways.entries()) {
    await t.test(name, async t => {
      const [any, named, ending] = [
        await added(node),
        await added(node, [`10.22.0.${100 + index}`, `fd00:22::${100 + index}`]),
        await added(node),
      ]
      const theirs = await added(other)
      await go(site)
      await refusesClaims(t, node, why)

      const restarted = []
      for (const { sandbox, addresses } of [any, named]) {
        const next = nextSandbox(sandbox)
        t.strictSame(given(await node.add(next)), addresses, 'a new sandbox has what its pod had')
        t.equal((await node.del(sandbox)).kind, 'given', 'the DEL of the old one')
        t.equal((await node.check(next, addresses)).kind, 'given', 'CHECK')
        restarted.push({ sandbox: next, addresses })
      }
      t.equal((await node.del(ending.sandbox)).kind, 'given', 'a DEL for good')
      t.equal((await node.del(ending.sandbox)).kind, 'given', 'and again')
      const { store } = await node.status()
      t.match(store, { state: 'away', reason: why })
      t.ok((store.owed ?? 0) > 0, 'it owes the engine what it did')

      await back(site)
      await comesBack(t, node)
      const bound = await boundTo(site)
      for (const { sandbox, addresses } of restarted) {
        t.strictSame(containersOf(bound, addresses), [sandbox.container, sandbox.container])
        t.equal((await node.check(sandbox, addresses)).kind, 'given')
      }
      t.strictSame(containersOf(bound, ending.addresses), [undefined, undefined], 'the DEL was replayed')
      t.strictSame(containersOf(bound, theirs.addresses), Array(2).fill(theirs.sandbox.container))
      await until('each node lists the same', async () => {
        const lists = await Promise.all(nodes.map(async one => (await one.leases()).map(l => l.address)))
        return lists[0]?.sort().join() === lists[1]?.sort().join()
      })
      for (const { sandbox } of restarted) given(await node.del(sandbox))
    })
  }

  await t.test('it takes no write, for want of space', async t => {
    const [stays, ending] = [await added(node), await added(node)]
    await engine.outOfSpace(true)
    t.equal((await node.del(ending.sandbox)).kind, 'given', 'a DEL ends')
    const error = { code: 'IPK_STORE_AWAY', message: /database space exceeded/, hint: /etcdctl alarm list/ }
    t.match(await node.add(newPod()), { kind: 'refused', error }, 'a new claim is told what to do')
    await node.kill()
    await node.start()
    await until('the next daemon has tried it', async () => (await node.status()).store.state === 'away')
    t.match(await node.add(newPod()), { kind: 'refused', error }, 'by the next daemon as well')
    await engine.outOfSpace(false)
    await comesBack(t, node)
    t.strictSame(containersOf(await boundTo(site), stays.addresses), Array(2).fill(stays.sandbox.container))
    t.strictSame(containersOf(await boundTo(site), ending.addresses), [undefined, undefined])
    given(await node.del(stays.sandbox))
  })

  await t.test('the daemon restarts meanwhile', async t => {
    const pod = await added(node)
    await server.kill()
    await node.kill()
    await node.start()
    const next = nextSandbox(pod.sandbox)
    t.strictSame(given(await node.add(next)), pod.addresses, 'its journal knows what is bound here')
    await refusesClaims(t, node, /ECONNREFUSED/)
    // And what it did since the restart outlives another one.
    await node.kill()
    await node.start()
    t.equal((await node.check(next, pod.addresses)).kind, 'given')
    t.equal((await node.del(pod.sandbox)).kind, 'given')
    await server.start()
    await comesBack(t, node)
    t.strictSame(containersOf(await boundTo(site), pod.addresses), [next.container, next.container])
    given(await node.del(next))
  })

  await t.test('the journal is lost with pods running', async t => {
    const paths = await makeNamespaces(node.host, 'pod', 2)
    const inNamespace = async (netns = '') => {
      const sandbox = { ...newPod(), netns }
      return { sandbox, addresses: given(await node.add(sandbox)) }
    }
    const running = [await added(node), await added(node), await inNamespace(paths[0])]
    await node.kill()
    node.loseJournal()
    await node.start()

    // Whose sandbox dies is released: so the daemon has looked at what it has, and let the others be.
    const dying = await inNamespace(paths[1])
    await loseNamespaces(node.host, [dying.sandbox.netns], false)
    await until('a dead sandbox is found', async () => !(await boundTo(site)).has(dying.addresses[0] ?? ''))
    const bound = await boundTo(site)
    for (const { sandbox, addresses } of running)
      t.strictSame(containersOf(bound, addresses), [sandbox.container, sandbox.container], 'still bound')

    const [first, ...others] = running
    if (!first) return
    const next = nextSandbox(first.sandbox)
    t.strictSame(given(await node.add(next)), first.addresses, 'its pod goes on with it')
    for (const { sandbox } of [first, ...others, { sandbox: next }])
      t.equal((await node.del(sandbox)).kind, 'given', 'a DEL needs no journal')
    await until('nothing is bound', async () => {
      const left = await boundTo(site)
      return running.every(({ addresses }) => addresses.every(address => !left.has(address)))
    })
    t.match((await node.status()).store, { state: 'ready', owed: 0 })
  })

  await t.test('the journal is lost, and etcd is away', async t => {
    const pod = await added(node)
    await server.kill()
    await node.kill()
    node.loseJournal()
    await node.start()
    await refusesClaims(t, node, /ECONNREFUSED/)
    t.equal((await node.add(nextSandbox(pod.sandbox))).kind, 'refused', 'nobody knows what was bound here')
    t.equal((await node.del(pod.sandbox)).kind, 'given', 'a DEL ends')
    await server.start()
    await comesBack(t, node)
    t.equal((await node.del(pod.sandbox)).kind, 'given')
    t.strictSame(containersOf(await boundTo(site), pod.addresses), [undefined, undefined])
  })

  await t.test('a record of a newer ipkeeper', async t => {
    const pod = await added(node)
    const place = 'leases/default-010-022-000-120'
    const newer = '{"v":2,"by":"somebody","what":"nobody here knows"}'
    const says =
      /leases\/default-010-022-000-120 is written by a newer ipkeeper \(schema 2; .*update this node/
    await engine.put(place, newer)
    await until('the daemon says so', async () => says.test((await node.status()).store.reason ?? ''))
    const claims = async (what: string, asked?: readonly string[]) => {
      const refusal = { code: 'IPK_STORE_FAILED', cniCode: 11, message: says }
      t.match(await node.add(newPod(asked)), { kind: 'refused', error: refusal }, what)
    }
    await claims('no claim')
    const next = nextSandbox(pod.sandbox)
    t.strictSame(given(await node.add(next)), pod.addresses, 'what was read goes on')
    t.equal((await node.del(pod.sandbox)).kind, 'given')
    await node.kill()
    await node.start()
    t.match((await node.status()).store.reason, says)
    await claims('nor after a restart')
    t.equal((await node.del(next)).kind, 'given', 'a DEL ends')
    await claims('least of all that address', ['10.22.0.120', 'fd00:22::120'])
    t.equal(await engine.get(place), newer, 'it is as it was')
    await engine.put(place, undefined)
    await comesBack(t, node)
    t.strictSame(containersOf(await boundTo(site), pod.addresses), [undefined, undefined])
  })
})
