/**
 * Pools go and subnets change, with restarts of the daemon in between: pods can be added to their bridge as before, and what
 * becomes of the gateways that it had. By the packaged executables.
 */
import t, { type Test } from 'tap'
import { askEcho, serveEcho } from '../rigs/echo.ts'
import { hostAddressing, settledAddresses } from '../rigs/host-addressing.ts'
import { kernelState } from '../rigs/kernel-state.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { makeWiredLan } from '../rigs/wired-lan.ts'
import {
  makeWiredNode,
  type CallOptions,
  type Settings,
  type WiredNode,
  type WiredPod,
} from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const linkConflict = 143

/** A subnet of each family, "60" standing for 10.60.0.0/24 and fd00:60::/64; the gateway's last part may be another one. */
const ranges = (number: number, gateway = '1'): Settings => ({
  ranges: [
    [{ subnet: `10.${number}.0.0/24`, gateway: `10.${number}.0.${gateway}` }],
    [{ subnet: `fd00:${number}::/64`, gateway: `fd00:${number}::${gateway}` }],
  ],
})

/** The same as pools of the daemon's file. */
const pools = (...numbers: readonly number[]): Settings => ({
  pools: numbers.flatMap(number => [
    { name: `p${number}`, subnet: `10.${number}.0.0/24` },
    { name: `q${number}`, subnet: `fd00:${number}::/64` },
  ]),
})
const ofPools = (number: number): Settings => ({ pool: `p${number},q${number}` })

const gatewaysOf = (...numbers: readonly number[]): readonly string[] => [
  ...numbers.map(number => `10.${number}.0.1/24`),
  ...numbers.map(number => `fd00:${number}::1/64`),
]

async function bridgeAddresses({ host }: WiredNode): Promise<readonly string[]> {
  const { addresses } = await kernelState(host)
  return addresses.flatMap(line => (line.startsWith('ipk0 ') ? [line.slice('ipk0 '.length)] : []))
}

/** Everything of the host that names one of these subnets. */
async function traces({ host }: WiredNode, number: number): Promise<readonly string[]> {
  const { addresses, routes, ruleset } = await kernelState(host)
  return [...addresses, ...routes, ...ruleset].filter(
    line => line.includes(`10.${number}.0.`) || line.includes(`fd00:${number}:`),
  )
}

/** Whether a pod reaches its node by the gateways of its subnets. */
async function reaches({ host }: WiredNode, { namespace }: WiredPod, number: number): Promise<boolean> {
  const answers = await Promise.all(
    [`10.${number}.0.1`, `fd00:${number}::1`].map(address =>
      askEcho({ host, namespace }, address, { protocol: 'tcp' }),
    ),
  )
  return answers.every(answer => answer?.name === 'node')
}

/** A node that answers its pods. */
async function makeNode(t: Test, options: Parameters<typeof makeWiredNode>[1]): Promise<WiredNode> {
  const node = await makeWiredNode(t, options)
  await serveEcho({ host: node.host }, 'node')
  return node
}

async function addPod(node: WiredNode, ipam: Settings, settings: Settings = {}): Promise<WiredPod> {
  const pod = await node.pod({ ipam, settings })
  await pod.add()
  return pod
}

async function restart(node: WiredNode, configuration?: Settings): Promise<void> {
  await node.daemon().stop()
  await node.startDaemon(configuration)
}

const masqueraded = { settings: { ipMasq: true }, ipam: {} } as const

t.test('a pool is removed from the file', { skip }, async t => {
  const node = await makeNode(t, { ...masqueraded, configuration: pools(60, 61) })
  const old = await addPod(node, ofPools(60))
  t.same(await bridgeAddresses(node), gatewaysOf(60))
  await old.del()
  await restart(node, pools(61))
  const pod = await addPod(node, ofPools(61))
  t.same(await bridgeAddresses(node), gatewaysOf(61))
  t.same(await traces(node, 60), [], 'no route and no rule either')
  t.ok(await reaches(node, pod, 61))
  t.match(
    node.daemon().log(),
    /"bridge":"ipk0".*gateways that no pod uses any more were taken from their bridge/,
  )
  // The same once more, by a daemon that knows of it from the one before.
  await pod.del()
  await restart(node, pools(62))
  await addPod(node, ofPools(62))
  t.same(await bridgeAddresses(node), gatewaysOf(62))
})

t.test('the subnet of a conflist changes', { skip }, async t => {
  for (const [what, between] of [
    ['with a restart', (node: WiredNode) => restart(node)],
    ['while the daemon runs', () => Promise.resolve()],
  ] as const) {
    await t.test(what, async t => {
      const node = await makeNode(t, masqueraded)
      const old = await addPod(node, ranges(60))
      await old.del()
      await between(node)
      const first = await addPod(node, ranges(61))
      const second = await addPod(node, ranges(61))
      t.same(await bridgeAddresses(node), gatewaysOf(61))
      t.same(await traces(node, 60), [])
      for (const pod of [first, second]) t.ok(await reaches(node, pod, 61))
    })
  }
})

t.test('the subnet of a conflist changes while a pod lives', { skip }, async t => {
  const node = await makeNode(t, { ipam: {} })
  const old = await addPod(node, ranges(60))
  await restart(node)
  for (let count = 0; count < 2; count++) {
    const pod = await addPod(node, ranges(61))
    t.ok(await reaches(node, pod, 61))
    t.ok(await reaches(node, old, 60), 'the old pod has its gateway')
  }
  t.same(await bridgeAddresses(node), gatewaysOf(60, 61))
  await old.del()
  await addPod(node, ranges(61))
  t.same(await bridgeAddresses(node), gatewaysOf(61))
})

t.test('another gateway in the same subnet', { skip }, async t => {
  const node = await makeNode(t, { ipam: {} })
  const old = await addPod(node, ranges(60))
  await restart(node)
  const pod = await node.pod({ ipam: ranges(60, '9') })
  const { code, msg, details } = await pod.fails('ADD')
  t.equal(code, linkConflict)
  t.match(msg, `bridge ipk0 has address 10.60.0.1/24, which is the gateway of shop/${old.name}`)
  t.match(details, /delete that pod first/)
  t.same(await bridgeAddresses(node), gatewaysOf(60), 'a living pod has it')
  t.ok(await reaches(node, old, 60))
  await old.del()
  await pod.add()
  t.same(await bridgeAddresses(node), ['10.60.0.9/24', 'fd00:60::9/64'])
})

t.test('two networks share a bridge', { skip }, async t => {
  const node = await makeNode(t, { ipam: {} })
  const other = await addPod(node, ranges(62), { name: 'other' })
  const old = await addPod(node, ranges(60))
  await old.del()
  await other.del()
  await restart(node)
  await addPod(node, ranges(61))
  await addPod(node, ranges(61))
  t.same(await bridgeAddresses(node), gatewaysOf(61, 62), 'the other network has its gateways, and no pod')
  t.ok(await reaches(node, await addPod(node, ranges(62), { name: 'other' }), 62))
})

/** Addresses that are not ipkeeper's, made by these commands while a daemon runs whose only pod is gone. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  'one that it never had': ['address add 10.70.0.1/24 dev ipk0'],
  'one of IPv6': ['address add fd00:70::1/64 dev ipk0 nodad'],
  'one that somebody removed and added again': [
    'address delete 10.60.0.1/24 dev ipk0',
    'address add 10.60.0.1/24 dev ipk0',
  ],
}

t.test('addresses of somebody else stay', { skip }, async t => {
  for (const [what, commands] of Object.entries(foreign)) {
    await t.test(what, async t => {
      const node = await makeWiredNode(t, { ipam: {}, configuration: pools(60, 61) })
      const old = await addPod(node, ofPools(60))
      await old.del()
      await node.host.must('ip', ['-batch', '-'], { input: commands.map(line => `${line}\n`).join('') })
      const [, , address = ''] = (commands.at(-1) ?? '').split(' ')
      // Whoever lists what the node has waits until the kernel's news are heard.
      await node.daemon().ask('POST', '/v1/explain', explained(node))
      await restart(node, pools(61))
      const pod = await node.pod({ ipam: ofPools(61) })
      const { code, msg, details = '' } = await pod.fails('ADD')
      t.equal(code, linkConflict, msg)
      t.match(msg, `bridge ipk0 has address ${address}, which is not the gateway of a pool`)
      t.ok((await bridgeAddresses(node)).includes(address))
      const typed = `ip address delete ${address} dev ipk0`
      t.ok(details.includes(typed), details)
      const [program = '', ...words] = typed.split(' ')
      await node.host.must(program, words)
      // A runtime tries again.
      await until('what was typed helps', async () => (await pod.call('ADD')).exit === 0)
      t.same(await bridgeAddresses(node), gatewaysOf(61))
    })
  }
})

const explained = (node: WiredNode): object => ({
  ...{ namespace: 'shop', name: 'next' },
  config: node.config({ ipam: ofPools(61) } satisfies CallOptions),
})

t.test('an address that was there before is not taken for ours', { skip }, async t => {
  const node = await makeNode(t, { ipam: {} })
  const lines = ['link add ipk0 type bridge', 'address add 10.60.0.1/24 dev ipk0', 'link set ipk0 up']
  await node.host.must('ip', ['-batch', '-'], { input: `${lines.join('\n')}\n` })
  const old = await addPod(node, ranges(60))
  await old.del()
  await restart(node)
  await addPod(node, ranges(61))
  const pod = await node.pod({ ipam: ranges(61) })
  const { code, msg } = await pod.fails('ADD')
  t.equal(code, linkConflict)
  t.match(msg, 'bridge ipk0 has address 10.60.0.1/24, which is not the gateway of a pool')
  t.same(await bridgeAddresses(node), ['10.60.0.1/24', ...gatewaysOf(61)])
})

t.test(
  'a gateway whose pool is gone does not move to the uplink with the addresses of the node',
  { skip },
  async t => {
    const settings = {
      mode: 'underlay',
      uplink: 'eth0',
      moveHostAddresses: true,
      isGateway: true,
      duplicateProbe: false,
    }
    const lan = await makeWiredLan(t, { hosts: 1 }, () => ({ settings, ipam: {} }))
    const [node] = lan.nodes as [WiredNode]
    await settledAddresses(node.host)
    const addresses = async (): Promise<readonly string[]> =>
      (await hostAddressing(node.host)).filter(line => / inet6? /.test(line) && !line.includes(' fe80'))
    const before = await addresses()
    for (const number of [60, 61]) {
      const pod = await addPod(node, ranges(number))
      await pod.del()
      await restart(node)
    }
    t.equal((await addresses()).filter(line => /^ipkul0 .* (10\.6|fd00:6)/.test(line)).length, 4)
    const restored = await node.daemon().control('restore-uplink', 'ipkul0')
    t.equal(restored.exit, 0, restored.stderr)
    t.same(await addresses(), before)
  },
)
