/** An address moves from one host to another, and a neighbour that knew the old place finds the new one at once. */
import { closeSync, openSync } from 'node:fs'
import t, { type Test } from 'tap'
import { Announcer, type AnnouncedLink } from '../../ipkeeper-server/network/pod/announce.ts'
import { runCommands } from '../../ipkeeper-server/network/ip-commands.ts'
import {
  announcementCommand,
  announcementSysctls,
  forgetNeighbourCommands,
} from '../../ipkeeper-server/network/plan/announcement.ts'
import { writeBatch } from '../../ipkeeper-server/network/plan/command.ts'
import { setSysctls } from '../../ipkeeper-server/network/pod/sysctls.ts'
import type { RunTool, ToolRun } from '../../ipkeeper-server/network/run-tool.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { makeBridge, makeSpot, plugInto, seenFrom, startTeller, type Spot } from '../rigs/spot.ts'

const skip = missing('namespaces', 'arping')

const oldMac = '0a:58:0a:16:00:32'
const otherMac = '0a:58:0a:16:00:33'

interface Network {
  /** The switch between the hosts. */
  readonly between: Spot
  readonly peer: Spot
  readonly oldPod: Spot
  readonly newPod: Spot
}

/** A switch with a peer and two hosts at it; each host is a bridge with one pod. Pods are not up yet. */
async function makeNetwork(t: Test): Promise<Network> {
  const spots = await Promise.all(Array.from({ length: 6 }, () => makeSpot(t)))
  const [between, peer, oldHost, newHost, oldPod, newPod] = spots as [Spot, Spot, Spot, Spot, Spot, Spot]
  await makeBridge(between, 'br0')
  await plugInto(between, 'br0', peer, 'peer')
  for (const [host, pod, port] of [
    [oldHost, oldPod, 'old'],
    [newHost, newPod, 'new'],
  ] as const) {
    await makeBridge(host, 'br0')
    await plugInto(between, 'br0', host, port)
    await host.ip('link set eth0 master br0 up')
    await plugInto(host, 'br0', pod, 'pod')
  }
  await peer.ip(
    'link set eth0 up',
    'address add 10.22.0.9/16 dev eth0',
    'address add fd00:22::9/64 dev eth0 nodad',
  )
  await Promise.all([startTeller(t, oldPod), startTeller(t, newPod)])
  return { between, peer, oldPod, newPod }
}

const families = {
  IPv4: { address: '10.22.0.50', add: 'address add 10.22.0.50/16 dev eth0', peer: '10.22.0.9' },
  IPv6: { address: 'fd00:22::50', add: 'address add fd00:22::50/64 dev eth0 nodad', peer: 'fd00:22::9' },
} as const

/** MAC that a spot has for an address; undefined when it has none. */
async function knownMac(spot: Spot, address: string): Promise<string | undefined> {
  const shown = await spot.must('ip', ['-json', 'neighbour', 'show', 'to', address, 'dev', 'eth0'])
  return (JSON.parse(shown) as { readonly lladdr?: string }[])[0]?.lladdr
}

/** Port of the switch behind which it believes a MAC to be. */
async function portOf(between: Spot, mac: string): Promise<string | undefined> {
  const shown = await between.must('bridge', ['-json', 'fdb', 'show', 'br', 'br0'])
  const entries = JSON.parse(shown) as { readonly mac: string; readonly ifname: string }[]
  return entries.find(entry => entry.mac === mac)?.ifname
}

const linkOf = (mac: string, address: string): AnnouncedLink => ({
  ifname: 'eth0',
  mac,
  addresses: [address],
})

/** As the wirer does for a pod whose link is up. */
async function announce({ run, fd }: Spot, { ifname, mac, addresses }: AnnouncedLink): Promise<void> {
  await setSysctls(run, fd, announcementSysctls(ifname, addresses))
  await runCommands(run, [announcementCommand(ifname, mac)], fd)
}

/** The old pod has the address, and the peer has talked to it; then it is gone, and the new one has the address. */
async function move(
  t: Test,
  network: Network,
  family: keyof typeof families,
  newMac: string,
): Promise<AnnouncedLink> {
  const { between, peer, oldPod, newPod } = network
  const { address, add, peer: peerAddress } = families[family]
  await oldPod.ip(`link set eth0 address ${oldMac}`, 'link set eth0 up', add)
  t.equal(await seenFrom(peer, address), peerAddress, 'the peer reaches the old place')
  t.equal(await knownMac(peer, address), oldMac)
  t.equal(await portOf(between, oldMac), 'old')
  await oldPod.ip('link set eth0 down')
  // Multicast of IPv6 at the start of a link tells the switch where it is; IPv4 has to do without.
  if (family === 'IPv4') await newPod.must('tee', ['/proc/sys/net/ipv6/conf/eth0/disable_ipv6'], '1')
  await newPod.ip(`link set eth0 address ${newMac}`, 'link set eth0 up', add)
  return linkOf(newMac, address)
}

for (const family of ['IPv4', 'IPv6'] as const) {
  const { address, peer: peerAddress } = families[family]

  t.test(`${family}, another MAC: the peer learns it`, { skip }, async t => {
    const network = await makeNetwork(t)
    const { peer, newPod } = network
    const link = await move(t, network, family, otherMac)
    t.equal(await knownMac(peer, address), oldMac, 'without an announcement it knows nothing')
    await announce(newPod, link)
    await until('the peer knows', async () => (await knownMac(peer, address)) === otherMac, 1000)
    t.equal(await seenFrom(peer, address), peerAddress)
  })

  t.test(`${family}, the same MAC: the switch learns the port`, { skip }, async t => {
    const network = await makeNetwork(t)
    const { between, peer, newPod } = network
    const link = await move(t, network, family, oldMac)
    if (family === 'IPv4') t.equal(await portOf(between, oldMac), 'old', 'nothing has told it')
    await announce(newPod, link)
    await until('the switch knows', async () => (await portOf(between, oldMac)) === 'new', 1000)
    t.equal(await seenFrom(peer, address), peerAddress)
  })
}

const macvlanSkip = missing('namespaces', 'macvlan')

t.test('over macvlan: the peer learns another MAC', { skip: macvlanSkip }, async t => {
  const [between, peer, oldPod, newPod] = await Promise.all([
    makeSpot(t),
    makeSpot(t),
    makeSpot(t),
    makeSpot(t),
  ])
  await between.ip('link add over type veth peer name far', 'link set over up', 'link set far up')
  const macs = new Map([
    [peer, '0a:58:0a:16:00:09'],
    [oldPod, oldMac],
    [newPod, otherMac],
  ])
  for (const [spot, mac] of macs) {
    await between.ip(`link add mv0 link over address ${mac} netns ${spot.pid} type macvlan mode bridge`)
    await spot.ip('link set mv0 name eth0')
  }
  await peer.ip(
    'link set eth0 up',
    'address add 10.22.0.9/16 dev eth0',
    'address add fd00:22::9/64 dev eth0 nodad',
  )
  await Promise.all([startTeller(t, oldPod), startTeller(t, newPod)])
  const each = Object.values(families)
  const addresses = each.map(({ address }) => address)
  const known = (): Promise<unknown> => Promise.all(addresses.map(address => knownMac(peer, address)))
  await oldPod.ip('link set eth0 up', ...each.map(({ add }) => add))
  for (const address of addresses) await seenFrom(peer, address)
  await oldPod.ip('link delete eth0')
  await newPod.ip('link set eth0 up', ...each.map(({ add }) => add))
  t.same(await known(), [oldMac, oldMac])
  await announce(newPod, { ifname: 'eth0', mac: otherMac, addresses })
  await until(
    'the peer knows',
    async () => JSON.stringify(await known()) === JSON.stringify([otherMac, otherMac]),
    1000,
  )
  for (const { address, peer: peerAddress } of each) t.equal(await seenFrom(peer, address), peerAddress)
})

/** Opens a spot as `reopenPodNamespace` does a pod. */
const opener = (spot: Spot) => () => {
  const fd = openSync(spot.path, 'r')
  return {
    fd,
    close: () => {
      closeSync(fd)
    },
  }
}

t.test('a lost announcement is made up for', { skip }, async t => {
  const network = await makeNetwork(t)
  const { between, peer, newPod } = network
  const { address } = families.IPv4
  const link = await move(t, network, 'IPv4', otherMac)
  const announcer = new Announcer(newPod.run)
  await between.ip('link set dev peer type bridge_slave bcast_flood off')
  await announce(newPod, link)
  t.equal(await knownMac(peer, address), oldMac, 'it did not get through')
  announcer.repeat(link, opener(newPod))
  await between.ip('link set dev peer type bridge_slave bcast_flood on')
  await until('the peer knows', async () => (await knownMac(peer, address)) === otherMac, 5000)
  await announcer.close()
})

t.test('repetitions', { skip }, async t => {
  const pod = await makeSpot(t)
  const other = await makeSpot(t)
  await makeBridge(other, 'br0')
  await plugInto(other, 'br0', pod, 'pod')
  await pod.ip('link set eth0 up', 'address add 10.22.0.50/16 dev eth0')
  const watched = (): { announcer: Announcer; begun: ToolRun[]; ended: ToolRun[] } => {
    const [begun, ended]: [ToolRun[], ToolRun[]] = [[], []]
    const run: RunTool = async tool => {
      begun.push(tool)
      return await pod.run(tool).finally(() => ended.push(tool))
    }
    return { announcer: new Announcer(run), begun, ended }
  }
  const link = linkOf(otherMac, '10.22.0.50')

  await t.test('are two, of both kinds', async t => {
    const { announcer, begun, ended } = watched()
    announcer.repeat(link, opener(pod))
    await until('both', () => ended.length === 2)
    t.same(
      begun.map(({ tool, args }) => [tool, ...args].join(' ')),
      ['-U', '-A'].map(kind => `arping ${kind} -q -c 1 -I eth0 10.22.0.50`),
    )
    await announcer.close()
  })

  await t.test('are of IPv4 alone', async t => {
    const { announcer, begun } = watched()
    let opened = 0
    announcer.repeat(linkOf(otherMac, 'fd00:22::50'), () => (opened++, opener(pod)()))
    await announcer.close()
    t.equal(begun.length + opened, 0)
  })

  await t.test('end with the namespace or the link', async t => {
    const [namespaceGone, linkGone, neither] = [watched(), watched(), watched()]
    let looks = 0
    namespaceGone.announcer.repeat(link, () => (looks++, undefined))
    linkGone.announcer.repeat({ ...link, ifname: 'eth7' }, opener(pod))
    neither.announcer.repeat(link, opener(pod))
    await until('where all is well, the second', () => neither.ended.length === 2)
    t.equal(looks, 1)
    t.equal(namespaceGone.begun.length, 0)
    t.equal(linkGone.begun.length, 1)
    await Promise.all([namespaceGone, linkGone, neither].map(({ announcer }) => announcer.close()))
  })

  await t.test('are awaited at the end of the daemon', async t => {
    const { announcer, begun, ended } = watched()
    announcer.repeat(link, opener(pod))
    await until('the first one is under way', () => begun.length === 1)
    t.equal(ended.length, 0)
    await announcer.close()
    t.equal(ended.length, 1, 'it has ended, and the second was not begun')
    t.equal(begun.length, 1)
    announcer.repeat(link, opener(pod))
    await announcer.close()
    t.equal(begun.length, 1, 'nothing begins any more')
  })
})

t.test('an announcement that cannot be made', { skip }, async t => {
  const pod = await makeSpot(t)
  await t.rejects(announce(pod, linkOf(otherMac, '10.22.0.50')), {
    code: 'IPK_WIRING_FAILED',
    message: /cannot set net\/ipv4\/conf\/eth0\/arp_notify to 1/,
  })
  await t.rejects(runCommands(pod.run, [announcementCommand('eth0', otherMac)], pod.fd), {
    code: 'IPK_WIRING_FAILED',
    message: /cannot announce the addresses of eth0/,
  })
})

t.test('the node forgets where an address was', { skip }, async t => {
  const node = await makeSpot(t)
  await makeBridge(node, 'br0')
  await node.ip('address add 10.22.0.1/16 dev br0')
  const neighbours = (): Promise<string> => node.must('ip', ['neighbour', 'show'])
  await node.ip(
    `neighbour add 10.22.0.50 lladdr ${oldMac} dev br0 nud reachable`,
    `neighbour add 10.22.0.51 lladdr ${oldMac} dev br0 nud reachable`,
    `neighbour add fd00:22::50 lladdr ${oldMac} dev br0 nud reachable`,
  )
  const forget = writeBatch(forgetNeighbourCommands(['10.22.0.50', 'fd00:22::50'], 'br0'))
  for (const what of ['what it knows', 'what it does not know']) {
    await node.must('ip', ['-batch', '-'], forget)
    t.match(await neighbours(), /^10\.22\.0\.51 dev br0 lladdr 0a:58:0a:16:00:32 REACHABLE *\n$/, what)
  }
})
