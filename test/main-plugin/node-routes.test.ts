/** Pods in modes bridge and ptp on several hosts of one L2 network, and the routes by which they reach each other. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { BoundAddress } from '../../ipkeeper-server/network/plan/plan-node-routes.ts'
import { askEcho, followEcho, serveEcho, type Place } from '../rigs/echo.ts'
import type { LanHost } from '../rigs/lan.ts'
import type { RoutesOrder } from '../rigs/node-routes-program.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { makeWiredLan, type WiredLan } from '../rigs/wired-lan.ts'
import { addressOf, type WiredPod } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')
const families = [4, 6] as const
const program = join(import.meta.dirname, '..', 'rigs', 'node-routes-program.ts')
/** Within which traffic has to follow a pod. */
const soon = 2000

interface Served extends Place {
  readonly pod: WiredPod
  readonly addresses: Readonly<Record<4 | 6, string>>
}

const range = (subnet: string, rangeStart: string, rangeEnd: string, gateway: string) => ({
  ...{ segment: 'default', subnet, rangeStart, rangeEnd, gateway },
  exclude: [],
})

/** Three hosts whose daemons know nothing of each other; what a shared ledger would tell them, this tells. */
class Site {
  readonly lan: WiredLan
  readonly #mode: string
  readonly #keepers = new Map<string, ChildProcess>()
  readonly #said = new Map<string, string>()
  readonly #pods = new Map<string, Served>()
  readonly #places = new Map<string, number>()

  private constructor(lan: WiredLan, mode: string) {
    this.lan = lan
    this.#mode = mode
  }

  static async make(t: Test, mode: string): Promise<Site> {
    const settings = { mode, ...(mode === 'bridge' && { isGateway: true }) }
    const site = new Site(await makeWiredLan(t, { hosts: 3 }, () => ({ settings })), mode)
    t.teardown(async () => {
      for (const host of site.lan.hosts) await site.end(host)
    })
    return site
  }

  async add(number: number, name: string, last: string): Promise<Served> {
    const node = this.lan.nodes[number - 1]!
    const annotations = { 'ipkeeper.io/ip': `10.22.0.${last},fd00:22::${last}` }
    const pod = await node.pod({ name, annotations })
    const result = await pod.add()
    const served = {
      ...{ host: node.host, namespace: pod.namespace, pod },
      addresses: { 4: addressOf(result, 4), 6: addressOf(result, 6) },
    }
    this.#pods.set(name, served)
    this.#places.set(name, number)
    await serveEcho(served, `${name} on ${number}`)
    return served
  }

  async remove(name: string): Promise<void> {
    await this.#pods.get(name)?.pod.del()
    this.#pods.delete(name)
    this.#places.delete(name)
  }

  start(host: LanHost): void {
    const [wanted, words] = host.command(process.execPath, [program])
    const child = spawn(wanted, words, { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdout.on('data', (chunk: Buffer) =>
      this.#said.set(host.name, (this.#said.get(host.name) ?? '') + chunk.toString()),
    )
    this.#keepers.set(host.name, child)
  }

  async end(host: LanHost): Promise<void> {
    const keeper = this.#keepers.get(host.name)
    this.#keepers.delete(host.name)
    if (!keeper) return
    keeper.stdin?.end()
    await once(keeper, 'close')
  }

  said(host: LanHost): string {
    return this.#said.get(host.name) ?? ''
  }

  /** Tells the hosts how it is now; `without`: a node that was removed. */
  tell(without?: LanHost): void {
    const bound: BoundAddress[] = [...this.#pods].flatMap(([name, { addresses }]) => {
      const node = `host-${this.#places.get(name)}`
      if (node === without?.name) return []
      return families.map(family => ({
        ...{ segment: 'default', address: addresses[family], node, isRouted: true },
      }))
    })
    for (const host of this.lan.hosts) {
      const others = this.lan.hosts.filter(other => other !== without)
      const own = [...this.#pods].filter(([name]) => `host-${this.#places.get(name)}` === host.name)
      this.order(host, {
        node: host.name,
        bound,
        nodes: Object.fromEntries(others.map(({ name, ipv4, ipv6 }) => [name, [ipv4, ipv6]])),
        podBridges: this.#mode === 'bridge' ? ['ipk0'] : [],
        ranges: [
          range('10.22.0.0/16', '10.22.0.1', '10.22.255.254', '10.22.0.1'),
          range('fd00:22::/64', 'fd00:22::1', 'fd00:22::ffff:ffff:ffff:ffff', 'fd00:22::1'),
        ],
        pods: own.map(([, { pod }]) => pod.namespace.path),
      })
    }
  }

  order(host: LanHost, order: RoutesOrder): void {
    this.#keepers.get(host.name)?.stdin?.write(`${JSON.stringify(order)}\n`)
  }
}

async function routesOf(host: LanHost): Promise<string[]> {
  const shown = await Promise.all(
    families.map(family => host.must('ip', [`-${family}`, 'route', 'show', 'proto', '147'])),
  )
  return shown.flatMap(text => text.split('\n').flatMap(line => /^(\S+) via \S+/.exec(line)?.[0] ?? []))
}

for (const mode of ['ptp', 'bridge']) {
  t.test(`routes between nodes, mode ${mode}`, { skip }, async t => {
    const site = await Site.make(t, mode)
    const [one, two, three] = site.lan.hosts as [LanHost, LanHost, LanHost]
    const a = await site.add(1, 'a', '10')
    const b = await site.add(2, 'b', '70')
    const mate = await site.add(2, 'mate', '71')
    for (const family of families) {
      const answer = await askEcho(a, b.addresses[family], { milliseconds: 500 })
      t.equal(answer, undefined, `no way without routes, IPv${family}`)
    }
    const foreign = ['10.22.200.0/26', 'dev', 'eth0', 'metric', '2000']
    await one.must('ip', ['route', 'add', ...foreign])

    for (const host of site.lan.hosts) site.start(host)
    site.tell()
    for (const family of families) {
      const from = a.addresses[family]
      t.match(await askEcho(a, b.addresses[family]), { name: 'b on 2', from }, `IPv${family}`)
      t.match(
        await askEcho(b, from, { protocol: 'tcp' }),
        { name: 'a on 1' },
        `and back by TCP, IPv${family}`,
      )
      t.match(await askEcho(mate, b.addresses[family]), { name: 'b on 2' }, `on one node, IPv${family}`)
      t.match(
        await askEcho({ host: three }, from),
        { name: 'a on 1' },
        `from a node without pods, IPv${family}`,
      )
    }
    t.strictSame(
      await routesOf(one),
      [`10.22.0.64/26 via ${two.ipv4}`, `fd00:22::40/122 via ${two.ipv6}`],
      'one route for the stripe of a node',
    )

    // Asked all the time, since a process for each question takes longer to start than an answer may take to come.
    const askers = families.flatMap(family =>
      (
        [
          ['another node', a],
          ['the node it was on', mate],
        ] as const
      ).map(([who, place]) => ({ who, family, following: followEcho(place, b.addresses[family]) })),
    )
    t.teardown(() => Promise.all(askers.map(({ following }) => following.stop())))
    await until('all are answered', () => askers.every(({ following }) => following.answers.length > 0))
    await site.remove('b')
    const moved = await site.add(3, 'b', '70')
    if (mode === 'bridge') {
      const tentative = await three.must('ip', ['-6', '-o', 'address', 'show', 'dev', 'ipk0', 'tentative'])
      t.equal(
        tentative,
        '',
        'the bridge is ready with its first pod: a tentative one asks no pod for its MAC',
      )
    }
    const toldAt = performance.now()
    site.tell()
    for (const { who, family, following } of askers) {
      const first = (): number | undefined => following.answers.find(({ name }) => name === 'b on 3')?.at
      await until(`${who} reaches it where it is now`, () => first() !== undefined)
      const took = Math.round((first() ?? Infinity) - toldAt)
      t.ok(took < soon, `IPv${family}: ${who} after ${took} ms`)
      await following.stop()
    }
    for (const family of families) {
      t.match(await askEcho(moved, a.addresses[family]), { name: 'a on 1' }, 'and it reaches others')
    }

    await site.remove('b')
    const home = await site.add(1, 'b', '70')
    site.tell()
    for (const family of families) {
      t.match(
        await askEcho(mate, home.addresses[family], { milliseconds: soon }),
        { name: 'b on 1' },
        'comes to a node',
      )
      t.match(
        await askEcho(a, home.addresses[family], { milliseconds: soon }),
        { name: 'b on 1' },
        'and is near there',
      )
    }

    await site.end(one)
    const before = await routesOf(one)
    t.ok(before.length > 0, 'routes stay when the daemon ends')
    t.match(await askEcho(a, mate.addresses[4]), { name: 'mate on 2' }, 'and traffic goes on')

    site.start(one)
    site.tell(two)
    await until(
      'routes to a removed node go',
      async () => !(await routesOf(one)).some(route => route.includes(two.ipv4)),
    )
    site.order(one, null)
    await until('off removes all', async () => (await routesOf(one)).length === 0)
    t.match(
      await one.must('ip', ['route', 'show', '10.22.200.0/26']),
      /metric 2000/,
      'a route of others stays',
    )
    t.equal(await one.must('ip', ['-6', 'neighbour', 'show', 'proxy']), '', 'no answers for others are left')
    for (const host of site.lan.hosts) t.notMatch(site.said(host), /problem/, `${host.name}: no problems`)
  })
}
