/** The MAC that a pod asks for: never one that somebody on its L2 network has, whoever asks by whichever channel. */
import t, { type Test } from 'tap'
import { startLanEtcd } from '../rigs/lan-etcd.ts'
import { startLan, type LanHost } from '../rigs/lan.ts'
import type { PrivateHost } from '../rigs/private-host.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { addUplink } from '../rigs/wired-modes.ts'
import {
  addressOf,
  makeWiredNode,
  startWiredNode,
  type CallOptions,
  type Settings,
  type WiredNode,
  type WiredPod,
} from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

/** IPK_MAC_TAKEN */
const taken = 149

const chosen = '02:42:ac:11:00:02'

const asking = (mac: string): CallOptions => ({ annotations: { 'ipkeeper.io/mac': mac } })

/** Each channel by which somebody can choose a MAC. */
const channels: Readonly<Record<string, (mac: string) => CallOptions>> = {
  'annotation ipkeeper.io/mac': asking,
  'runtimeConfig.mac': mac => ({ settings: { runtimeConfig: { mac } } }),
  'args.cni.mac': mac => ({ settings: { args: { cni: { mac } } } }),
}

const macOf = async ({ namespace }: WiredPod, { host }: WiredNode): Promise<string> => {
  const shown = await host.must('ip', ['-n', namespace.name, '-json', 'link', 'show', 'dev', 'eth0'])
  return (JSON.parse(shown) as [{ readonly address: string }])[0].address
}

const linkMac = async ({ host }: { readonly host: PrivateHost }, name: string): Promise<string> => {
  const shown = await host.must('ip', ['-json', 'link', 'show', 'dev', name])
  return (JSON.parse(shown) as [{ readonly address: string }])[0].address
}

/** As SECURITY.md has it. */
const defaultMac = (address: string): string =>
  `0a:58:${address
    .split('.')
    .map(octet => Number(octet).toString(16).padStart(2, '0'))
    .join(':')}`

/** That an ADD is refused, leaves nothing, and the next one without the MAC succeeds. */
async function isRefused(t: Test, node: WiredNode, options: CallOptions, says: RegExp): Promise<void> {
  const pod = await node.pod()
  const before = (await node.daemon().boundLeases()).length
  const { code, msg, details } = await pod.fails('ADD', options)
  t.equal(code, taken, msg)
  t.match(msg, says)
  t.match(details, /choose (another|one)/)
  t.equal((await node.daemon().boundLeases()).length, before, 'nothing is kept')
  await pod.del(options)
}

t.test('on one node', { skip }, async t => {
  const node = await makeWiredNode(t, { settings: { mode: 'bridge', isGateway: true } })
  await addUplink(node)
  const first = await node.pod({ name: 'first', ...asking(chosen) })
  const result = await first.add()
  t.equal(addressOf(result, 4), '10.22.0.2')
  t.equal(await macOf(first, node), chosen)
  const second = await node.pod({ name: 'second' })
  t.equal(addressOf(await second.add(), 4), '10.22.0.3')
  const hostLink = result.interfaces.find(({ name }) => /^ipk[0-9a-f]{12}$/.test(name))!.name

  const owned: readonly (readonly [what: string, mac: string, says: RegExp])[] = [
    [
      'of a pod that chose it',
      chosen,
      /shop\/first on node \S+ .* has; it comes free when that pod is deleted/,
    ],
    ['in other letters and separators', '02-42-AC-11-00-02', /shop\/first/],
    ['that a pod has by default', '0a:58:0a:16:00:03', /shop\/second/],
    ['that the next pod would have by default', '0a:58:0a:16:03:e8', /10\.22\.3\.232/],
    ['of the bridge', await linkMac(node, 'ipk0'), /node \S+ has itself, on link ipk0/],
    ['of a link of the node', await linkMac(node, 'up0'), /on link up0/],
    ['of the end of a veth', await linkMac(node, hostLink), new RegExp(`on link ${hostLink}`)],
  ]
  // That every channel is judged alike is seen once.
  for (const [channel, options] of Object.entries(channels))
    await t.test(channel, t => isRefused(t, node, options(chosen), /shop\/first/))
  for (const [what, mac, says] of owned) await t.test(what, t => isRefused(t, node, asking(mac), says))

  await t.test('of a gateway that is another machine', async t => {
    const words = ['neighbour', 'replace', '10.22.0.9', 'lladdr', '02:00:00:00:00:09', 'dev', 'ipk0']
    await node.host.must('ip', words)
    const ipam = { ranges: [[{ subnet: '10.22.0.0/16', gateway: '10.22.0.9' }]] }
    const settings = { isGateway: false, name: 'other' }
    await isRefused(
      t,
      node,
      { ...asking('02:00:00:00:00:09'), ipam, settings },
      /the gateway 10\.22\.0\.9 has/,
    )
  })

  await t.test('that is none', async t => {
    const pod = await node.pod()
    for (const options of Object.values(channels)) {
      const { msg } = await pod.fails('ADD', options('01:00:5e:00:00:01'))
      t.match(msg, /01:00:5e:00:00:01" is no unicast MAC address/)
    }
    for (const mac of ['ff:ff:ff:ff:ff:ff', '00:00:00:00:00:00', '02:42:ac:11:00', '0242ac110002'])
      t.match((await pod.fails('ADD', asking(mac))).msg, `"${mac}" is no unicast MAC address`)
  })

  await t.test('under a parent plugin', async t => {
    const parent: Settings = { type: 'bridge', mode: undefined, isGateway: undefined }
    const one = await node.pod({ name: 'one', settings: parent })
    await one.call('ADD', asking('02:42:ac:11:00:77'))
    await isRefused(t, node, { ...asking('02:42:ac:11:00:77'), settings: parent }, /shop\/one/)
    for (const mac of [chosen, chosen.replaceAll(':', '').replace(/(....)(....)(....)/, '$1.$2.$3')])
      await isRefused(
        t,
        node,
        { settings: { ...parent, runtimeConfig: { mac } } },
        /runtimeConfig\.mac asks for .* shop\/first/,
      )
    const infiniband = '02:00:5e:10:00:00:00:01'
    for (const settings of [
      { runtimeConfig: { mac: infiniband }, args: { cni: { mac: chosen } } },
      { args: { cni: { mac: infiniband } } },
    ]) {
      const pod = await node.pod({ settings: { ...parent, ...settings } })
      t.equal((await pod.call('ADD')).exit, 0, 'what it means is the parents business')
      await pod.del()
    }
    t.match(
      (await (await node.pod({ settings: parent })).fails('ADD', asking(infiniband))).msg,
      /is no unicast MAC/,
    )
    await one.del()
  })

  await t.test('its own, in the next sandbox and after its end', async t => {
    const again = await first.again()
    await again.add()
    t.equal(await macOf(again, node), chosen, 'the same pod takes it along')
    await isRefused(t, node, asking(chosen), /shop\/first/)
    await again.namespace.delete()
    const heir = await node.pod({ name: 'heir', ...asking(chosen) })
    await heir.add()
    t.equal(await macOf(heir, node), chosen, 'a dead sandbox has none')
    await again.del()
    await isRefused(t, node, asking(chosen), /shop\/heir/)
    await heir.del()
    const last = await node.pod(asking(chosen))
    await last.add()
    t.equal(await macOf(last, node), chosen, 'nor has one that was deleted')
  })

  await t.test('a fixed pod that starts again finds it free', async t => {
    const mac = '02:42:ac:11:00:66'
    const annotations = { 'ipkeeper.io/mac': mac, 'ipkeeper.io/retain': '30m' }
    const web = await node.pod({ name: 'web-0', annotations })
    await web.add()
    await web.del()
    await isRefused(t, node, asking(mac), /shop\/web-0 .*kept by retention .* it comes free at /)
    const again = await web.again()
    await again.add()
    t.equal(await macOf(again, node), mac)
    await again.del()
  })

  await t.test('a pod in mode ptp has its link for itself', async t => {
    const mac = '02:42:ac:11:00:44'
    const routed = {
      settings: { mode: 'ptp', name: 'routed', isGateway: undefined },
      ipam: { ranges: [[{ subnet: '10.24.0.0/24' }]], routes: undefined },
    }
    const alone = await node.pod({ name: 'alone', ...asking(mac), ...routed })
    t.equal(addressOf(await alone.add(), 4), '10.24.0.2')
    const twin = await node.pod({ name: 'twin', ...asking(mac), ...routed })
    await twin.add()
    const plain = await node.pod({ name: 'plain', ...routed })
    t.equal(addressOf(await plain.add(), 4), '10.24.0.4')
    for (const free of [mac, defaultMac('10.24.0.4')]) {
      const pod = await node.pod(asking(free))
      await pod.add()
      t.equal(await macOf(pod, node), free)
      await pod.del()
    }
    await isRefused(t, node, asking(defaultMac('10.24.0.9')), /10\.24\.0\.9, whoever gets it/)
    for (const pod of [alone, twin, plain]) await pod.del()
  })

  await t.test('of two at once one gets it', async t => {
    const mac = '02:42:ac:11:00:55'
    const pods = await Promise.all([1, 2, 3, 4].map(() => node.pod(asking(mac))))
    const ends = await Promise.all(pods.map(pod => pod.call('ADD')))
    t.equal(ends.filter(({ exit }) => exit === 0).length, 1)
  })
})

t.test('a pool that lets no pod choose', { skip }, async t => {
  const pools = [{ name: 'plain', ranges: [[{ subnet: '10.33.0.0/24' }]], allowMac: false }]
  const node = await makeWiredNode(t, {
    ...{ settings: { mode: 'bridge' }, ipam: {}, configuration: { pools } },
  })
  for (const [channel, options] of Object.entries(channels)) {
    const pod = await node.pod()
    const { code, msg } = await pod.fails('ADD', options(chosen))
    t.equal(code, 152)
    t.match(msg, `pool plain: ${channel} asks for a MAC`)
  }
  t.equal(addressOf(await (await node.pod()).add(), 4), '10.33.0.2')
})

/** On nodes of a LAN that share an etcd, which runs on their router. */
t.test('across nodes', { skip: skip || missing('etcd', 'macvlan'), timeout: 120_000 }, async t => {
  const folder = tempFolder(t)
  const lan = await startLan({ hosts: 2 })
  t.teardown(() => lan.close())
  const store = `etcd:${await startLanEtcd(lan, folder)}`
  const ipam = { ranges: [[{ subnet: '10.30.0.0/24', rangeStart: '10.30.0.100', gateway: '10.30.0.1' }]] }
  const start = (host: LanHost): Promise<WiredNode> =>
    startWiredNode(host, {
      ...{ folder, settings: { mode: 'macvlan' }, ipam, store },
      configuration: { node: host.name, kubernetes: { mode: 'off' } },
    })
  const [one, two] = (await Promise.all(lan.hosts.map(start))) as [WiredNode, WiredNode]
  const first = await one.pod({ name: 'first', ...asking(chosen) })
  const firstAddress = addressOf(await first.add(), 4)

  for (const [what, mac, says] of [
    ['of a pod', chosen, /shop\/first on node host-1/],
    ['that its address stands for', defaultMac(firstAddress), /shop\/first on node host-1/],
    ['of the gateway', await linkMac({ host: lan.outside }, 'eth0'), /the gateway 10\.30\.0\.1 has/],
    ['of this node', await linkMac(two, 'eth0'), /node host-2 has itself, on link eth0/],
  ] as const)
    await t.test(what, t => isRefused(t, two, asking(mac), says))

  await t.test('a gateway that the node has never spoken to', async t => {
    await lan.outside.must('ip', ['address', 'add', '10.30.0.2/24', 'dev', 'eth0'])
    const other = { ranges: [[{ ...ipam.ranges[0]![0]!, gateway: '10.30.0.2' }]] }
    const options = { ...asking(await linkMac({ host: lan.outside }, 'eth0')), ipam: other }
    await isRefused(t, two, options, /the gateway 10\.30\.0\.2 has/)
  })

  await t.test('of two at once one gets it', async t => {
    for (const last of ['21', '22']) {
      const pods = await Promise.all([one, two].map(node => node.pod(asking(`02:42:ac:11:00:${last}`))))
      const ends = await Promise.all(pods.map(pod => pod.call('ADD')))
      t.equal(ends.filter(({ exit }) => exit === 0).length, 1, JSON.stringify(ends))
      await Promise.all(pods.map(pod => pod.del()))
    }
  })

  await t.test('a fixed pod takes it along', async t => {
    const annotations = { 'ipkeeper.io/ip': '10.30.0.150', 'ipkeeper.io/mac': '02:42:ac:11:00:99' }
    const before = await one.pod({ name: 'web-0', annotations })
    await before.add()
    await before.del()
    const after = await two.pod({ name: 'web-0', annotations })
    await after.add()
    t.equal(await macOf(after, two), '02:42:ac:11:00:99')
    await isRefused(t, one, asking('02:42:ac:11:00:99'), /shop\/web-0 on node host-2/)
  })
})
