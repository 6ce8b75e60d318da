import t from 'tap'
import { HostView } from '../../../../ipkeeper-server/network/node/host-view.ts'
import type { MainConfig } from '../../../../ipkeeper-server/ipam/request/main-config.ts'
import type { ToolEnd } from '../../../../ipkeeper-server/network/run-tool.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { toolDouble } from '../../../rigs/tool-double.ts'
import { sampleConfig } from '../plan/sample-job.ts'

const address = (local: string, prefixlen: number, scope = 'global') => ({ local, prefixlen, scope })

/** Links as the JSON of ip has them. */
const links: Readonly<Record<string, object>> = {
  ipk0: {
    ifname: 'ipk0',
    mtu: 1450,
    address: '0e:00:00:00:00:09',
    link_type: 'ether',
    linkinfo: { info_kind: 'bridge', info_data: { vlan_filtering: 1 } },
    addr_info: [address('10.22.0.1', 16), address('fe80::1', 64, 'link'), address('fd00:22::1', 64)],
  },
  plain: { ifname: 'plain', mtu: 1500, address: '02:00:00:00:00:01', link_type: 'ether' },
  veth: { ifname: 'veth', mtu: 1500, linkinfo: { info_kind: 'veth' } },
  up0: {
    ifname: 'up0',
    mtu: 1400,
    address: '02:00:00:00:00:aa',
    link_type: 'ether',
    flags: ['UP'],
    addr_info: [address('192.0.2.7', 24), address('fe80::2', 64, 'link')],
  },
  port: {
    ifname: 'port',
    mtu: 1400,
    link_type: 'ether',
    master: 'ipk0',
    linkinfo: { info_slave_kind: 'bridge' },
  },
  tun0: { ifname: 'tun0', mtu: 1420, link_type: 'none' },
}
const ports = [
  { ifname: 'ipk000000000001', ifalias: 'ipkeeper net c1 eth0' },
  { ifname: 'theirs' },
  { ifname: 'liar', ifalias: 'ipkeeperish' },
]

/** A host with these links, whose default routes lead to `outside`. */
function makeHost({ outside = ['up0'], node = 'n1' } = {}) {
  const clock = { now: 0 }
  let failing = false
  const answer = (args: readonly string[]): Partial<ToolEnd> => {
    if (failing) return { exit: 1, stderr: 'Cannot open netlink socket: Too many open files\n' }
    const words = args.join(' ')
    if (words.includes('route show default'))
      return {
        stdout: JSON.stringify(words.includes('-4') ? outside.map(dev => ({ dst: 'default', dev })) : []),
      }
    if (words.includes(' master ')) return { stdout: JSON.stringify(ports) }
    const link = links[args.at(-1) ?? '']
    if (!link) return { exit: 1, stderr: `Device "${args.at(-1) ?? ''}" does not exist.\n` }
    return { stdout: JSON.stringify([link]) }
  }
  const { run, runs } = toolDouble(({ args }) => answer(args))
  return {
    ...{ clock, runs, view: new HostView(run, node, () => clock.now) },
    fail: (does: boolean) => {
      failing = does
    },
  }
}

const config = (parts: Partial<MainConfig>): MainConfig => ({ ...sampleConfig, ...parts })

t.test('what stands under the name of a bridge', async t => {
  const { view } = makeHost()
  t.strictSame(await view.bridge('ipk0'), {
    state: 'bridge',
    mac: '0e:00:00:00:00:09',
    addresses: ['10.22.0.1/16', 'fd00:22::1/64'],
    ours: [],
    filtersVlans: true,
  })
  t.strictSame(await view.bridge('plain'), { state: 'other', kind: '' })
  t.strictSame(await view.bridge('veth'), { state: 'other', kind: 'veth' })
  const absent = await view.bridge('ipk9')
  t.match(absent, { state: 'absent', mac: /^0e:/ })
  t.strictSame(await makeHost().view.bridge('ipk9'), absent, 'it is to get the same MAC at every try')
  t.notSame(await view.bridge('ipk8'), absent)
  t.notSame(await makeHost({ node: 'n2' }).view.bridge('ipk9'), absent, 'and on every node another one')
})

t.test('a look is trusted for 10 s, and shared', async t => {
  const { view, runs, clock } = makeHost()
  await Promise.all([view.bridge('ipk0'), view.bridge('ipk0'), view.uplink('ipk0', 'uplink')])
  t.equal(runs.length, 1)
  clock.now = 9_999
  await view.bridge('ipk0')
  t.equal(runs.length, 1)
  clock.now = 10_000
  await view.bridge('ipk0')
  t.equal(runs.length, 2)
  await view.bridge('ipk9')
  await view.bridge('ipk9')
  t.equal(runs.length, 3, 'also that there is none')
  view.forget('ipk9')
  await view.bridge('ipk0')
  t.equal(runs.length, 3, 'another link is forgotten')
  view.forget('ipk0')
  await view.bridge('ipk0')
  t.equal(runs.length, 4)
  view.forget()
  await view.bridge('ipk0')
  t.equal(runs.length, 5)
})

t.test('a look that failed is not remembered', async t => {
  const { view, fail } = makeHost()
  fail(true)
  const looks = await Promise.allSettled([view.bridge('ipk0'), view.bridge('ipk0')])
  t.strictSame(
    looks.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  fail(false)
  t.match(await view.bridge('ipk0'), { state: 'bridge' })
})

t.test('an uplink that is not there', async t => {
  const problem = await thrownProblem(() => makeHost().view.uplink('up9', 'uplink'))
  t.match(problem, { code: 'IPK_LINK_CONFLICT', message: '"uplink": the host has no link up9' })
  t.ok(problem.hint)
  for (const mode of ['ptp', 'macvlan', 'underlay'] as const)
    t.equal(
      (await thrownProblem(() => makeHost().view.survey(config({ mode, uplink: 'up9' })))).code,
      'IPK_LINK_CONFLICT',
      mode,
    )
})

t.test('surveys', async t => {
  const up0 = {
    name: 'up0',
    mtu: 1400,
    addresses: ['192.0.2.7/24'],
    master: undefined,
    carriesDefaultRoute: false,
  }
  const nothing = { uplink: undefined, foreignPorts: [], nodeAddresses: [] }
  for (const [what, parts, outside, expected] of [
    [
      'bridge: the MTU of the way outside',
      {},
      ['up0'],
      { ...nothing, mtu: 1400, bridge: { state: 'bridge' } },
    ],
    ['the first way counts', {}, ['tun0', 'up0'], { mtu: 1420 }],
    ['no way outside', {}, [], { ...nothing, mtu: 1500 }],
    ['a way that is gone meanwhile', {}, ['up9'], { ...nothing, mtu: 1500 }],
    ['what the configuration says', { mtu: 1300 }, ['up0'], { mtu: 1300 }],
    ['ptp', { mode: 'ptp' }, ['up0'], { ...nothing, mtu: 1400, bridge: undefined }],
    [
      'ptp with an uplink',
      { mode: 'ptp', uplink: 'plain' },
      ['up0'],
      { mtu: 1500, uplink: { name: 'plain' } },
    ],
    [
      'macvlan on the way outside',
      { mode: 'macvlan' },
      ['up0'],
      { mtu: 1400, uplink: up0, bridge: undefined },
    ],
    ['macvlan without one', { mode: 'macvlan' }, [], { uplink: undefined, mtu: 1500 }],
    ['a link without Ethernet', { mode: 'macvlan', uplink: 'tun0' }, [], { uplink: { ethernet: false } }],
    [
      'underlay, joined: the addresses of the bridge are those of the node',
      { mode: 'underlay', uplink: 'port' },
      ['up0'],
      {
        uplink: { name: 'port', master: 'ipk0', portKind: 'bridge' },
        nodeAddresses: ['10.22.0.1/16', 'fd00:22::1/64'],
        foreignPorts: [],
      },
    ],
    [
      'underlay, not joined: who else is on the bridge, and whether it is the way outside',
      { mode: 'underlay', uplink: 'up0' },
      ['up0'],
      {
        uplink: { ...up0, carriesDefaultRoute: true },
        foreignPorts: ['theirs', 'liar'],
        nodeAddresses: ['10.22.0.1/16', 'fd00:22::1/64'],
      },
    ],
    [
      'underlay, to be joined with its addresses: the bridge gets its MAC, too',
      { mode: 'underlay', uplink: 'up0', bridge: 'ipk9', moveHostAddresses: true },
      [],
      {
        uplink: up0,
        bridge: { state: 'absent', mac: '02:00:00:00:00:aa' },
        nodeAddresses: ['192.0.2.7/24'],
      },
    ],
    [
      'underlay, where nothing has to move',
      { mode: 'underlay', uplink: 'plain', bridge: 'ipk9', moveHostAddresses: true },
      [],
      { bridge: { state: 'absent', mac: /^0e:/ }, nodeAddresses: [] },
    ],
  ] as const)
    t.match(await makeHost({ outside: [...outside] }).view.survey(config(parts)), expected, what)
})

t.test('who else is on a bridge is seen anew each time', async t => {
  let present = ['ipk0123456789ab', 'ipkfedcba987654']
  const { run } = toolDouble(({ args }) => ({
    exit: 1,
    stderr: `Device "${args.at(-1) ?? ''}" does not exist.\n`,
  }))
  const view = new HostView(run, 'n1', () => 0, {
    portsOf: bridge => Promise.resolve(bridge === 'br7' ? present : []),
  })
  const others = async (parts: Partial<MainConfig>): Promise<readonly string[]> =>
    (await view.survey(config({ mode: 'bridge', bridge: 'br7', mtu: 1500, ...parts }))).foreignPorts
  const usual = { duplicateProbe: 'among-others' } as const
  t.same(await others(usual), [])
  present = [...present, 'tap0', 'ipk0', 'vethab12', 'eth1']
  t.same(await others(usual), ['tap0', 'ipk0', 'vethab12', 'eth1'])
  t.same(await others({ duplicateProbe: true }), [], 'of no interest where it is asked anyway')
  t.same(await others({ duplicateProbe: false }), [])
})

t.test('which addresses of a bridge are ours', async t => {
  const { run } = toolDouble(() => ({ stdout: JSON.stringify([links['ipk0']]) }))
  const recorded = ['fd00:22::1/64', '10.22.0.1/24', '10.60.0.1/24']
  const gatewaysOf = (bridge: string): readonly string[] => (bridge === 'ipk0' ? recorded : [])
  const view = new HostView(run, 'n1', () => 0, { gatewaysOf })
  t.match(await view.bridge('ipk0'), { ours: ['fd00:22::1/64'] }, 'only what is there')
  t.match(await view.bridge('br7'), { ours: [] })
})
