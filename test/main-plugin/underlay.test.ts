/** Pods that are on the network of the node: of several nodes, and of the world outside. */
import t from 'tap'
import { askEcho, followEcho, serveEcho, type Place } from '../rigs/echo.ts'
import { beyond, type LanHost } from '../rigs/lan.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { servedPod } from '../rigs/served-pod.ts'
import { makeWiredLan } from '../rigs/wired-lan.ts'
import type { Settings, WiredNode } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')
const families = [4, 6] as const

const modes: Readonly<Record<string, Settings>> = {
  underlay: { mode: 'underlay', uplink: 'eth0', moveHostAddresses: true },
  macvlan: { mode: 'macvlan' },
}

/** Of the LAN's own subnets, a part for each host. */
const lanRanges = (host: number): Settings => ({
  ranges: [
    [
      {
        subnet: '10.30.0.0/24',
        rangeStart: `10.30.0.${host}00`,
        rangeEnd: `10.30.0.${host}99`.replace('299', '250'),
        gateway: '10.30.0.1',
      },
    ],
    [
      {
        subnet: 'fd00:30::/64',
        rangeStart: `fd00:30::${host}00`,
        rangeEnd: `fd00:30::${host}99`,
        gateway: 'fd00:30::1',
      },
    ],
  ],
  routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
})

for (const [mode, settings] of Object.entries(modes)) {
  t.test(`pods of two hosts, mode ${mode}`, { skip }, async t => {
    const lan = await makeWiredLan(t, { hosts: 2 }, number => ({
      settings: { ...settings, duplicateProbe: false },
      ipam: lanRanges(number),
    }))
    const [first, second] = lan.nodes as [WiredNode, WiredNode]
    await serveEcho({ host: lan.outside }, 'outside')
    const [one, sister, two] = [
      await servedPod(first, 'one'),
      await servedPod(first, 'sister'),
      await servedPod(second, 'two'),
    ]
    for (const family of families) {
      for (const protocol of ['udp', 'tcp'] as const) {
        const ask = (from: Place, address: string): ReturnType<typeof askEcho> =>
          askEcho(from, address, { protocol })
        const own = one.addresses[family]
        const far = family === 4 ? beyond.ipv4 : beyond.ipv6
        const what = `IPv${family}, ${protocol}`
        t.match(await ask(one, two.addresses[family]), { name: 'two', from: own }, `${what}: across hosts`)
        t.match(await ask(two, own), { name: 'one', from: two.addresses[family] }, `${what}: and back`)
        t.match(await ask(one, sister.addresses[family]), { name: 'sister', from: own }, `${what}: on one`)
        t.match(await ask(one, far), { name: 'outside', from: own }, `${what}: beyond the router`)
        t.match(await ask({ host: lan.outside }, own), { name: 'one' }, `${what}: from outside`)
      }
    }
    await one.pod.del()
    t.equal(await askEcho(two, one.addresses[4], { milliseconds: 300 }), undefined, 'gone with its DEL')
    t.match(await askEcho(two, sister.addresses[4]), { name: 'sister' }, 'and nobody else')
  })
}

t.test('a host is reached, and reaches others, all the time while its addresses move', { skip }, async t => {
  const lan = await makeWiredLan(t, { hosts: 1 }, number => ({
    settings: { ...modes['underlay'], duplicateProbe: false },
    ipam: lanRanges(number),
  }))
  const [node] = lan.nodes as [WiredNode]
  await serveEcho({ host: node.host }, 'host')
  await serveEcho({ host: lan.outside }, 'outside')
  const { ipv4, ipv6 } = lan.hosts[0]!
  const ways: readonly (readonly [from: LanHost, address: string])[] = [
    [lan.outside, ipv4],
    [lan.outside, ipv6],
    [lan.hosts[0]!, beyond.ipv4],
    [lan.hosts[0]!, beyond.ipv6],
  ]
  for (const [host, address] of ways) t.ok(await askEcho({ host }, address))
  const followed = ways.map(([host, address]) => ({ address, ...followEcho({ host }, address) }))
  // The kernel repeats a lost question for a neighbour after a second; it asks none whose answer it still knows.
  const forgetNeighbours = (): Promise<unknown> =>
    Promise.all([node.host, lan.outside].map(host => host.must('ip', ['neigh', 'flush', 'all'])))
  for (let round = 1; round <= 10; round++) {
    await forgetNeighbours()
    const pod = await node.pod()
    await pod.add()
    if (round === 1)
      t.match(await askEcho({ ...pod, host: node.host }, ipv4), { name: 'host' }, 'by its pods too')
    await pod.del()
    await forgetNeighbours()
    const restored = await node.daemon().control('restore-uplink', 'ipkul0')
    t.equal(restored.exit, 0, restored.stderr)
  }
  for (const { address, answers, stop } of followed) {
    const enough = answers.length + 100
    await until('answers after the last move', () => answers.length >= enough).catch(() => undefined)
    await stop()
    const gaps = answers.slice(1).map(({ at }, before) => at - answers[before]!.at)
    t.ok(answers.length > 100, `${address}: ${answers.length} answers`)
    t.ok(Math.max(...gaps) < 900, `the longest silence: ${Math.round(Math.max(...gaps))} ms`)
  }
})
