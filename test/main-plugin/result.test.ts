/** What an ADD of the main plugin says, in every version of the protocol, and that the kernel has what it says. */
import t from 'tap'
import { missing } from '../rigs/requirements.ts'
import { makeWiredNode, type Settings, type WiredResult } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const modes: Readonly<Record<string, Settings>> = {
  bridge: { mode: 'bridge', bridge: 'ipk0' },
  ptp: { mode: 'ptp' },
}
const versions = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0']
const annotations = {
  'ipkeeper.io/ip': '10.22.0.50,fd00:22::50',
  'ipkeeper.io/mac': '02:42:ac:11:00:02',
}
const dns = { nameservers: ['10.22.0.53'], domain: 'shop.example', search: ['example'], options: ['ndots:5'] }

interface Link {
  readonly ifname: string
  readonly address: string
  readonly mtu: number
  readonly ifalias?: string
  readonly master?: string
  readonly flags: readonly string[]
}

for (const [mode, settings] of Object.entries(modes)) {
  t.test(`a Result of ${mode}`, { skip }, async t => {
    const node = await makeWiredNode(t, { settings: { ...settings, mtu: 1400, dns } })
    for (const cniVersion of versions) {
      await t.test(cniVersion, async t => {
        const pod = await node.pod({ annotations, settings: { cniVersion } })
        const printed = await pod.call('ADD')
        t.equal(printed.exit, 0, printed.stdout + printed.stderr)
        const result = JSON.parse(printed.stdout) as WiredResult & Settings
        t.equal(result.cniVersion, cniVersion)
        const addresses = ['10.22.0.50/16', 'fd00:22::50/64']
        t.same(await pod.namespace.addresses('eth0'), addresses, 'the interface has them')

        if (cniVersion < '0.3.0') {
          t.strictSame(result, {
            cniVersion,
            ip4: { ip: addresses[0], gateway: '10.22.0.1', routes: [{ dst: '0.0.0.0/0', gw: '10.22.0.1' }] },
            ip6: { ip: addresses[1], gateway: 'fd00:22::1', routes: [{ dst: '::/0', gw: 'fd00:22::1' }] },
            dns,
          })
        } else {
          const inPod = result.interfaces.findIndex(link => link.sandbox !== undefined)
          const version = (number: string): Settings => (cniVersion < '1.0.0' ? { version: number } : {})
          t.strictSame(result.ips, [
            { ...version('4'), interface: inPod, address: addresses[0], gateway: '10.22.0.1' },
            { ...version('6'), interface: inPod, address: addresses[1], gateway: 'fd00:22::1' },
          ])
          t.same(result.routes, [
            { dst: '0.0.0.0/0', gw: '10.22.0.1' },
            { dst: '::/0', gw: 'fd00:22::1' },
          ])
          t.strictSame(result.dns, dns)

          const ofHost = JSON.parse(await node.host.must('ip', ['-json', 'link'])) as readonly Link[]
          const ofPod = (await pod.namespace.ip('link')) as readonly Link[]
          for (const { name, mac, mtu, sandbox } of result.interfaces) {
            const link = (sandbox === undefined ? ofHost : ofPod).find(({ ifname }) => ifname === name)
            t.ok(link, `${name} is there`)
            t.equal(mac, link?.address, `MAC of ${name}`)
            t.ok(link?.flags.includes('UP'), `${name} is up`)
            if (cniVersion < '1.1.0') t.equal(mtu, undefined, 'no MTU before 1.1.0')
            else if (/^(ipk[0-9a-f]{12}|eth0)$/.test(name)) t.equal(mtu, link?.mtu, `MTU of ${name}`)
          }
          const [last] = result.interfaces.slice(inPod)
          t.strictSame(last, {
            name: 'eth0',
            mac: '02:42:ac:11:00:02',
            ...(cniVersion === '1.1.0' && { mtu: 1400 }),
            sandbox: pod.namespace.path,
          })
          const hostSide = result.interfaces[inPod - 1]
          const link = ofHost.find(({ ifname }) => ifname === hostSide?.name)
          t.match(hostSide?.name, /^ipk[0-9a-f]{12}$/)
          t.match(link, { mtu: 1400, ifalias: /ipkeeper/, ...(mode === 'bridge' && { master: 'ipk0' }) })
          t.equal(result.interfaces.length, mode === 'bridge' ? 3 : 2)
        }
        for (const family of ['-4', '-6'])
          t.match(await pod.namespace.ip(family, 'route', 'show', 'default'), [
            { dst: 'default', gateway: family === '-4' ? '10.22.0.1' : 'fd00:22::1' },
          ])
        await pod.del()
        t.same(await node.daemon().boundLeases(), [])
        await t.rejects(pod.namespace.addresses('eth0'), 'the interface is gone')
      })
    }
  })
}

t.test('a MAC that nobody asked for is always the same for an address', { skip }, async t => {
  const node = await makeWiredNode(t)
  const macs = new Set<string>()
  for (const name of ['one', 'two']) {
    const pod = await node.pod({ name, annotations: { 'ipkeeper.io/ip': '10.22.0.51' } })
    const { interfaces } = await pod.add()
    macs.add(interfaces.find(link => link.sandbox !== undefined)?.mac ?? '')
    await pod.del()
  }
  t.same([...macs], ['0a:58:0a:16:00:33'])
})

t.test('routes with every key of rtnetlink, and sysctls of the pod', { skip }, async t => {
  const routes = [
    { dst: '192.0.2.0/24', priority: 50, mtu: 1300, advmss: 1200 },
    { dst: '198.51.100.0/24', table: 100 },
    { dst: '203.0.113.0/24', scope: 253 },
    { dst: '2001:db8::/32', gw: 'fd00:22::7', priority: 60 },
  ]
  const node = await makeWiredNode(t, {
    settings: {
      sysctl: { 'net.ipv4.conf.IFNAME.arp_notify': '1', 'net.ipv4.ip_local_port_range': '2000 3000' },
    },
  })
  const pod = await node.pod()
  const { routes: told } = await pod.add({ ipam: { routes } })
  t.same(told, [{ ...routes[0], gw: '10.22.0.1' }, { ...routes[1], gw: '10.22.0.1' }, routes[2], routes[3]])
  const there = (await pod.namespace.ip('route', 'show', 'table', 'all')) as readonly Settings[]
  const six = (await pod.namespace.ip('-6', 'route', 'show')) as readonly Settings[]
  const route = (dst: string): Settings | undefined => [...there, ...six].find(entry => entry['dst'] === dst)
  t.match(route('192.0.2.0/24'), { gateway: '10.22.0.1', metric: 50, metrics: [{ mtu: 1300, advmss: 1200 }] })
  t.match(route('198.51.100.0/24'), { gateway: '10.22.0.1', table: '100' })
  t.match(route('203.0.113.0/24'), { scope: 'link', dev: 'eth0' })
  t.notMatch(route('203.0.113.0/24'), { gateway: String })
  t.match(route('2001:db8::/32'), { gateway: 'fd00:22::7', metric: 60 })
  const sysctl = await node.host.must('ip', [
    ...['netns', 'exec', pod.namespace.name, 'cat'],
    ...['/proc/sys/net/ipv4/conf/eth0/arp_notify', '/proc/sys/net/ipv4/ip_local_port_range'],
  ])
  t.same(
    sysctl.split(/\s+/).filter(word => word !== ''),
    ['1', '2000', '3000'],
  )
})

t.test('a second interface of a pod', { skip }, async t => {
  const node = await makeWiredNode(t)
  const pod = await node.pod({
    annotations: { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/ip.net1': '10.33.0.7' },
  })
  await pod.add()
  const second = {
    ifname: 'net1',
    settings: { name: 'second', bridge: 'ipk1' },
    ipam: { ranges: [[{ subnet: '10.33.0.0/24' }]], routes: [] },
  }
  const result = await pod.add(second)
  t.match(result.interfaces.at(-1), { name: 'net1', sandbox: pod.namespace.path })
  t.same(await pod.namespace.addresses('net1'), ['10.33.0.7/24'])
  t.match(await pod.namespace.addresses('eth0'), ['10.22.0.50/16', /^fd00:22::/])
  await pod.del(second)
  t.match(await pod.namespace.addresses('eth0'), ['10.22.0.50/16', /^fd00:22::/], 'the first one stays')
  await pod.del()
  t.same(await node.daemon().boundLeases(), [])
})
