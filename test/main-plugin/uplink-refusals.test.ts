/** Uplinks that cannot carry pods are refused with the remedy, and nothing is touched. */
import t from 'tap'
import { hostAddressing, settledAddresses, skipDuplicateDetection } from '../rigs/host-addressing.ts'
import { kernelState } from '../rigs/kernel-state.ts'
import type { PrivateHost } from '../rigs/private-host.ts'
import { missing } from '../rigs/requirements.ts'
import { makeWiredNode, type Settings } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const link = ['link add up0 type veth peer name up1', 'link set up0 up', 'link set up1 up']
const ipv4 = { ranges: [[{ subnet: '10.30.0.0/24' }]] }
const ofUnderlay: Settings = { mode: 'underlay', uplink: 'up0', bridge: 'br0', duplicateProbe: false }
const ofMacvlan: Settings = { mode: 'macvlan', uplink: 'up0', duplicateProbe: false }
const linkConflict = 143
const configInvalid = 7

/** Runs commands of `ip`, and waits until the kernel has given the new links the addresses that it gives by itself. */
async function makeLinks(host: PrivateHost, commands: readonly string[]): Promise<void> {
  await skipDuplicateDetection(host)
  await host.must('ip', ['-batch', '-'], { input: commands.map(line => `${line}\n`).join('') })
  await settledAddresses(host)
}

interface Refusal {
  readonly what: string
  readonly commands: readonly string[]
  readonly settings: Settings
  readonly words: readonly RegExp[]
  readonly code?: number
}

const refusals: readonly Refusal[] = [
  {
    what: 'macvlan: no uplink, no default route',
    commands: [],
    settings: { mode: 'macvlan' },
    words: [/default route/, /"uplink": "eth1"/],
  },
  {
    what: 'macvlan: a port of a bridge',
    commands: [...link, 'link add br0 type bridge', 'link set up0 master br0'],
    settings: ofMacvlan,
    words: [/up0 is a port of bridge br0/, /"uplink": "br0"/],
  },
  {
    what: 'macvlan: the loopback',
    commands: [],
    settings: { ...ofMacvlan, uplink: 'lo' },
    words: [/lo carries no Ethernet/],
  },
  {
    what: 'macvlan: an MTU that the uplink does not have',
    commands: link,
    settings: { ...ofMacvlan, mtu: 9000 },
    words: [/"mtu": 9000 is more than the 1500 of uplink up0/],
    code: configInvalid,
  },
  {
    what: 'ptp: an MTU that the uplink does not have',
    commands: link,
    settings: { mode: 'ptp', uplink: 'up0', mtu: 9000 },
    words: [/"mtu": 9000 is more than the 1500 of uplink up0/],
    code: configInvalid,
  },
  {
    what: 'underlay: an MTU that the uplink does not have',
    commands: link,
    settings: { ...ofUnderlay, mtu: 1501 },
    words: [/"mtu": 1501/, /up0/],
    code: configInvalid,
  },
  {
    what: 'underlay: addresses of the host',
    commands: [...link, 'address add 10.30.0.1/24 dev up0'],
    settings: ofUnderlay,
    words: [/up0 has addresses of the host \(10\.30\.0\.1\/24\)/, /"moveHostAddresses": true/],
  },
  {
    what: 'underlay: the default route of the host',
    commands: [...link, 'route add default dev up0'],
    settings: ofUnderlay,
    words: [/up0 carries the default route/, /"moveHostAddresses": true/],
  },
  {
    what: 'underlay: a route that cannot be moved',
    commands: [
      ...link,
      ...['address add 10.30.0.1/24 dev up0', 'nexthop add id 7 via 10.30.0.9 dev up0'],
      'route add 10.77.0.0/16 nhid 7',
    ],
    settings: { ...ofUnderlay, moveHostAddresses: true },
    words: [/route 10\.77\.0\.0\/16 uses a nexthop object/],
  },
  {
    what: 'underlay: a bridge as uplink',
    commands: ['link add up0 type bridge'],
    settings: ofUnderlay,
    words: [/up0 is a bridge itself/, /"mode": "bridge", "bridge": "up0"/],
  },
  {
    what: 'underlay: a port of another bridge',
    commands: [...link, 'link add theirs type bridge', 'link set up0 master theirs'],
    settings: ofUnderlay,
    words: [/up0 is a port of bridge theirs already/, /"bridge": "theirs"/],
  },
  {
    what: 'underlay: a bridge with another uplink',
    commands: [
      ...[...link, 'link add br0 type bridge', 'link add other0 type veth peer name other1'],
      'link set other0 master br0',
    ],
    settings: ofUnderlay,
    words: [/up0 is no port of bridge br0, which has others: other0/],
  },
  {
    what: 'underlay: something else under the name of the bridge',
    commands: [...link, 'link add br0 type veth peer name br1'],
    settings: ofUnderlay,
    words: [/br0 exists, but is a veth/],
  },
  {
    what: 'underlay: an uplink that macvlans stand on',
    commands: [...link, 'link add mv0 link up0 type macvlan mode bridge'],
    settings: ofUnderlay,
    words: [/up0 cannot become a port of br0/, /macvlan/],
  },
  {
    what: 'underlay: services, and no address of the node',
    commands: link,
    settings: { ...ofUnderlay, serviceCidrs: ['10.96.0.0/12'] },
    words: [/"serviceCidrs"/, /no address on bridge br0/, /10\.30\.0\./],
  },
  {
    what: 'underlay: services, and an address of the node elsewhere',
    commands: [
      ...link,
      'link add br0 type bridge',
      'address add 192.0.2.9/24 dev br0',
      'link set up0 master br0',
    ],
    settings: { ...ofUnderlay, serviceCidrs: ['10.96.0.0/12'] },
    words: [/only 192\.0\.2\.9\/24 on bridge br0/, /"serviceCidrs"/],
  },
  {
    what: 'bridge: a VLAN, on a bridge that knows none',
    commands: ['link add br0 type bridge'],
    settings: { mode: 'bridge', bridge: 'br0', vlan: 100 },
    words: [/"vlan": bridge br0 exists, but does not know VLANs/, /vlan_filtering 1/],
  },
  {
    what: 'underlay: a gateway of a VLAN',
    commands: link,
    settings: { ...ofUnderlay, vlan: 100, isGateway: true },
    words: [/"isGateway"/, /"vlan": 100/],
    code: configInvalid,
  },
]

t.test('what is refused', { skip }, async t => {
  for (const { what, commands, settings, words, code = linkConflict } of refusals) {
    await t.test(what, async t => {
      const node = await makeWiredNode(t, { settings, ipam: ipv4 })
      const pod = await node.pod()
      await makeLinks(node.host, commands)
      const [before, addressing] = [await kernelState(node.host), await hostAddressing(node.host)]
      const error = await pod.fails('ADD')
      t.equal(error.code, code, error.msg)
      for (const word of words) t.match(`${error.msg} ${error.details ?? ''}`, word)
      t.same(await kernelState(node.host), before, 'the host is as it was')
      t.same(await hostAddressing(node.host), addressing)
      t.same(await node.daemon().boundLeases(), [])
      t.same(JSON.parse((await node.daemon().control('uplinks', '-o', 'json')).stdout), { uplinks: [] })
      await pod.del()
    })
  }
})

t.test('a kernel that filters no VLANs says so, and has nothing', { skip }, async t => {
  const settings: Readonly<Record<string, Settings>> = {
    bridge: { mode: 'bridge', bridge: 'br0', vlan: 100 },
    underlay: { ...ofUnderlay, vlan: 100 },
  }
  for (const [mode, config] of Object.entries(settings)) {
    await t.test(`mode ${mode}`, async t => {
      const node = await makeWiredNode(t, { settings: config, ipam: ipv4 })
      await makeLinks(node.host, link)
      const probe = await node.host.run('ip', [
        'link',
        'add',
        'try0',
        'type',
        'bridge',
        'vlan_filtering',
        '1',
      ])
      if (probe.exit === 0) {
        t.comment('this kernel does')
        return
      }
      const before = await kernelState(node.host)
      const pod = await node.pod()
      const error = await pod.fails('ADD')
      t.match(error, { code: 2, msg: /"vlan": this kernel cannot make bridge br0/ })
      t.match(`${error.msg} ${error.details ?? ''}`, /CONFIG_BRIDGE_VLAN_FILTERING/)
      t.same((await kernelState(node.host)).links, before.links)
      t.same(await node.daemon().boundLeases(), [])
    })
  }
})

t.test('pods reach services by an address of the node in their subnet', { skip }, async t => {
  const node = await makeWiredNode(t, {
    settings: { ...ofUnderlay, moveHostAddresses: true, serviceCidrs: ['10.96.0.0/12'] },
    ipam: { ranges: [[{ subnet: '10.30.0.0/24', rangeStart: '10.30.0.50' }]] },
  })
  const commands = [...link, 'address add 192.0.2.9/24 dev up0', 'address add 10.30.0.2/24 dev up0']
  await makeLinks(node.host, commands)
  for (const turn of ['the one that moves', 'the one that has moved']) {
    const pod = await node.pod()
    const { routes } = await pod.add()
    t.match(routes, [{ dst: '10.96.0.0/12', gw: '10.30.0.2' }], turn)
    t.match(await pod.namespace.ip('route', 'show', '10.96.0.0/12'), [{ gateway: '10.30.0.2' }])
    await pod.del()
  }
  t.equal((await node.host.must('cat', ['/proc/sys/net/ipv4/ip_forward'])).trim(), '1', 'which forwards')
})

t.test('a node that is the gateway of its pods', { skip }, async t => {
  const settings = { ...ofUnderlay, moveHostAddresses: true, isGateway: true, serviceCidrs: ['10.96.0.0/12'] }
  const node = await makeWiredNode(t, { settings, ipam: ipv4 })
  const commands = [...link, 'address add 10.30.0.7/24 dev up0']
  await makeLinks(node.host, commands)
  const before = await hostAddressing(node.host)
  const ipam = { ranges: [[{ subnet: '10.30.0.0/24', rangeStart: '10.30.0.50' }]] }
  for (const turn of ['first', 'second']) {
    const pod = await node.pod({ ipam })
    t.match((await pod.add()).routes, [{ dst: '10.96.0.0/12', gw: '10.30.0.1' }], turn)
    await pod.del()
  }
  t.equal((await node.daemon().control('restore-uplink', 'br0')).exit, 0)
  t.same(await hostAddressing(node.host), before, 'its address as a gateway goes with the bridge')
})

t.test('the MTU of the node is not lowered by that of its pods', { skip }, async t => {
  const node = await makeWiredNode(t, { settings: { ...ofUnderlay, mtu: 1400 }, ipam: ipv4 })
  await makeLinks(node.host, link)
  const pod = await node.pod()
  await pod.add()
  t.match(await pod.namespace.ip('link', 'show', 'dev', 'eth0'), [{ mtu: 1400 }])
  const bridge: unknown = JSON.parse(await node.host.must('ip', ['-json', 'link', 'show', 'br0']))
  t.match(bridge, [{ mtu: 1500 }])
})

t.test('an uplink that is a port of the bridge already', { skip }, async t => {
  const node = await makeWiredNode(t, { settings: ofUnderlay, ipam: ipv4 })
  const commands = [
    ...link,
    'link add br0 type bridge',
    'link set up0 master br0',
    'address add 10.9.0.1/24 dev br0',
  ]
  await makeLinks(node.host, commands)
  const pod = await node.pod()
  await pod.add()
  await pod.del()
  t.same(
    JSON.parse((await node.daemon().control('uplinks', '-o', 'json')).stdout),
    { uplinks: [] },
    'is not ours',
  )
})
