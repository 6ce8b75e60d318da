/** The link of a macvlan is within its pod alone: DEL finds it there, and takes nobody else's. */
import t, { type Test } from 'tap'
import { linkNames } from '../../ipkeeper-server/network/link-names.ts'
import { makeDeadlyIp } from '../rigs/deadly-ip.ts'
import { kernelState } from '../rigs/kernel-state.ts'
import { until } from '../rigs/poll.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import {
  makeWiredNode,
  startWiredNode,
  type Settings,
  type WiredNode,
  type WiredPod,
} from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const settings: Settings = { mode: 'macvlan', uplink: 'up0', duplicateProbe: false }
const ipam: Settings = { ranges: [[{ subnet: '10.30.0.0/24' }], [{ subnet: 'fd00:30::/64' }]] }
const uplink = 'link add up0 type veth peer name up1\nlink set up0 up\nlink set up1 up\n'

async function makeSite(t: Test, more: Settings = {}): Promise<WiredNode> {
  const node = await makeWiredNode(t, { settings: { ...settings, ...more }, ipam })
  await node.host.must('ip', ['-batch', '-'], { input: uplink })
  return node
}

interface LinkShown {
  readonly ifname: string
  readonly address: string
  readonly ifalias?: string
  readonly linkinfo?: { readonly info_kind: string; readonly info_data?: { readonly mode?: string } }
}

const links = async ({ namespace }: WiredPod): Promise<readonly LinkShown[]> => {
  const shown = (await namespace.ip('-details', 'link', 'show')) as readonly LinkShown[]
  return shown.filter(({ ifname }) => ifname !== 'lo')
}

t.test('the link is what the configuration says', { skip }, async t => {
  for (const macvlanMode of ['bridge', 'private', 'vepa']) {
    const node = await makeSite(t, { macvlanMode, mtu: 1400 })
    const before = await kernelState(node.host)
    const pod = await node.pod({ annotations: { 'ipkeeper.io/mac': '02:00:00:00:00:77' } })
    const result = await pod.add()
    t.match(result.interfaces, [
      { name: 'eth0', mac: '02:00:00:00:00:77', mtu: 1400, sandbox: pod.namespace.path },
    ])
    t.match(await links(pod), [
      {
        ...{ ifname: 'eth0', address: '02:00:00:00:00:77', ifalias: /^ipkeeper fixed / },
        linkinfo: { info_kind: 'macvlan', info_data: { mode: macvlanMode } },
      },
    ])
    t.equal((await pod.namespace.addresses('eth0')).length, 2)
    t.same((await kernelState(node.host)).links, before.links, 'the host has nothing of it')
    await pod.del()
    t.same(await links(pod), [])
    await pod.del()
  }
})

t.test('on a bridge', { skip }, async t => {
  const node = await makeSite(t, { uplink: 'br0' })
  await node.host.must('ip', ['link', 'add', 'br0', 'type', 'bridge'])
  const pod = await node.pod()
  await pod.add()
  await pod.del()
})

/** What DEL meets in the place of what ADD made, and what has to be there after it. */
const ways: Readonly<Record<string, (node: WiredNode, pod: WiredPod) => Promise<readonly string[]>>> = {
  'as it was': () => Promise.resolve([]),
  'another name': async (node, { namespace }) => {
    await node.host.must('ip', ['-n', namespace.name, 'link', 'set', 'eth0', 'down'])
    await node.host.must('ip', ['-n', namespace.name, 'link', 'set', 'eth0', 'name', 'net1'])
    return []
  },
  'a name that is no word and no JSON': async (node, { namespace }) => {
    await node.host.must('ip', ['-n', namespace.name, 'link', 'set', 'eth0', 'down'])
    await node.host.must('ip', ['-n', namespace.name, 'link', 'set', 'eth0', 'name', 'a\u0001$"'])
    return []
  },
  "somebody else's veth of that name": async (node, { namespace }) => {
    await node.host.must('ip', ['-n', namespace.name, 'link', 'delete', 'eth0'])
    await node.host.must('ip', [
      '-n',
      namespace.name,
      'link',
      'add',
      'eth0',
      'type',
      'veth',
      'peer',
      'name',
      'v1',
    ])
    return ['v1', 'eth0']
  },
  "somebody else's macvlan of that name and MAC": async (node, pod) => {
    const { name } = pod.namespace
    const [own] = await links(pod)
    await node.host.must('ip', ['-n', name, 'link', 'delete', 'eth0'])
    const theirs = ['link', 'add', 'link', 'up0', 'name', 'eth0', 'address', own!.address, 'netns', name]
    await node.host.must('ip', [...theirs, 'type', 'macvlan', 'mode', 'bridge'])
    await node.host.must('ip', ['-n', name, 'link', 'set', 'eth0', 'up'])
    return ['eth0']
  },
  "somebody else's in another namespace at that path": async (node, { namespace }) => {
    await namespace.delete()
    await node.host.must('ip', ['netns', 'add', namespace.name])
    const theirs = ['link', 'add', 'link', 'up0', 'name', 'eth0', 'netns', namespace.name]
    await node.host.must('ip', [...theirs, 'type', 'macvlan', 'mode', 'bridge'])
    return ['eth0']
  },
}

t.test('DEL takes its own, and nothing else', { skip }, async t => {
  const node = await makeSite(t)
  for (const [way, change] of Object.entries(ways)) {
    await t.test(way, async t => {
      const pod = await node.pod()
      await pod.add()
      const left = await change(node, pod)
      await pod.del()
      t.same(
        (await links(pod)).map(({ ifname }) => ifname),
        left,
      )
      t.same(await node.daemon().boundLeases(), [])
      await pod.namespace.delete()
    })
  }
  await t.test('the namespace is gone', async t => {
    const pod = await node.pod()
    await pod.add()
    await pod.namespace.delete()
    await pod.del()
    t.same(await node.daemon().boundLeases(), [])
  })
  await t.test("the host's own namespace", async t => {
    const pod = await node.pod()
    await pod.add()
    await pod.del({ netns: '/proc/self/ns/net' })
    t.same(await links(pod), [], 'the one of the ADD counts')
  })
})

t.test('a DEL of what nobody remembers finds the link by its alias', { skip }, async t => {
  const node = await makeSite(t)
  const [pod, other] = [await node.pod(), await node.pod()]
  await pod.add()
  await other.add()
  const { stateDir } = node.daemon()
  await node.daemon().stop()
  await node.host.must('sh', ['-c', `rm -f ${stateDir}/leases.db* && touch ${stateDir}/begin-anew`])
  await node.startDaemon()
  await other.del({ netns: pod.namespace.path })
  t.equal((await links(pod)).length, 1, "another container's DEL leaves it alone")
  await pod.del()
  t.same(await links(pod), [])
})

t.test('a sandbox that replaces another one takes its link away', { skip }, async t => {
  const node = await makeSite(t)
  const pod = await node.pod({ annotations: { 'ipkeeper.io/ip': '10.30.0.50' } })
  await pod.add()
  const next = await pod.again()
  await next.add()
  t.same(await links(pod), [], 'while its namespace lives')
  t.match(await next.namespace.addresses('eth0'), ['10.30.0.50/24'])
  await pod.del()
  t.equal((await links(next)).length, 1, 'a late DEL of the old one changes nothing')
  await next.del()
})

t.test('a daemon that is killed in the middle leaves nothing', { skip }, async t => {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  await host.must('ip', ['-batch', '-'], { input: uplink })
  const ip = makeDeadlyIp(folder)
  const node = await startWiredNode(host, { folder, settings, ipam, env: ip.env })
  for (const [done, what] of ['nothing', 'the link', 'its mark', 'its name', 'its being up'].entries()) {
    const pod = await node.pod()
    ip.killAfter(done)
    const { exit } = await pod.call('ADD', { ipam: { timeout: 1 } })
    t.equal(exit, 1, `killed after ${what}`)
    ip.killAfter(undefined)
    await node.daemon().stop('SIGKILL')
    await node.startDaemon()
    await until('what was not answered is taken back', async () => (await links(pod)).length === 0)
    await pod.add()
    t.equal((await links(pod)).length, 1, 'a new ADD finds nothing in its way')
    await pod.del()
    t.same(await links(pod), [])
  }
})

t.test('what another daemon left under the first name is no obstacle', { skip }, async t => {
  const node = await makeSite(t)
  const pod = await node.pod()
  const { name } = pod.namespace
  const { hostLink } = linkNames({ network: 'fixed', containerId: pod.containerId, ifname: 'eth0' })
  const made = ['link', 'add', 'link', 'up0', 'name', hostLink, 'netns', name, 'type', 'macvlan']
  await node.host.must('ip', made)
  await pod.add()
  t.match(await links(pod), [{ ifname: 'eth0' }])
  await pod.del()
  await node.host.must('ip', made)
  await pod.del()
  t.same(await links(pod), [], 'and a DEL takes it away')
})

t.test('the name is taken', { skip }, async t => {
  for (const kind of ['veth', 'macvlan']) {
    const node = await makeSite(t)
    const pod = await node.pod({ annotations: { 'ipkeeper.io/mac': '02:00:00:00:00:77' } })
    const within = ['-n', pod.namespace.name]
    const made =
      kind === 'veth'
        ? [...within, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'v1']
        : ['link', 'add', 'link', 'up0', 'name', 'eth0', 'netns', pod.namespace.name, 'type', 'macvlan']
    await node.host.must('ip', made)
    const before = await kernelState(node.host, pod.namespace.name)
    t.match(await pod.fails('ADD'), { code: 142, msg: /already has an interface eth0/ })
    t.same(await kernelState(node.host, pod.namespace.name), before)
    await pod.del()
    t.same(await kernelState(node.host, pod.namespace.name), before)
    t.same(await node.daemon().boundLeases(), [])
  }
})
