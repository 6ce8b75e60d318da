/**
 * An operator releases by force what a pod has whose node is dead, cut off or well: packaged daemons, a real etcd, real links. No two
 * pods ever answer for one address, unless the operator said falsely that the machine is off, and was warned of exactly that.
 */
import t, { type Test } from 'tap'
import { cutOff, mend } from '../rigs/cuts.ts'
import { lanEtcdPort, startLanEtcd } from '../rigs/lan-etcd.ts'
import { startLan, type LanHost } from '../rigs/lan.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import {
  makeWiredNode,
  startWiredNode,
  type Settings,
  type WiredNode,
  type WiredPod,
} from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables', 'etcd', 'macvlan', 'arping')
const address = '10.30.0.150'
/** Each pod has a MAC of its own, by which it is known who answers. */
const asking = (mac: string) => ({ 'ipkeeper.io/ip': address, 'ipkeeper.io/mac': mac })
const [oldMac, newMac] = ['0a:58:00:00:00:01', '0a:58:00:00:00:02'] as const

class Site {
  readonly nodes: readonly [WiredNode, WiredNode]
  readonly hosts: readonly [LanHost, LanHost, LanHost]
  readonly old: WiredPod

  constructor(nodes: Site['nodes'], hosts: Site['hosts'], old: WiredPod) {
    this.nodes = nodes
    this.hosts = hosts
    this.old = old
  }

  /** Two nodes with a daemon each, of which the first has pod printer with the address, and a host without; etcd runs on the router. */
  static async make(t: Test, settings: Settings): Promise<Site> {
    const folder = tempFolder(t)
    const lan = await startLan({ hosts: 3 })
    t.teardown(() => lan.close())
    const store = `etcd:${await startLanEtcd(lan, folder)}`
    const ipam = { ranges: [[{ subnet: '10.30.0.0/24', rangeStart: '10.30.0.100', gateway: '10.30.0.1' }]] }
    const start = (host: LanHost): Promise<WiredNode> =>
      startWiredNode(host, {
        ...{ folder, settings, ipam, store },
        configuration: { node: host.name, kubernetes: { mode: 'off' } },
      })
    const [one, two, three] = lan.hosts as [LanHost, LanHost, LanHost]
    const nodes = [await start(one), await start(two)] as const
    const old = await nodes[0].pod({ name: 'printer', annotations: asking(oldMac) })
    await old.add()
    return new Site(nodes, [one, two, three], old)
  }

  /** On the second node, as an operator types it. */
  async types(...words: string[]): Promise<{ exit: number | null; said: string }> {
    const { exit, stdout, stderr } = await this.nodes[1].daemon().control(...words)
    return { exit, said: `${stderr}${stdout}` }
  }

  /** MACs that answer for the address at this moment. */
  async answers(): Promise<readonly string[]> {
    const { stdout } = await this.hosts[2].run('arping', ['-c', '3', '-w', '2', '-I', 'eth0', address])
    return [
      ...new Set([...stdout.matchAll(/\[([0-9A-Fa-f:]{17})\]/g)].map(([, mac = '']) => mac.toLowerCase())),
    ]
  }

  inOld(words: string): Promise<string> {
    const inside = [`--net=${this.old.namespace.path}`, '--', ...words.split(' ')]
    return this.hosts[0].must('nsenter', inside)
  }

  /** Another pod, of no workload that the first one is of. */
  other(settings: Settings = {}): Promise<WiredPod> {
    return this.nodes[1].pod({ name: 'scanner', annotations: asking(newMac), settings })
  }
}

const modes = [
  ['macvlan', { mode: 'macvlan' }],
  ['underlay', { mode: 'underlay', uplink: 'eth0', moveHostAddresses: true }],
] as const

for (const [mode, settings] of modes)
  t.test(`death: mode ${mode}`, { skip, timeout: 120_000 }, async t => {
    const site = await Site.make(t, settings)
    const [lost] = site.nodes
    const [host] = site.hosts
    t.match(await site.types('nodes'), { exit: 0, said: /^host-1 +(lives|not known) .* 1 +\d\S+ +-$/m })
    // The machine goes off.
    await lost.daemon().stop('SIGKILL')
    await site.inOld('ip link set eth0 down')
    const link =
      mode === 'underlay'
        ? (await host.must('ip', ['-o', 'link', 'show', 'type', 'bridge'])).split(': ')[1]
        : 'eth0'
    await host.must('ip', ['link', 'set', link ?? '', 'down'])
    t.strictSame(await site.answers(), [])

    const other = await site.other()
    t.match((await other.fails('ADD')).details, /forget-node (?:--socket \S+ )?host-1/)
    t.match(await site.types('release', '--force', '--yes', address), {
      exit: 1,
      said: /node host-1 may still run: its daemon does not answer.*IPK_NODE_MAY_RUN[^]*two pods then answer[^]*--powered-off/,
    })
    t.match(await site.types('forget-node', 'host-1'), { exit: 0 })
    t.match(await site.types('nodes'), { exit: 0, said: /^host-1 +gone /m })
    t.match(await site.types('who', address), {
      said: /ipkeeperctl release(?: --socket \S+)? --force 10\.30\.0\.150/,
    })
    t.match(await site.types('audit'), {
      exit: 1,
      said: /host-1 was declared gone for good, and 1 address is bound there[^]*fix: .*release (?:--socket \S+ )?--force 10\.30\.0\.150/,
    })
    t.match(
      (await other.fails('ADD')).details,
      /ipkeeperctl release(?: --socket \S+)? --force 10\.30\.0\.150/,
    )
    t.match(
      await site.types('release', '--force', address),
      { exit: 2, said: /--yes/ },
      'nobody is there to be asked',
    )
    t.match(await site.types('release', '--force', '--yes', address), {
      exit: 0,
      said: /WARNING: if node host-1 is still running[^]*is released from shop\/printer: on your statement/,
    })
    t.match(await site.types('audit'), { exit: 0 })
    await other.add()
    t.strictSame(await site.answers(), [newMac])

    // It comes back all the same, with its pod as it was.
    await host.must('ip', ['link', 'set', link ?? '', 'up'])
    await lost.startDaemon()
    t.notMatch(await site.inOld('ip -o link show'), /eth0/, 'it is cut off before the daemon serves')
    t.strictSame(await site.answers(), [newMac])
    await site.old.del()
    t.strictSame(await site.answers(), [newMac], 'a late DEL touches nothing')
    t.match(await site.types('nodes', '-o', 'csv'), { said: /^host-1,/m })
  })

t.test('partition: a node that is cut off and still runs', { skip, timeout: 120_000 }, async t => {
  const site = await Site.make(t, { mode: 'macvlan' })
  const [host] = site.hosts
  const [lost] = site.nodes
  await cutOff(host, [lanEtcdPort], 'both')
  const refused = { exit: 1, said: new RegExp(`${oldMac} on the network answers for ${address}`, 'i') }
  t.match(await site.types('release', '--force', '--yes', address), refused)
  t.match(await site.types('forget-node', 'host-1'), { exit: 0 })
  t.match(
    await site.types('release', '--force', '--yes', address),
    refused,
    'the declaration is not believed either',
  )
  t.strictSame(await site.answers(), [oldMac])

  const { exit, said } = await site.types('release', '--force', '--yes', '--powered-off', address)
  t.equal(exit, 0, said)
  t.match(
    said,
    /WARNING: if node host-1 is still running, shop\/printer there keeps using 10\.30\.0\.150: two pods then answer/,
  )
  const other = await site.other()
  t.match(
    (await other.fails('ADD')).msg,
    /on the network has 10\.30\.0\.150/,
    'where it is probed, it is heard',
  )
  t.strictSame(await site.answers(), [oldMac])
  await (await site.other({ duplicateProbe: false })).add()
  t.strictSame([...(await site.answers())].sort(), [oldMac, newMac], 'what the warning had said')

  await mend(host)
  await until(
    'the old sandbox has no link',
    async () => !(await site.inOld('ip -o link show')).includes('eth0'),
  )
  await until('and its daemon says so', () =>
    lost.daemon().log().includes(`gave ${address} up, since an operator on node host-2 released it by force`),
  )
  t.strictSame(await site.answers(), [newMac])
})

t.test('a node that lives cuts its pod off first', { skip, timeout: 120_000 }, async t => {
  const site = await Site.make(t, { mode: 'macvlan' })
  t.strictSame(await site.answers(), [oldMac])
  t.match(await site.types('release', '--force', '--yes', address), {
    exit: 0,
    said: /node host-1 is running: its daemon disconnects the sandbox[^]*node host-1 has disconnected its sandbox/,
  })
  t.notMatch(await site.inOld('ip -o link show'), /eth0/)
  t.strictSame(await site.answers(), [])
  await (await site.other()).add()
  t.strictSame(await site.answers(), [newMac])
  await site.old.del()
  t.strictSame(await site.answers(), [newMac])
})

t.test('on a node by itself', { skip: missing('namespaces', 'executables'), timeout: 60_000 }, async t => {
  const node = await makeWiredNode(t, { settings: { mode: 'bridge', bridge: 'ipk0', isGateway: true } })
  const asks = { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/retain': 'forever' }
  const old = await node.pod({ name: 'printer', annotations: asks })
  await old.add()
  const control = (...words: string[]) => node.daemon().control(...words)
  t.match(await control('nodes', '-o', 'name'), { exit: 0, stdout: /^\S+\n$/ })
  t.match(await control('release', '10.22.0.50'), { exit: 1, stderr: /IPK_ADDRESS_HELD/ })
  t.match(await control('release', '--powered-off', '10.22.0.50'), {
    ...{ exit: 2, stderr: /--powered-off goes with --force/ },
  })
  t.match(await control('release', '--force', '--yes', '10.22.0.50'), {
    exit: 0,
    stderr: /loses its interface eth0.*other addresses of the sandbox are released with it: fd00:22::/,
    stdout: /is released from shop\/printer: its sandbox was disconnected; it is cooling down until/,
  })
  const inPod = ['--net=' + old.namespace.path, '--', 'ip', '-o', 'link', 'show']
  t.notMatch(await node.host.must('nsenter', inPod), /eth0/)
  const other = await node.pod({ name: 'scanner', annotations: { 'ipkeeper.io/ip': '10.22.0.50' } })
  await other.add()
  await old.del()
  t.match(await node.daemon().boundLeases(), [{ pod: { name: 'scanner' } }], 'its late DEL touches nothing')
})
