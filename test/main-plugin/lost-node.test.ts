/** A node that counted as lost and still runs: once it is back, its sandboxes answer for nothing that others have by now. */
import t, { type Test } from 'tap'
import { cutOff, mend } from '../rigs/cuts.ts'
import { askEcho, serveEcho } from '../rigs/echo.ts'
import { lanEtcdPort, startLanEtcd } from '../rigs/lan-etcd.ts'
import { startLan, type LanHost } from '../rigs/lan.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { startWiredNode, type Settings, type WiredNode, type WiredPod } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables', 'etcd', 'macvlan')
const address = '10.30.0.150'

interface Site {
  readonly nodes: readonly [WiredNode, WiredNode]
  readonly hosts: readonly [LanHost, LanHost, LanHost]
}

/** Two nodes with a daemon each and a host without; etcd runs on the router. */
async function makeSite(t: Test, settings: Settings): Promise<Site> {
  const folder = tempFolder(t)
  const lan = await startLan({ hosts: 3 })
  t.teardown(() => lan.close())
  const store = `etcd:${await startLanEtcd(lan, folder)}`
  const ipam = { ranges: [[{ subnet: '10.30.0.0/24', rangeStart: '10.30.0.100', gateway: '10.30.0.1' }]] }
  const start = (host: LanHost): Promise<WiredNode> =>
    startWiredNode(host, {
      ...{ folder, settings, ipam, store },
      configuration: {
        ...{ node: host.name, kubernetes: { mode: 'off' } },
        takeover: { byTime: '2s', offlineGrace: '1s' },
      },
    })
  const [one, two, three] = lan.hosts as [LanHost, LanHost, LanHost]
  return { nodes: [await start(one), await start(two)], hosts: [one, two, three] }
}

const inPod = (host: LanHost, pod: WiredPod, words: string): Promise<string> =>
  host.must('nsenter', [`--net=${pod.namespace.path}`, '--', ...words.split(' ')])

const annotations = { 'ipkeeper.io/ip': address }

for (const [mode, settings, daemon] of [
  ['macvlan', { mode: 'macvlan' }, 'runs'],
  ['underlay', { mode: 'underlay', uplink: 'eth0', moveHostAddresses: true }, 'is started'],
] as const) {
  t.test(`a pod of a Deployment, mode ${mode}; the daemon ${daemon}`, { skip, timeout: 60_000 }, async t => {
    const { nodes, hosts } = await makeSite(t, settings)
    const [lost, other] = nodes
    const [host, , third] = hosts
    const old = await lost.pod({ name: 'web-6d4cf56db6-x2x5z', annotations })
    await old.add()
    await serveEcho({ host, namespace: old.namespace }, 'old')
    t.match(await askEcho({ host: third }, address), { name: 'old' })

    await cutOff(host, [lanEtcdPort], 'both')
    if (daemon === 'is started') await lost.daemon().stop('SIGKILL')
    await inPod(host, old, 'ip link set eth0 down')
    const next = await other.pod({ name: 'web-6d4cf56db6-b4d5f', annotations })
    const first = await next.call('ADD')
    t.match(first.stdout, /waits until node host-1 attests that the sandbox is gone.*host-1: last contact/)
    await until('the next pod has it', async () => (await next.call('ADD')).exit === 0)
    await serveEcho({ host: hosts[1], namespace: next.namespace }, 'next')

    await inPod(host, old, 'ip link set eth0 up')
    await mend(host)
    if (daemon === 'is started') await lost.startDaemon()
    await until('the old sandbox has no link', async () => {
      const links = await inPod(host, old, 'ip -o link show')
      return !links.includes('eth0')
    })
    await until('and its daemon says so', () => lost.daemon().log().includes(`cut off a sandbox: ${address}`))
    await third.must('ip', ['neighbour', 'flush', 'all'])
    for (let asked = 0; asked < 5; asked++) t.match(await askEcho({ host: third }, address), { name: 'next' })
    await old.del()
    t.match(await askEcho({ host: third }, address), { name: 'next' }, 'its DEL touches nothing')
  })
}

t.test(
  'in the IPAM role, a DEL on another node ends nothing, and an operator there does',
  { skip, timeout: 60_000 },
  async t => {
    const { nodes, hosts } = await makeSite(t, { type: 'bridge' })
    const [lost, other] = nodes
    const [host] = hosts
    const old = await lost.pod({ name: 'printer', annotations })
    // What the plugin does that wires the pod.
    for (const words of ['link add eth0 type veth peer name other', 'link set eth0 up'])
      await inPod(host, old, `ip ${words}`)
    const { ips } = await old.add()
    await inPod(host, old, `ip address add ${ips[0]?.address ?? ''} dev eth0`)
    const links = (): Promise<string> => inPod(host, old, 'ip -o link show eth0')
    t.match(await links(), /[<,]UP[,>]/)
    const elsewhere = await other.pod({ name: 'printer', containerId: old.containerId })
    await elsewhere.del()
    t.match(await other.daemon().boundLeases(), [{ address, node: 'host-1' }])
    t.match(await links(), /[<,]UP[,>]/)
    t.match(await other.daemon().control('release', '--force', '--yes', address), { exit: 0 })
    await until('its link is down', async () => !/[<,]UP[,>]/.test(await links()))
    await until('and its daemon says so', () => lost.daemon().log().includes(`gave ${address} up`))
    await old.del()
  },
)
