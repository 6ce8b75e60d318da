/** Whether packets arrive: between pods of one node, between a pod and its node, and from a pod to itself. */
import t from 'tap'
import { askEcho, echoPort, serveEcho, type Place } from '../rigs/echo.ts'
import { missing } from '../rigs/requirements.ts'
import { servedPod, type ServedPod } from '../rigs/served-pod.ts'
import { makeWiredNode, type Settings } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const modes: Readonly<Record<string, Settings>> = {
  bridge: { mode: 'bridge' },
  ptp: { mode: 'ptp' },
}
const families = [4, 6] as const

for (const [mode, settings] of Object.entries(modes)) {
  t.test(`on one node, mode ${mode}`, { skip }, async t => {
    const node = await makeWiredNode(t, { settings })
    const [one, two] = [await servedPod(node, 'one'), await servedPod(node, 'two')]
    const host: Place = { host: node.host }
    await serveEcho(host, 'node', echoPort)

    for (const family of families) {
      await t.test(`IPv${family}`, async t => {
        const there = two.addresses[family]
        for (const protocol of ['udp', 'tcp'] as const) {
          t.match(
            await askEcho(one, there, { protocol }),
            { name: 'two', from: one.addresses[family] },
            `pod to pod, ${protocol}`,
          )
          t.match(await askEcho(host, there, { protocol }), { name: 'two' }, `node to pod, ${protocol}`)
          const gateway = family === 4 ? '10.22.0.1' : 'fd00:22::1'
          t.match(
            await askEcho(two, gateway, { protocol }),
            { name: 'node', from: there },
            `pod to node, ${protocol}`,
          )
        }
      })

      await t.test(`a pod reaches itself through an address of the node, IPv${family}`, async t => {
        const [published, table] = family === 4 ? ['192.0.2.80', 'ip'] : ['2001:db8::80', 'ip6']
        const to = family === 4 ? one.addresses[4] : `[${one.addresses[6]}]`
        // What portmap and kube-proxy do: the destination becomes the pod, the source the node.
        const rules = [
          `add table ${table} published`,
          `add chain ${table} published before { type nat hook prerouting priority -100; }`,
          `add chain ${table} published after { type nat hook postrouting priority 100; }`,
          `add rule ${table} published before ${table} daddr ${published} udp dport 80 dnat to ${to}:${echoPort}`,
          `add rule ${table} published after ct status dnat masquerade`,
        ]
        await node.host.must('ip', ['address', 'add', published, 'dev', 'lo'])
        await node.host.must('nft', ['-f', '-'], { input: `${rules.join('\n')}\n` })
        t.match(await askEcho(one, published, { port: 80 }), { name: 'one' })
        t.match(await askEcho(two, published, { port: 80 }), { name: 'one' }, 'and so does another')
      })
    }

    await t.test('a pod that came back under its address is reached at once', async t => {
      const address = two.addresses[4]
      t.match(await askEcho(one, address), { name: 'two' }, 'its neighbour knows its MAC')
      await two.pod.del()
      t.equal(await askEcho(one, address, { milliseconds: 300 }), undefined, 'it is gone')
      const back = await node.pod({
        name: 'three',
        annotations: { 'ipkeeper.io/ip': address, 'ipkeeper.io/mac': '02:00:00:00:00:77' },
      })
      await back.add()
      await serveEcho({ host: node.host, namespace: back.namespace }, 'three')
      for (const from of [one, host])
        t.match(await askEcho(from, address, { milliseconds: 1_000 }), { name: 'three' }, 'under 1 s')
    })
  })
}

/** How many datagrams a pod had to cut into pieces so far. */
async function cuts({ host, pod }: ServedPod): Promise<number> {
  const files = ['/proc/net/snmp', '/proc/net/snmp6']
  const text = await host.must('ip', ['netns', 'exec', pod.namespace.name, 'cat', ...files])
  const [names = '', values = ''] = text.split('\n').filter(line => line.startsWith('Ip:'))
  const ipv4 = Number(values.split(' ')[names.split(' ').indexOf('FragOKs')])
  return ipv4 + Number(/^Ip6FragOKs\s+(\d+)$/m.exec(text)?.[1])
}

const headers = { 4: 28, 6: 48 }

for (const [mode, settings] of Object.entries(modes)) {
  t.test(`MTU of mode ${mode}`, { skip }, async t => {
    const node = await makeWiredNode(t, { settings: { ...settings, mtu: 1400 } })
    const [one, two] = [await servedPod(node, 'one'), await servedPod(node, 'two')]
    for (const family of families) {
      const fits = 1400 - headers[family]
      const before = await cuts(one)
      t.match(await askEcho(one, two.addresses[family], { bytes: fits }), { bytes: fits })
      t.equal(await cuts(one), before, `IPv${family}: ${fits} bytes go in one piece`)
      t.match(await askEcho(one, two.addresses[family], { bytes: fits + 1 }), { bytes: fits + 1 })
      t.ok((await cuts(one)) > before, 'one more goes in two')
      const much = 1_000_000
      t.match(
        await askEcho(one, two.addresses[family], { protocol: 'tcp', bytes: much }),
        { bytes: much },
        'a long stream arrives',
      )
    }
  })

  t.test(`MTU of mode ${mode} that nobody chose`, { skip }, async t => {
    const node = await makeWiredNode(t, { settings })
    const way = 'link add way0 mtu 1380 type veth peer name way1\nlink set way0 up\nlink set way1 up\n'
    await node.host.must('ip', ['-batch', '-'], {
      input: `${way}address add 192.0.2.2/24 dev way0\nroute add default via 192.0.2.1\n`,
    })
    const pod = await node.pod()
    const { interfaces } = await pod.add()
    t.match(
      interfaces.filter(link => link.mtu !== undefined).map(link => link.mtu),
      [1380],
      'that of the way outside',
    )
    t.match(await pod.namespace.ip('link', 'show', 'dev', 'eth0'), [{ mtu: 1380 }])
  })
}
