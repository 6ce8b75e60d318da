/** Daemons of several hosts on one etcd: pods reach each other by routes that nobody set by hand, wherever they are. */
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { cutOff, mend } from '../rigs/cuts.ts'
import { askEcho, serveEcho, type Place } from '../rigs/echo.ts'
import { findProgram } from '../rigs/find-program.ts'
import { lanEtcdPort, startLanEtcd } from '../rigs/lan-etcd.ts'
import { startLan, type Lan, type LanHost } from '../rigs/lan.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { addressOf, startWiredNode, type WiredNode, type WiredPod } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables', 'etcd')
const families = [4, 6] as const
/** Within which traffic has to follow a pod. */
const soon = 2000

interface Served extends Place {
  readonly pod: WiredPod
  readonly addresses: Readonly<Record<4 | 6, string>>
}

interface Site extends Lan {
  readonly nodes: readonly WiredNode[]
}

/** etcd runs on the router, and each host has a daemon. */
async function makeSite(t: Test, mode: string, configuration: object = {}): Promise<Site> {
  const folder = tempFolder(t)
  const lan = await startLan({ hosts: 3 })
  t.teardown(() => lan.close())
  const store = `etcd:${await startLanEtcd(lan, folder)}`
  const settings = { mode, ...(mode === 'bridge' && { isGateway: true }) }
  const nodes: WiredNode[] = []
  for (const host of lan.hosts) {
    const own = { node: host.name, kubernetes: { mode: 'off' }, ...configuration }
    nodes.push(await startWiredNode(host, { folder, settings, configuration: own, store }))
  }
  return { ...lan, nodes }
}

async function add({ nodes }: Site, number: number, name: string, last?: string): Promise<Served> {
  const node = nodes[number - 1]!
  const annotations = { 'ipkeeper.io/ip': `10.22.0.${last},fd00:22::${last}` }
  const pod = await node.pod({ name, ...(last !== undefined && { annotations }) })
  const result = await pod.add()
  const served = {
    ...{ host: node.host, namespace: pod.namespace, pod },
    addresses: { 4: addressOf(result, 4), 6: addressOf(result, 6) },
  }
  await serveEcho(served, `${name} on ${number}`)
  return served
}

async function routesOf(host: LanHost): Promise<string[]> {
  const shown = await Promise.all(
    families.map(family => host.must('ip', [`-${family}`, 'route', 'show', 'proto', '147'])),
  )
  return shown.flatMap(text => text.split('\n').filter(line => line !== ''))
}

/** Asks until the pod of that name answers: milliseconds. */
async function reaches(place: Place, address: string, name: string): Promise<number> {
  const startedAt = performance.now()
  await until(
    `${name} answers at ${address}`,
    async () => (await askEcho(place, address, { milliseconds: 200 }))?.name === name,
    2 * soon,
  )
  return Math.round(performance.now() - startedAt)
}

/** A daemon that is started while the store is away knows its own pods alone. */
async function startsAlone(
  t: Test,
  { nodes: [node], hosts: [host] }: Site,
  a: Served,
  b: Served,
): Promise<void> {
  await cutOff(host!, [lanEtcdPort], 'both')
  await node!.daemon().stop('SIGKILL')
  const daemon = await node!.startDaemon()
  await until('it serves', () => daemon.log().includes('"serving"'))
  for (let asked = 0; asked < 10; asked++)
    t.match(await askEcho(a, b.addresses[4]), { name: 'b on 3' }, 'routes to what it does not know of stay')
  await mend(host!)
  await until('the store is back', () => daemon.log().includes('the store can be reached again'))
}

for (const mode of ['ptp', 'bridge']) {
  t.test(`daemons on one etcd, mode ${mode}`, { skip }, async t => {
    const site = await makeSite(t, mode)
    const [one] = site.hosts
    const a = await add(site, 1, 'a')
    const b = await add(site, 2, 'b', '200')
    for (const family of families) {
      const took = await reaches(a, b.addresses[family], 'b on 2')
      // A pod that asks before the way is there asks its link again after a second.
      t.ok(took < 2 * soon, `IPv${family}: b is reached after ${took} ms`)
      t.match(await askEcho(b, a.addresses[family], { protocol: 'tcp' }), {
        name: 'a on 1',
        from: b.addresses[family],
      })
    }
    await b.pod.del()
    const moved = await add(site, 3, 'b', '200')
    for (const family of families) {
      const took = await reaches(a, moved.addresses[family], 'b on 3')
      // Who solicits a neighbour of IPv6 before the node answers for it does so again after a second (RFC 4861, 10).
      const within = mode === 'bridge' && family === 6 ? 2 * soon : soon
      t.ok(took < within, `IPv${family}: b is reached at its new place after ${took} ms`)
    }
    await site.nodes[0]!.daemon().stop('SIGKILL')
    t.match(await askEcho(a, moved.addresses[4]), { name: 'b on 3' }, 'routes stay when the daemon is killed')
    await site.nodes[0]!.startDaemon()
    t.match(await askEcho(a, moved.addresses[4]), { name: 'b on 3' }, 'and when it is back')
    if (mode === 'ptp') await t.test('while the store is away', t => startsAlone(t, site, a, moved))
    await moved.pod.del()
    await until('its route goes', async () => (await routesOf(one!)).length === 0)
  })
}

t.test(
  'an etcd that loses its records: pods reach each other all the while',
  { skip: skip || missing('etcdctl') },
  async t => {
    const site = await makeSite(t, 'ptp')
    const [one, two, three] = site.nodes
    const a = await add(site, 1, 'a')
    const others = { 'b on 2': await add(site, 2, 'b'), 'c on 3': await add(site, 3, 'c') }
    for (const [name, { addresses }] of Object.entries(others)) await reaches(a, addresses[4], name)
    const answer = async (when: string): Promise<void> => {
      for (let asked = 0; asked < 20; asked++) {
        for (const [name, { addresses }] of Object.entries(others))
          t.match(await askEcho(a, addresses[4], { milliseconds: 500 }), { name }, `${name}, ${when}`)
        await delay(50)
      }
    }
    const saysOfStore = async (node: WiredNode | undefined): Promise<string> =>
      (await node?.daemon().ask('GET', '/v1/status'))?.body ?? ''
    await three!.daemon().stop('SIGKILL')
    const url = `http://${site.outside.ipv4}:${lanEtcdPort}`
    await site.outside.must(findProgram('etcdctl') ?? '', [
      `--endpoints=${url}`,
      'del',
      '--prefix',
      '/ipkeeper',
    ])
    await until('it is noticed', async () => (await saysOfStore(one)).includes('"incomplete"'))
    await answer('while a node is waited for')
    await three!.startDaemon()
    for (const node of [one, two, three])
      await until('all have told', async () => (await saysOfStore(node)).includes('"ready"'))
    await answer('when all have told')
    const { stdout } = await one!.daemon().control('nodes', '-o', 'json')
    const { nodes } = JSON.parse(stdout) as { nodes: readonly { readonly addresses: readonly string[] }[] }
    t.ok(
      nodes.every(({ addresses }) => addresses.length > 0),
      'each has told by which addresses it is reached',
    )
  },
)
