/** Bad input: a clear error, and links, routes, rules and leases are as before. */
import t from 'tap'
import { kernelState } from '../rigs/kernel-state.ts'
import { missing } from '../rigs/requirements.ts'
import { addUplink, wiredModes } from '../rigs/wired-modes.ts'
import { makeWiredNode, type CallOptions, type PluginError, type Settings } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

interface Refusal {
  readonly what: string
  readonly options: CallOptions
  /** All that the error has to say. */
  readonly words: readonly RegExp[]
  readonly code?: number
}

const setting = (settings: Settings): CallOptions => ({ settings })

/** Code of IPK_CONFIG_INVALID: that of the protocol. */
const invalidConfig = 7

const wrongConfigurations: readonly Refusal[] = [
  { what: 'an unknown mode', options: setting({ mode: 'brigde' }), words: [/"mode"/, /brigde/, /"bridge"/] },
  { what: 'a mode of macvlan', options: setting({ mode: 'vepa' }), words: [/vepa/, /macvlanMode/] },
  {
    what: 'an underlay without an uplink',
    options: setting({ mode: 'underlay' }),
    words: [/"uplink"/, /underlay/],
  },
  { what: 'an MTU below what IPv4 has', options: setting({ mtu: 60 }), words: [/"mtu"/, /60/] },
  { what: 'an MTU above all', options: setting({ mtu: 70_000 }), words: [/"mtu"/, /70000/] },
  { what: 'an MTU below what IPv6 has', options: setting({ mtu: 1200 }), words: [/mtu/i, /1200/, /1280/] },
  {
    what: 'the name of a bridge that is too long',
    options: setting({ bridge: 'a-bridge-of-16-b' }),
    words: [/"bridge"/, /a-bridge-of-16-b/, /15/],
  },
  { what: 'a bridge with a slash', options: setting({ bridge: 'a/b' }), words: [/"bridge"/, /a\/b/] },
  { what: 'an uplink of a bridge', options: setting({ uplink: 'eth0' }), words: [/"uplink"/, /bridge/] },
  { what: 'a VLAN beyond the last', options: setting({ vlan: 4095 }), words: [/"vlan"/, /4095/] },
  {
    what: 'an unknown way to masquerade',
    options: setting({ ipMasq: 'unamed' }),
    words: [/"ipMasq"/, /"unnamed"/],
  },
  {
    what: 'a sysctl outside net',
    options: setting({ sysctl: { 'kernel.hostname': 'x' } }),
    words: [/kernel\.hostname/, /below net/],
  },
  {
    what: 'a sysctl with a way up',
    options: setting({ sysctl: { 'net/../kernel/hostname': 'x' } }),
    words: [/sysctl/],
  },
  {
    what: 'a gateway outside the subnet',
    options: { ipam: { ranges: [[{ subnet: '10.22.0.0/16', gateway: '10.23.0.1' }]] } },
    words: [/gateway/, /10\.23\.0\.1/],
  },
  { what: 'a misspelt key', options: setting({ harpinMode: true }), words: [/harpinMode/, /hairpinMode/] },
  {
    what: 'addresses of another plugin',
    options: { ipam: { type: 'host-local' } },
    words: [/host-local/, /ipam/],
  },
]

t.test('configurations', { skip }, async t => {
  const node = await makeWiredNode(t)
  const pod = await node.pod()
  const before = await kernelState(node.host)
  const podBefore = await kernelState(node.host, pod.namespace.name)
  for (const { what, options, words, code = invalidConfig } of wrongConfigurations) {
    await t.test(what, async t => {
      const error = await pod.fails('ADD', options)
      t.equal(error.code, code, error.msg)
      for (const word of words) t.match(text(error), word)
      t.same(await kernelState(node.host), before, 'nothing on the host')
      t.same(await kernelState(node.host, pod.namespace.name), podBefore, 'nothing in the pod')
      t.same(await node.daemon().leases(), [], 'no lease')
      await pod.del()
    })
  }
})

const text = ({ msg, details = '' }: PluginError): string => `${msg}\n${details}`

/** Things of the host that are otherwise than the configuration says. */
const conflicts: readonly (Refusal & { readonly commands: readonly string[] })[] = [
  {
    what: 'a bridge that is no bridge',
    commands: ['link add ipk0 type veth peer name other'],
    options: {},
    words: [/ipk0/, /veth/],
  },
  {
    what: 'a bridge with another address',
    commands: ['link add ipk0 type bridge', 'address add 10.22.0.9/16 dev ipk0', 'link set ipk0 up'],
    options: {},
    words: [/ipk0/, /10\.22\.0\.9/, /10\.22\.0\.1/],
  },
  {
    what: 'an uplink that is missing (ptp)',
    commands: [],
    options: setting({ mode: 'ptp', uplink: 'nowhere0' }),
    words: [/nowhere0/],
  },
  {
    what: 'an uplink that is missing (macvlan)',
    commands: [],
    options: setting({ mode: 'macvlan', uplink: 'nowhere0' }),
    words: [/nowhere0/],
  },
  {
    what: 'an uplink that is missing (underlay)',
    commands: [],
    options: setting({ mode: 'underlay', uplink: 'nowhere0' }),
    words: [/nowhere0/],
  },
  {
    what: 'an uplink of another bridge',
    commands: [
      ...['link add theirs type bridge', 'link add up0 type veth peer name up1'],
      'link set up0 master theirs up',
    ],
    options: setting({ mode: 'underlay', uplink: 'up0' }),
    words: [/up0/, /theirs/],
  },
]

t.test('the host is otherwise than the configuration says', { skip }, async t => {
  const linkConflict = 143
  for (const { what, commands, options, words, code = linkConflict } of conflicts) {
    await t.test(what, async t => {
      const node = await makeWiredNode(t)
      const pod = await node.pod()
      await node.host.must('ip', ['-batch', '-'], { input: commands.map(line => `${line}\n`).join('') })
      const before = await kernelState(node.host)
      const error = await pod.fails('ADD', options)
      t.equal(error.code, code, error.msg)
      for (const word of words) t.match(text(error), word)
      t.match(text(error), /ip -brief link|ip link|ip address|conflist/, 'and says what to do')
      t.same(await kernelState(node.host), before)
      t.same(await node.daemon().boundLeases(), [])
      await pod.del()
      t.same(await kernelState(node.host), before)
    })
  }
})

t.test('the interface name is taken in the pod', { skip }, async t => {
  for (const [mode, { settings, skip }] of Object.entries(wiredModes)) {
    await t.test(mode, { skip }, async t => {
      const node = await makeWiredNode(t, { settings })
      await addUplink(node)
      // What every ADD leaves on the node, so that it is in both pictures.
      const earlier = await node.pod()
      await earlier.add()
      const pod = await node.pod()
      const { name } = pod.namespace
      const taken = [
        ...['link add eth0 type veth peer name eth9', 'link set eth0 up', 'link set eth9 up'],
        ...['address add 192.0.2.9/24 dev eth0', 'route add 198.51.100.0/24 via 192.0.2.1'],
      ]
      await node.host.must('ip', ['-n', name, '-batch', '-'], { input: `${taken.join('\n')}\n` })
      const before = [await kernelState(node.host), await kernelState(node.host, name)]
      const leases = await node.daemon().boundLeases()
      const error = await pod.fails('ADD')
      t.equal(error.code, 142)
      t.match(error.msg, /eth0/)
      t.same(
        [await kernelState(node.host), await kernelState(node.host, name)],
        before,
        'nothing was touched',
      )
      t.same(await node.daemon().boundLeases(), leases)
      await pod.del()
      t.same([await kernelState(node.host), await kernelState(node.host, name)], before, 'nor by its DEL')
    })
  }
})

t.test('a namespace that is none', { skip }, async t => {
  const node = await makeWiredNode(t)
  const pod = await node.pod()
  const file = '/run/netns/plain-file'
  await node.host.must('touch', [file])
  const before = await kernelState(node.host)
  const cases: readonly (readonly [what: string, netns: string, words: RegExp])[] = [
    ['missing', '/run/netns/missing', /\/run\/netns\/missing/],
    ['a plain file', file, /plain-file/],
    ["the host's own", '/proc/self/ns/net', /CNI_NETNS/],
  ]
  for (const [what, netns, words] of cases) {
    await t.test(what, async t => {
      const error = await pod.fails('ADD', { netns })
      t.match(text(error), words)
      t.equal(error.code, 8)
      t.same(await kernelState(node.host), before)
      t.same(await node.daemon().boundLeases(), [])
    })
  }
})

t.test('a route that cannot be set undoes the whole ADD', { skip }, async t => {
  for (const [mode, { settings, skip }] of Object.entries(wiredModes)) {
    await t.test(mode, { skip }, async t => {
      const node = await makeWiredNode(t, { settings })
      await addUplink(node)
      const earlier = await node.pod()
      await earlier.add()
      const pod = await node.pod()
      const before = [await kernelState(node.host), await kernelState(node.host, pod.namespace.name)]
      const error = await pod.fails('ADD', {
        ipam: { routes: [{ dst: '198.51.100.0/24', gw: '192.0.2.1' }] },
      })
      t.match(text(error), /198\.51\.100\.0\/24/)
      const after = [await kernelState(node.host), await kernelState(node.host, pod.namespace.name)]
      t.same(after, before, 'before the runtime sends its DEL')
      t.same(
        (await node.daemon().boundLeases()).map(lease => lease.containerId),
        [...[earlier.containerId, earlier.containerId]],
      )
      await pod.del()
      await pod.add()
    })
  }
})
