/** Pods that are in the network of their hosts: reached from other hosts, and again at once when an address moves. */
import t, { type Test } from 'tap'
import { askEcho, followEcho, serveEcho, type Place } from '../rigs/echo.ts'
import { kernelState, partOf } from '../rigs/kernel-state.ts'
import { beyond, lanSubnets, uplink } from '../rigs/lan.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { makeWiredLan, type WiredLan } from '../rigs/wired-lan.ts'
import { addressOf, type PodOptions, type Settings, type WiredPod } from '../rigs/wired-node.ts'

const needs = missing('namespaces', 'nft', 'executables')

const modes: Readonly<Record<string, { readonly settings: Settings; readonly skip: false | string }>> = {
  underlay: { settings: { mode: 'underlay', uplink, moveHostAddresses: true }, skip: needs },
  macvlan: { settings: { mode: 'macvlan', uplink }, skip: needs === false ? missing('macvlan') : needs },
}
const families = [4, 6] as const
/** Milliseconds. Who still believes in the MAC of before asks anew after five seconds at the earliest (delay_first_probe_time). */
const soon = 2_000

/** Each host gives addresses of its own part of the LAN; annotations may name any of it. */
function lanIpam(): Settings {
  return {
    ranges: [
      [{ subnet: lanSubnets.ipv4, gateway: '10.30.0.1', rangeStart: '10.30.0.100' }],
      [{ subnet: lanSubnets.ipv6, gateway: 'fd00:30::1', rangeStart: 'fd00:30::100' }],
    ],
    routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
  }
}

const makeSite = (t: Test, settings: Settings, hosts = 2): Promise<WiredLan> =>
  makeWiredLan(t, { hosts }, () => ({ settings, ipam: lanIpam() }))

interface Served extends Place {
  readonly pod: WiredPod
  readonly addresses: Readonly<Record<4 | 6, string>>
}

/** Adds a pod that answers whoever asks. */
async function serve(
  { nodes }: WiredLan,
  number: number,
  name: string,
  options: PodOptions,
): Promise<Served> {
  const node = nodes[number - 1]!
  const pod = await node.pod({ name, ...options })
  const result = await pod.add()
  const place = { host: node.host, namespace: pod.namespace }
  await serveEcho(place, name)
  return { ...place, pod, addresses: { 4: addressOf(result, 4), 6: addressOf(result, 6) } }
}

const named = (last: number): PodOptions => ({
  annotations: { 'ipkeeper.io/ip': `10.30.0.${last},fd00:30::${last}` },
})

for (const [mode, { settings, skip }] of Object.entries(modes)) {
  t.test(`pods of two hosts, mode ${mode}`, { skip }, async t => {
    const lan = await makeSite(t, settings)
    await serveEcho({ host: lan.outside }, 'outside')
    const one = await serve(lan, 1, 'one', named(150))
    const neighbour = await serve(lan, 1, 'neighbour', named(151))
    const two = await serve(lan, 2, 'two', named(152))
    const far = { 4: beyond.ipv4, 6: beyond.ipv6 }
    for (const family of families) {
      const from = one.addresses[family]
      t.match(await askEcho(one, neighbour.addresses[family]), { name: 'neighbour', from }, 'on one host')
      t.match(await askEcho(one, two.addresses[family]), { name: 'two', from }, 'on another host')
      t.match(await askEcho(two, from, { protocol: 'tcp' }), { name: 'one' }, 'and back')
      t.match(
        await askEcho(one, far[family]),
        { name: 'outside', from },
        'beyond the router, under its own address',
      )
      t.match(await askEcho({ host: lan.outside }, from), { name: 'one' }, 'from the router')
      t.match(await askEcho({ host: lan.hosts[1]! }, from), { name: 'one' }, 'from another host')
    }
    if (mode === 'underlay')
      for (const family of families)
        t.match(
          await askEcho({ host: lan.hosts[0]! }, one.addresses[family]),
          { name: 'one' },
          'from its own host',
        )
    const mtu = await one.pod.namespace.ip('link', 'show', 'dev', 'eth0')
    t.match(mtu, [{ mtu: 1500 }], 'the MTU of the uplink')
  })

  t.test(`an address moves from host to host, mode ${mode}`, { skip }, async t => {
    const lan = await makeSite(t, settings, 3)
    const client = await serve(lan, 3, 'client', named(160))
    const host: Place = { host: lan.outside }
    for (const family of families) {
      await t.test(`IPv${family}`, async t => {
        let holder = await serve(lan, 1, 'first', named(150))
        const address = holder.addresses[family]
        // What is on the way now is known to both, and to the switch.
        for (const from of [client, host]) t.match(await askEcho(from, address), { name: 'first' })
        for (const [number, name] of [
          [2, 'second'],
          [1, 'third'],
        ] as const) {
          const following = [client, host].map(from => followEcho(from, address))
          await until('they are answered', () => following.every(({ answers }) => answers.length > 0))
          await holder.pod.del()
          const added = await lan.nodes[number - 1]!.pod({ name: 'first', ...named(150) })
          // A MAC of its own: that of an address would hide a stale entry.
          const other = {
            annotations: {
              ...named(150).annotations,
              'ipkeeper.io/mac': `02:00:00:00:0${family}:0${number}`,
            },
          }
          await added.add(other)
          const place = { host: lan.hosts[number - 1]!, namespace: added.namespace }
          await serveEcho(place, name)
          const begun = performance.now()
          for (const { answers } of following) {
            const reached = (): boolean => answers.some(answer => answer.name === name)
            await until('the new place is reached', reached, 5_000).catch(() => undefined)
            const first = answers.find(answer => answer.name === name)
            t.ok(
              first !== undefined && first.at - begun < soon,
              `${name}: after ${Math.round((first?.at ?? Infinity) - begun)} ms`,
            )
          }
          await Promise.all(following.map(({ stop }) => stop()))
          holder = { ...place, pod: added, addresses: holder.addresses }
        }
        await holder.pod.del()
      })
    }
  })

  t.test(`somebody else has the address, mode ${mode}`, { skip }, async t => {
    const lan = await makeSite(t, settings, 1)
    const [node] = lan.nodes
    const first = await node!.pod()
    await first.add()
    await first.del()
    for (const family of families) {
      const taken = family === 4 ? '10.30.0.170' : 'fd00:30::170'
      const prefix = family === 4 ? '24' : '64'
      await lan.outside.must('ip', ['address', 'add', `${taken}/${prefix}`, 'dev', uplink])
      const pod = await node!.pod({ annotations: { 'ipkeeper.io/ip': taken } })
      const before = partOf(await kernelState(node!.host), 'links', 'addresses', 'routes', 'ruleset')
      const error = await pod.fails('ADD')
      t.equal(error.code, 144)
      const text = `${error.msg} ${error.details ?? ''}`
      t.match(text, taken)
      // Whose answer made the kernel give up an IPv6 address, it does not tell; it is asked for, as long as there is time.
      t.match(text, family === 4 ? await macOf(lan) : /on the network has/, 'it names the MAC that answered')
      t.same(partOf(await kernelState(node!.host), 'links', 'addresses', 'routes', 'ruleset'), before)
      t.same(await node!.daemon().boundLeases(), [])
      await pod.del()
    }
  })
}

async function macOf({ outside }: WiredLan): Promise<string> {
  const [link] = JSON.parse(await outside.must('ip', ['-json', 'link', 'show', 'dev', uplink])) as readonly {
    address: string
  }[]
  return link?.address ?? ''
}

t.test('the addressing of a host moves to the bridge, and back', { skip: needs }, async t => {
  const lan = await makeSite(t, modes['underlay']!.settings, 1)
  const [node] = lan.nodes
  await serveEcho({ host: lan.outside }, 'outside')
  const reachesOut = async (when: string): Promise<void> => {
    for (const address of [beyond.ipv4, beyond.ipv6])
      t.match(await askEcho({ host: node!.host }, address), { name: 'outside' }, `${when}: ${address}`)
  }
  const addressing = async (): Promise<unknown> =>
    partOf(await kernelState(node!.host), 'addresses', 'routes')
  const before = await addressing()
  const pod = await node!.pod(named(150))
  await pod.add()
  const { addresses } = await kernelState(node!.host)
  t.ok(addresses.includes('ipkul0 10.30.0.11/24') && addresses.includes('ipkul0 fd00:30::11/64'))
  t.notOk(addresses.some(address => address.startsWith(`${uplink} `)))
  await reachesOut('the bridge has the way out')
  await pod.del()
  await reachesOut('without pods')
  const restored = await node!.daemon().control('restore-uplink', 'ipkul0')
  t.equal(restored.exit, 0, restored.stderr)
  t.same(await addressing(), before)
  await reachesOut('the uplink has it again')
})
