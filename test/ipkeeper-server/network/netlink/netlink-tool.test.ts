import { closeSync, fstatSync, openSync, readdirSync } from 'node:fs'
import t from 'tap'
import { listLinks } from '../../../../ipkeeper-server/network/ip-show.ts'
import { ipJson } from '../../../../ipkeeper-server/network/ip-commands.ts'
import { loadRouteSockets } from '../../../../ipkeeper-server/network/netlink/load-route-sockets.ts'
import { netlinkTool } from '../../../../ipkeeper-server/network/netlink/netlink-tool.ts'
import {
  NetlinkFault,
  type KernelReply,
  type RouteSocket,
  type RouteSockets,
} from '../../../../ipkeeper-server/network/netlink/route-sockets.ts'
import {
  MalformedAnswer,
  type RouteMessage,
} from '../../../../ipkeeper-server/network/netlink/route-message.ts'
import { SharedSockets } from '../../../../ipkeeper-server/network/netlink/shared-sockets.ts'
import { runTool, type RunTool, type ToolRun } from '../../../../ipkeeper-server/network/run-tool.ts'
import { missing } from '../../../rigs/requirements.ts'
import { makeSpot, type Spot } from '../../../rigs/spot.ts'
import { makeTempFolder } from '../../../rigs/temp-folder.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { toolDouble } from '../../../rigs/tool-double.ts'

type Ask = (message: RouteMessage) => KernelReply | Promise<KernelReply>

const done: KernelReply = { errno: 0, text: undefined, linkIndex: 7 }
const refused = (errno: number, text?: string): KernelReply => ({ errno, text, linkIndex: undefined })

/** A tool whose kernel answers so; the first question is whether there is a "lo". */
function toolWith(answers: readonly Ask[], more: { readonly open?: () => RouteSocket } = {}) {
  const waiting: Ask[] = [() => done, ...answers]
  const left: unknown[] = []
  const opened: (number | undefined)[] = []
  let closed = 0
  const socket: RouteSocket = {
    ask: async (message, late) => {
      late?.throwIfAborted()
      return await (waiting.shift() ?? (() => done))(message)
    },
    close: () => {
      closed++
    },
  }
  const sockets = {
    open: (inside?: number) => {
      if (opened.push(inside) > 1 && more.open) return more.open()
      return socket
    },
    textOf: (errno: number) => `error ${errno}`,
  } as unknown as RouteSockets
  const { run: ip, runs } = toolDouble(() => ({ stdout: 'by ip' }))
  const run = netlinkTool({
    run: ip,
    netlink: new SharedSockets({
      load: async () => await Promise.resolve(sockets),
      onLeftToIp: error => left.push(error),
    }),
  })
  return { run, runs, left, opened, waiting, closed: () => closed }
}

const batch = (...lines: readonly string[]): ToolRun => ({
  ...{ tool: 'ip', args: ['-batch', '-'], input: `${lines.join('\n')}\n` },
})

t.test('what netlink is not for is run as it is, and nothing is loaded', async t => {
  for (const order of [
    batch('rule add from 10.22.0.0/16'),
    batch('link set dev a up', 'link delete dev if7'),
    batch(''),
    batch(...Array.from({ length: 51 }, () => 'link set dev a up')),
    { ...batch('link set dev a up'), tool: 'bridge' },
    { ...batch('link set dev a up'), args: ['-json', 'address', 'show'] },
  ] as const) {
    const { run, runs, opened } = toolWith([])
    t.equal((await run(order)).stdout, 'by ip')
    t.strictSame(runs, [order])
    t.strictSame(opened, [])
  }
})

t.test('a batch ends at its first refusal, in the words of ip', async t => {
  const lines = batch('link set dev a up', 'address add 10.22.0.50/16 dev a', 'link set dev a down')
  for (const [answers, stderr] of [
    [[], ''],
    [[() => refused(19)], 'Cannot find device "a"\nCommand failed -:1\n'],
    [[() => refused(1)], 'RTNETLINK answers: error 1\nCommand failed -:1\n'],
    [[() => done, () => refused(17)], 'RTNETLINK answers: error 17\nCommand failed -:1\n'],
    [[() => done, () => done, () => done, () => refused(17, 'taken')], 'Error: taken.\nCommand failed -:2\n'],
    [
      [() => done, () => done, () => refused(19), () => refused(17, 'Taken.')],
      'Error: Taken.\nCommand failed -:2\n',
    ],
  ] as const) {
    const { run, runs, waiting, closed, left } = toolWith(answers)
    t.strictSame(await run({ ...lines, inside: 5 }), { exit: stderr === '' ? 0 : 2, stdout: '', stderr })
    t.strictSame(waiting, [], 'each was asked')
    t.equal(closed(), 2, 'the first asked for "lo"')
    t.strictSame([runs, left], [[], []])
  }
})

t.test('where netlink does not work everything is left to ip, which is told once', async t => {
  const order = batch('link set dev a up')
  const faults = {
    'no socket in a pod': toolWith([], {
      open: () => {
        throw new NetlinkFault('no socket of netlink: Address family not supported by protocol')
      },
    }),
    'no answer to the first question': toolWith([]),
    'a refused first question': toolWith([]),
  }
  faults['no answer to the first question'].waiting[0] = () => {
    throw new MalformedAnswer('cut off')
  }
  faults['a refused first question'].waiting[0] = () => refused(95)
  for (const [what, { run, runs, left, opened, closed }] of Object.entries(faults)) {
    t.equal((await run(order)).stdout, 'by ip', what)
    t.equal((await run(order)).stdout, 'by ip', what)
    t.equal(runs.length, 2, what)
    t.equal(left.length, 1, what)
    t.equal(closed(), 1, what)
    t.ok(opened.length <= 2, what)
  }
  const { run: ip, runs } = toolDouble(() => ({ stdout: 'by ip' }))
  const left: unknown[] = []
  const run = netlinkTool({
    run: ip,
    netlink: new SharedSockets({
      load: () => Promise.reject(new Error('not there')),
      onLeftToIp: error => left.push(error),
    }),
  })
  await Promise.all([run(order), run(order)])
  t.equal(runs.length, 2)
  t.match(left, [{ message: 'not there' }])
})

t.test('a fault in the middle fails the batch, and the next one is left to ip', async t => {
  const { run, runs, left } = toolWith([
    () => done,
    () => {
      throw new MalformedAnswer('an attribute is cut off')
    },
  ])
  const order = batch('link set dev a up')
  t.strictSame(await run(order), {
    ...{ exit: 2, stdout: '' },
    stderr: 'netlink: an attribute is cut off\nCommand failed -:1\n',
  })
  t.strictSame(runs, [])
  t.equal((await run(order)).stdout, 'by ip')
  t.equal(left.length, 1)
})

t.test('what has not ended in time is given up after the message that is on its way', async t => {
  const { promise, resolve } = Promise.withResolvers<KernelReply>()
  const { run, waiting, closed } = toolWith([() => promise, () => done])
  const problem = await thrownProblem(() =>
    run({ ...batch('link set dev a up', 'link set dev b up'), timeoutMs: 5 }),
  )
  t.match(problem, { code: 'IPK_WIRING_FAILED', message: 'ip -batch -: no end within 0.005 s' })
  t.equal(closed(), 1, 'its socket is still in use')
  resolve(done)
  await new Promise(setImmediate)
  t.equal(closed(), 2)
  t.equal(waiting.length, 1, 'the question of the first line was the last one')
})

t.test('more than two removals at a time are for ip, and keep nothing else waiting', async t => {
  const kernel = Promise.withResolvers<KernelReply>()
  const answer: Ask = ({ type }) => (type === 17 ? kernel.promise : done)
  const { run, runs, left } = toolWith(Array.from({ length: 20 }, () => answer))
  const removal = batch('link set dev a group 7', 'link delete dev a')
  const alone = batch('link delete group 7')
  await run(batch('link set dev b up'))
  const removed = Promise.all([run(removal), run(alone)])
  t.strictSame(runs, [])
  await Promise.all([run(alone), run(removal)])
  t.strictSame(runs, [alone, removal])
  t.equal((await run(batch('link set dev b up'))).exit, 0)
  kernel.resolve(done)
  await removed
  await run(alone)
  t.strictSame([runs.length, left], [2, []], 'later ones are for netlink again')
})

t.test('a namespace is held for as long as a message names it', async t => {
  const beside = openSync('/proc/self/ns/net', 'r')
  const { ino } = fstatSync(beside)
  const { promise, resolve } = Promise.withResolvers<KernelReply>()
  let fd = -1
  const { run, closed } = toolWith([
    ({ attributes }) => {
      const value = attributes.find(([type]) => type === 28)?.[1]
      fd = value instanceof Uint8Array ? Buffer.from(value).readInt32LE() : -1
      return promise
    },
  ])
  const line = 'link add name h netns /proc/self/fd/3 type veth peer name p'
  await thrownProblem(() => run({ ...batch(line), beside, timeoutMs: 5 }))
  closeSync(beside)
  t.equal(fstatSync(fd).ino, ino, 'time is up, and the kernel may not have looked')
  resolve(done)
  await new Promise(setImmediate)
  t.equal(closed(), 2)
  t.throws(() => fstatSync(fd), { code: 'EBADF' })
  const { run: withoutIt, runs } = toolWith([])
  const order = { ...batch(line), beside }
  await withoutIt(order)
  t.strictSame(runs, [order], 'without it the batch is for ip')
})

t.test('a library that does not become ready is not waited for', async t => {
  const order = batch('link set dev a up')
  const sockets = Promise.withResolvers<RouteSockets>()
  const { run: ip, runs } = toolDouble(() => ({ stdout: 'by ip' }))
  const left: unknown[] = []
  const run = netlinkTool({
    run: ip,
    netlink: new SharedSockets({
      ...{ load: () => sockets.promise, loadMs: 5 },
      onLeftToIp: error => left.push(error),
    }),
  })
  t.equal((await run(order)).stdout, 'by ip')
  sockets.reject(new Error('in the end it failed'))
  t.equal((await run(order)).stdout, 'by ip')
  t.equal(runs.length, 2)
  t.match(left, [{ message: 'not ready within 0.005 s' }])
})

/** What the kernel makes for itself, sooner or later. */
const ownAffair = /^(?:fe80|ff|multicast)/

/** What ip shows of a namespace, without what is another one each time. */
async function seen({ run }: Spot): Promise<unknown> {
  const show = (...words: readonly string[]) =>
    ipJson(run, words) as Promise<readonly Readonly<Record<string, unknown>>[]>
  const details = (await show('-details', 'address', 'show')) as readonly {
    readonly inet6_addr_gen_mode?: string
    readonly linkinfo?: { readonly info_data?: { readonly mode?: string }; readonly info_slave_data?: object }
    readonly addr_info: readonly Readonly<Record<string, unknown>>[]
  }[]
  const links = (await listLinks(run, [])).map(link => ({
    ...{ ...link, index: 0, carrier: false },
    addresses: link.addresses.filter(({ address }) => !ownAffair.test(address)),
  }))
  const routes = [
    ...(await show('-N', '-4', 'route', 'show', 'table', 'all')),
    ...(await show('-N', '-6', 'route', 'show', 'table', 'all')),
  ]
  return {
    links,
    details: details.map(({ inet6_addr_gen_mode: mode, linkinfo, addr_info: addresses }) => ({
      mode,
      kind: linkinfo?.info_data?.mode,
      hairpin: (linkinfo?.info_slave_data as { readonly hairpin?: boolean } | undefined)?.hairpin,
      addresses: addresses
        .filter(({ local }) => !ownAffair.test(String(local)))
        .map(({ local, noprefixroute, nodad, broadcast, label }) => [
          local,
          noprefixroute,
          nodad,
          broadcast,
          label,
        ]),
    })),
    routes: routes
      .filter(({ dst }) => !ownAffair.test(String(dst)))
      .map(route => JSON.stringify({ ...route, flags: undefined }))
      .sort(),
    neighbours: [await show('neighbour', 'show'), await show('neighbour', 'show', 'proxy')],
  }
}

const mac = (last: number): string => `02:00:00:00:00:0${last}`

/** Batches in their order: each in the namespace that those before it have left. */
const batches: readonly (readonly [what: string, ...lines: readonly string[]])[] = [
  [
    'a veth',
    `link add name h address ${mac(1)} mtu 1400 type veth peer name p address ${mac(2)} mtu 1400 netns /proc/self/fd/3`,
  ],
  [
    'which is there already',
    `link add name h address ${mac(1)} mtu 1400 type veth peer name q address ${mac(3)} mtu 1400 netns /proc/self/fd/3`,
  ],
  [
    'whose peer is there already',
    `link add name g address ${mac(1)} mtu 1400 type veth peer name p address ${mac(3)} mtu 1400 netns /proc/self/fd/3`,
  ],
  ['a bridge', `link add name br0 address ${mac(4)} type bridge`, 'link set dev br0 alias "ipkeeper bridge"'],
  [
    'its addresses',
    'address replace 10.22.0.1/16 dev br0',
    'address replace fd00:22::1/64 dev br0 nodad',
    'link set dev br0 up',
  ],
  [
    'the same again',
    'address replace 10.22.0.1/16 dev br0',
    'address replace fd00:22::1/64 dev br0 nodad',
    'link set dev br0 up',
  ],
  [
    'a port',
    'link set dev h addrgenmode none',
    'link set dev h alias "ipkeeper net c1 eth0" master br0 up',
    'link set dev h type bridge_slave hairpin on',
  ],
  ['a port of what is not there', 'link set dev p up', 'link set dev p master br9'],
  ['a port of what is no bridge', 'link set dev p master h'],
  ['hairpin of what is no port', 'link set dev p type bridge_slave hairpin on'],
  ['a link that is not there', 'link set dev nope up'],
  [
    'neighbours',
    `neighbour replace 10.22.0.50 lladdr ${mac(5)} dev br0 nud stale`,
    'neighbour delete 10.22.0.50 dev br0',
    `neighbour replace fd00:22::50 lladdr ${mac(5)} dev br0 nud permanent`,
  ],
  [
    'a proxy',
    'neighbour replace proxy 10.22.0.51 dev br0',
    'neighbour replace proxy fd00:22::51 dev br0',
    'neighbour delete proxy 10.22.0.51 dev br0',
  ],
  ['an address', 'address add 10.23.0.50/16 dev p', 'address add fd00:23::50/64 dev p nodad'],
  ['which is there already', 'address add 10.23.0.50/16 dev p'],
  ['and of IPv6', 'address add fd00:23::50/64 dev p nodad'],
  [
    'without a route',
    'address add 10.24.0.50/16 dev p noprefixroute',
    'address add fd00:24::50/64 dev p nodad noprefixroute',
  ],
  ['of the loopback', 'address add 127.0.0.9/8 dev lo', 'address add 192.0.2.9/32 dev p'],
  [
    'routes',
    'route add 10.25.0.0/16 via 10.23.0.1 dev p',
    'route add 10.26.0.0/16 dev p',
    'route add fd00:25::/64 via fd00:23::1 dev p',
    'route add fd00:26::/64 dev p',
  ],
  ['which are there already', 'route add 10.25.0.0/16 via 10.23.0.1 dev p'],
  ['and of IPv6', 'route add fd00:25::/64 via fd00:23::1 dev p'],
  ['replaced', 'route replace 10.25.0.0/16 via 10.23.0.2 dev p', 'route replace fd00:26::1/128 dev p'],
  [
    'with all that they may have',
    'route add 10.27.0.0/16 via 10.23.0.1 dev p src 10.23.0.50 metric 7 table 100 mtu 1300 advmss 1200',
    'route add 10.28.0.0/16 dev p table 1000 scope 253',
    'route add fd00:27::/64 via fd00:23::1 dev p metric 7 table 1000 mtu 1300',
  ],
  ['default routes', 'route add 0.0.0.0/0 via 10.23.0.1 dev p', 'route add ::/0 via fd00:23::1 dev p'],
  ['by a gateway that is not there', 'route add 10.29.0.0/16 via 10.99.0.1 dev p'],
  ['with bits of a host', 'route add 10.29.0.1/16 dev p'],
  [
    'a macvlan',
    `link add link br0 name m address ${mac(6)} mtu 1400 type macvlan mode bridge`,
    'link set dev m alias "ipkeeper net c2 eth0"',
    'link set dev m name eth0',
    `link set dev eth0 address ${mac(7)}`,
    'link set dev eth0 up',
  ],
  ['on what is not there', `link add link nope name m address ${mac(6)} mtu 1400 type macvlan mode private`],
  [
    'with a MAC that another one has',
    `link add link br0 name m address ${mac(7)} mtu 1400 type macvlan mode vepa`,
    'link set dev m up',
  ],
  ['a link that is renamed to one that is there', 'link set dev m name eth0'],
  ['an MTU that is none', 'link set dev p mtu 1'],
  ['small links', 'link set dev p mtu 1200', 'link set dev p addrgenmode none'],
  ['addresses of IPv6 on them', 'address add fd00:30::1/64 dev p nodad'],
  ['down', 'link set dev p down'],
  ['links in a group', 'link set dev p group 77', 'link set dev h group 77', 'link set dev nope group 77'],
  ['a link that is removed', 'link delete dev eth0', 'link delete dev nope'],
  ['a group of them', 'link delete group 77'],
  ['a group of none', 'link delete group 77'],
  ['what cannot be removed', 'link delete dev lo'],
  ['the group that all begin in', 'link delete group 0'],
]

t.test(
  'the kernel is left as ip leaves it, and refuses in the same words',
  { skip: missing('namespaces') },
  async t => {
    const [byIp, byNetlink] = [await makeSpot(t), await makeSpot(t)]
    const folder = makeTempFolder()
    const refuse: RunTool = order => Promise.reject(new Error(`left to ip: ${order.input ?? ''}`))
    const netlink = netlinkTool({
      run: refuse,
      netlink: new SharedSockets({
        load: () => loadRouteSockets(folder.path),
        onLeftToIp: error => {
          throw error
        },
      }),
    })
    for (const [what, ...lines] of batches) {
      const order = batch(...lines)
      const [expected, found] = [
        await runTool({ ...order, inside: byIp.fd, beside: byIp.fd }),
        await netlink({ ...order, inside: byNetlink.fd, beside: byNetlink.fd }),
      ]
      t.equal(found.exit === 0, expected.exit === 0, what)
      // `ip` does not always say at which line it ended.
      const words = (text: string): string => text.replace(/^Command failed .*\n/m, '').trim()
      t.equal(words(found.stderr), words(expected.stderr), what)
      const [left, right] = await Promise.all([seen(byNetlink), seen(byIp)])
      t.strictSame(left, right, what)
    }
  },
)

t.test(
  'a thousand pods leave no file open, whatever came of them',
  { skip: missing('namespaces') },
  async t => {
    const [host, pod] = [await makeSpot(t), await makeSpot(t)]
    const folder = makeTempFolder()
    const run = netlinkTool({
      run: order => Promise.reject(new Error(`left to ip: ${order.input ?? ''}`)),
      netlink: new SharedSockets({
        load: () => loadRouteSockets(folder.path),
        onLeftToIp: error => {
          throw error
        },
      }),
    })
    const orders: readonly (readonly [order: ToolRun, exit: number])[] = [
      [{ ...batch('link set dev lo up', 'address replace 127.0.0.9/8 dev lo'), inside: pod.fd }, 0],
      [{ ...batch('link set dev lo up', 'link set dev nope up'), inside: pod.fd }, 2],
      [
        {
          ...batch('link add name lo type veth peer name p netns /proc/self/fd/3'),
          inside: host.fd,
          beside: pod.fd,
        },
        2,
      ],
    ]
    const openFiles = (): number => readdirSync('/proc/self/fd').length
    for (const [order] of orders) await run(order)
    const before = openFiles()
    for (let nth = 0; nth < 1_000; nth++)
      for (const [order, exit] of orders)
        if ((await run(order)).exit !== exit) t.fail(`${nth}: ${order.input}`)
    t.equal(openFiles(), before)
  },
)
