/** What the host has on its uplink moves to the bridge and back, and is never lost on the way. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { RestoreUplinkReply, UplinksReply } from '../../shared/api/uplink.schema.ts'
import { makeDeadlyIp, type DeadlyIp } from '../rigs/deadly-ip.ts'
import { isWhole } from '../rigs/extent.ts'
import { hostAddressing, settledAddresses } from '../rigs/host-addressing.ts'
import { startLan, type LanHost } from '../rigs/lan.ts'
import { logs } from '../rigs/logs.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { startWiredNode, type Settings, type WiredNode } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const moving: Settings = {
  ...{ mode: 'underlay', uplink: 'eth0', moveHostAddresses: true, duplicateProbe: false },
}
const ipam: Settings = {
  ranges: [
    [{ subnet: '10.30.0.0/24', rangeStart: '10.30.0.100', gateway: '10.30.0.1' }],
    [{ subnet: 'fd00:30::/64', rangeStart: 'fd00:30::100', gateway: 'fd00:30::1' }],
  ],
}

/** All kinds of things that a host may have on its link. */
const rich = [
  'address add 10.30.0.21/24 brd + dev eth0 label eth0:one',
  'address add 10.30.0.22/24 dev eth0 valid_lft 5000 preferred_lft 4000 noprefixroute',
  'address add 10.40.0.1 peer 10.40.0.2/32 dev eth0',
  'address add fd00:30::21/64 dev eth0 valid_lft 5000 preferred_lft 4000',
  'address add fd00:31::21/64 dev eth0 nodad noprefixroute metric 77',
  'route replace default via 10.30.0.1 dev eth0 metric 100 proto dhcp src 10.30.0.11',
  'route delete default via 10.30.0.1 dev eth0 metric 0',
  'route add 10.51.0.0/16 via 10.30.0.1 dev eth0 table 77 proto static mtu 1400 advmss 1300',
  'route add 10.52.0.0/16 dev eth0 scope link',
  'route add 10.53.0.0/16 via 192.168.77.1 dev eth0 onlink metric 5',
  'route add 10.54.0.0/16 nexthop via 10.30.0.1 dev eth0 weight 2 nexthop via 10.30.0.2 dev eth0 weight 3',
  'route add fd51::/64 via fe80::1 dev eth0 metric 9 table 77',
  'route add fd52::/64 nexthop via fd00:30::1 dev eth0 nexthop via fd00:30::2 dev eth0',
]

interface Site {
  readonly host: LanHost
  readonly node: WiredNode
  readonly ip: DeadlyIp
  readonly stateDir: string
}

async function makeSite(t: Test, commands: readonly string[] = rich, settings = moving): Promise<Site> {
  const folder = tempFolder(t)
  const lan = await startLan({ hosts: 1 })
  t.teardown(() => lan.close())
  const host = lan.hosts[0]!
  await host.must('ip', ['-batch', '-'], { input: commands.map(line => `${line}\n`).join('') })
  await settledAddresses(host)
  const ip = makeDeadlyIp(folder)
  const node = await startWiredNode(host, { folder, settings, ipam, env: ip.env })
  return { host, node, ip, stateDir: node.daemon().stateDir }
}

const list = async (node: WiredNode): Promise<UplinksReply['uplinks']> =>
  (JSON.parse((await node.daemon().control('uplinks', '-o', 'json')).stdout) as UplinksReply).uplinks

t.test('addresses and routes move with the first pod, and back by command', { skip }, async t => {
  const { host, node, stateDir } = await makeSite(t)
  const before = await hostAddressing(host)
  t.same(await list(node), [])
  const pod = await node.pod()
  const { interfaces } = await pod.add()

  const after = await hostAddressing(host)
  const onUplink = after.filter(line => /\beth0\b/.test(line) && !/ff00::|^eth0 +inet6 fe80/.test(line))
  t.same(onUplink, [], 'nothing stays on the uplink')
  const renamed = before
    .filter(line => /\beth0\b/.test(line))
    .map(line => line.replaceAll('eth0', 'ipkul0'))
    .sort()
  t.same(after.filter(line => /\bipkul0\b/.test(line)).sort(), renamed, 'all is on the bridge, as it was')
  const shown = JSON.parse(await host.must('ip', ['-json', 'link'])) as { ifname: string; address: string }[]
  const macOf = (name: string): string | undefined => shown.find(link => link.ifname === name)?.address
  t.equal(macOf('ipkul0'), macOf('eth0'), 'under the MAC by which others know it')
  t.match(interfaces[0], { name: 'ipkul0', mac: macOf('eth0') })

  t.match(await list(node), [
    {
      ...{ bridge: 'ipkul0', uplink: 'eth0', state: 'joined', made: true, routes: 8 },
      addresses: [/10\.30\.0\.11\/24/, /10\.40/, /10\.30\.0\.21/, /10\.30\.0\.22/, /fd00/, /fd00/, /fd00/],
      ports: [/^ipk[0-9a-f]{12}$/],
    },
  ])
  t.match((await node.daemon().control('uplinks')).stdout, /ipkul0 +eth0 +joined .*10\.30\.0\.11\/24/)

  await t.test('the bridge stays when the daemon stops, and is used by the next', async t => {
    t.equal(await node.daemon().stop(), 0)
    t.same(await hostAddressing(host), after)
    await node.startDaemon()
    t.same(await hostAddressing(host), after)
    const second = await node.pod()
    await second.add()
    await second.del()
    t.same(await hostAddressing(host), after)
  })

  await t.test('not while pods are ports of it', async t => {
    const refused = await node.daemon().control('restore-uplink', 'ipkul0')
    t.equal(refused.exit, 1)
    t.match(refused.stderr, /IPK_UPLINK_IN_USE.*ipkul0|ipkul0 has 1 other port/s)
    t.same(await hostAddressing(host), after, 'nothing is touched')
  })

  await pod.del()
  const restored = await node.daemon().control('restore-uplink', 'ipkul0', '-o', 'json')
  t.equal(restored.exit, 0, restored.stderr)
  t.match((JSON.parse(restored.stdout) as RestoreUplinkReply).restored, { bridge: 'ipkul0', uplink: 'eth0' })
  t.same(await hostAddressing(host), before, 'as if nothing had been')
  t.same(await list(node), [])
  t.same(readdirSync(join(stateDir, 'uplinks')), [])
  for (const name of ['ipkul0', '../leases', 'eth0']) {
    const unknown = await node.daemon().control('restore-uplink', name)
    t.equal(unknown.exit, 1)
    t.match(unknown.stderr, /no uplink was made|no name of an interface/)
  }
})

t.test('what came to the bridge later goes to the uplink as well', { skip }, async t => {
  const { host, node } = await makeSite(t, [])
  const pod = await node.pod()
  await pod.add()
  await pod.del()
  const commands = [
    'address delete 10.30.0.11/24 dev ipkul0',
    'address add 10.30.0.33/24 dev ipkul0',
    'route add 10.60.0.0/16 via 10.30.0.1 dev ipkul0',
    'route replace default via 10.30.0.1 dev ipkul0 metric 3',
  ]
  await host.must('ip', ['-batch', '-'], { input: `${commands.join('\n')}\n` })
  const expected = (await hostAddressing(host))
    .filter(line => /\bipkul0\b/.test(line))
    .map(line => line.replaceAll('ipkul0', 'eth0'))
  t.equal((await node.daemon().control('restore-uplink', 'ipkul0')).exit, 0)
  const after = (await hostAddressing(host)).filter(line => /\beth0\b/.test(line))
  t.same([...after].sort(), [...expected].sort())
})

t.test('a step that the kernel refuses takes all back', { skip }, async t => {
  const { host, node, ip, stateDir } = await makeSite(t)
  const before = await hostAddressing(host)
  const pod = await node.pod()
  // After the bridge was made, became the uplink's, and has some of what moves.
  for (const commands of [2, 5, 9, 14]) {
    ip.refuseAfter(commands)
    t.match(await pod.fails('ADD'), { code: 143, msg: /Device or resource busy/ }, `after ${commands}`)
    t.same(await hostAddressing(host), before, `after ${commands}`)
    t.same(readdirSync(join(stateDir, 'uplinks')), [], `after ${commands}`)
  }
  await pod.add()
  t.match(await list(node), [{ state: 'joined' }])
})

t.test('a host where new links have no IPv6', { skip }, async t => {
  const { host, node } = await makeSite(t)
  const before = await hostAddressing(host)
  await host.must('tee', ['/proc/sys/net/ipv6/conf/default/disable_ipv6'], { input: '1' })
  const pod = await node.pod()
  await pod.add()
  t.match(
    (await hostAddressing(host)).filter(line => /^ipkul0 +inet6 fd/.test(line)).length,
    before.filter(line => /^eth0 +inet6 fd/.test(line)).length,
    'the bridge has what the uplink had',
  )
})

t.test('what somebody did by hand', { skip }, async t => {
  const { host, node } = await makeSite(t)
  const before = await hostAddressing(host)
  const pod = await node.pod()
  await pod.add()

  await t.test('the bridge was deleted: its addresses go back to the uplink', async t => {
    await host.must('ip', ['link', 'delete', 'ipkul0'])
    await node.daemon().stop()
    await node.startDaemon()
    t.same(await hostAddressing(host), before)
    t.same(await list(node), [])
  })

  await t.test('the uplink was taken out: the next pod puts it back', async t => {
    await pod.del()
    await pod.add()
    const joined = await hostAddressing(host)
    await host.must('ip', ['link', 'set', 'eth0', 'nomaster'])
    const second = await node.pod()
    // Its host view is at most 10 s old.
    await node.daemon().stop()
    await node.startDaemon()
    await second.add()
    t.match(JSON.parse(await host.must('ip', ['-json', 'link', 'show', 'eth0'])), [{ master: 'ipkul0' }])
    t.same(await hostAddressing(host), joined)
    await second.del()
  })

  await t.test('the bridge was deleted, and the uplink has addresses again: they count', async t => {
    await host.must('ip', ['link', 'delete', 'ipkul0'])
    await host.must('ip', ['address', 'add', '10.30.0.99/24', 'dev', 'eth0'])
    await node.daemon().stop()
    await node.startDaemon()
    const shown = (await hostAddressing(host)).filter(line => /eth0 +inet /.test(line))
    t.equal(shown.length, 1)
    t.match(shown[0], /10\.30\.0\.99/)
    t.same(await list(node), [])
  })
})

t.test('records that mean nothing now', { skip }, async t => {
  const { host, node, stateDir } = await makeSite(t)
  const pod = await node.pod()
  await pod.add()
  await pod.del()
  const path = join(stateDir, 'uplinks', 'ipkul0.json')
  const record = JSON.parse(readFileSync(path, 'utf8')) as object

  await t.test('of another boot', async t => {
    await node.daemon().stop()
    writeFileSync(path, JSON.stringify({ ...record, bootId: 'another', phase: 'joining' }))
    const before = await hostAddressing(host)
    await node.startDaemon()
    t.same(await hostAddressing(host), before, 'nothing is taken back')
    t.notOk(existsSync(path))
  })

  await t.test('cut short', async t => {
    await node.daemon().stop()
    writeFileSync(path, JSON.stringify(record).slice(0, 100))
    const before = await hostAddressing(host)
    const daemon = await node.startDaemon()
    await logs(t, daemon, /uplinks\/ipkul0\.json cannot be read/)
    t.same(await hostAddressing(host), before)
    t.ok(existsSync(path), 'it is left to the administrator')
    const refused = await daemon.control('restore-uplink', 'ipkul0')
    t.match([refused.exit, refused.stderr], [1, /cannot be read.*mend that by hand/s])
  })
})

/** Every third command is enough for each run: about fifty are killed in all. */
const stride = isWhole ? 1 : 3

t.test('kill -9 at any command', { skip }, async t => {
  const { host, node, ip, stateDir } = await makeSite(t)
  const before = await hostAddressing(host)
  const isKilled = async (
    call: () => Promise<{ readonly exit: number | null }>,
    step: number,
  ): Promise<boolean> => {
    ip.killAfter(step)
    const { exit } = await call()
    ip.killAfter(undefined)
    if (exit === 0) return false
    await node.daemon().stop('SIGKILL')
    const defaults = await host.must('ip', ['route', 'show', 'default'])
    t.match(defaults, /default/, `${step}: the default route was there all the time`)
    await node.startDaemon()
    return true
  }

  await t.test('while they move to the bridge', async t => {
    let step = 0
    for (; step < 200; step += stride) {
      const pod = await node.pod()
      // A plugin whose daemon is gone waits for the next one until its time is over.
      await isKilled(() => pod.call('ADD', { ipam: { timeout: 1 } }), step)
      const [joined] = await list(node)
      // The commands after the last one of the move are those of the pod.
      if (joined) t.equal(joined.state, 'joined')
      else t.same(await hostAddressing(host), before, `${step}: the next daemon takes all back`)
      await pod.del()
      if (joined) break
      t.same(readdirSync(join(stateDir, 'uplinks')), [])
    }
    t.ok(step > 25, `${step} commands`)
  })

  await t.test('while they move back', async t => {
    let step = 0
    for (; step < 200; step += stride) {
      if (!(await isKilled(() => node.daemon().control('restore-uplink', 'ipkul0'), step))) break
      t.same(await hostAddressing(host), before, `${step}: the next daemon does the rest`)
      t.notOk(existsSync(join(stateDir, 'uplinks', 'ipkul0.json')))
      const pod = await node.pod()
      await pod.add()
      await pod.del()
    }
    t.ok(step > 20, `${step} commands`)
    t.same(await hostAddressing(host), before)
  })
})
