/** What the world outside a node sees of its pods: nothing, the node's address, or their own. */
import t from 'tap'
import { askEcho, serveEcho, type Place } from '../rigs/echo.ts'
import { beyond, uplink } from '../rigs/lan.ts'
import { missing } from '../rigs/requirements.ts'
import { makeWiredLan } from '../rigs/wired-lan.ts'
import {
  addressOf,
  type Settings,
  type WiredNode,
  type WiredPod,
  type WiredResult,
} from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const modes: Readonly<Record<string, Settings>> = {
  bridge: { mode: 'bridge', isGateway: true },
  ptp: { mode: 'ptp' },
}
const families = [4, 6] as const

interface Added extends Place {
  readonly pod: WiredPod
  readonly result: WiredResult
}

async function addedPod(node: WiredNode, annotations?: Readonly<Record<string, string>>): Promise<Added> {
  const pod = await node.pod(annotations && { annotations })
  return { pod, result: await pod.add(), host: node.host, namespace: pod.namespace }
}

for (const [mode, settings] of Object.entries(modes)) {
  t.test(`masquerade, mode ${mode}`, { skip }, async t => {
    const lan = await makeWiredLan(t, { hosts: 1 }, () => ({ settings: { ...settings, ipMasq: true } }))
    const [node] = lan.nodes as [WiredNode]
    await serveEcho({ host: lan.outside }, 'outside')
    const pod = await addedPod(node)
    const other = await addedPod(node)
    await serveEcho(other, 'other')
    const nodeAddress = { 4: lan.hosts[0]!.ipv4, 6: lan.hosts[0]!.ipv6 }
    const far = { 4: beyond.ipv4, 6: beyond.ipv6 }
    for (const family of families) {
      for (const protocol of ['udp', 'tcp'] as const) {
        t.match(
          await askEcho(pod, far[family], { protocol }),
          { name: 'outside', from: nodeAddress[family] },
          `IPv${family}, ${protocol}: seen as the node`,
        )
      }
      const own = addressOf(pod.result, family)
      t.match(
        await askEcho(pod, addressOf(other.result, family)),
        { name: 'other', from: own },
        `IPv${family}: never toward another pod`,
      )
    }

    await t.test('a flushed ruleset is mended by the next ADD', async t => {
      await node.host.must('nft', ['flush', 'ruleset'])
      t.equal(await askEcho(pod, beyond.ipv4, { milliseconds: 300 }), undefined)
      const late = await addedPod(node)
      for (const family of families) {
        t.match(await askEcho(late, far[family]), { from: nodeAddress[family] }, 'the new pod')
        t.match(await askEcho(pod, far[family]), { from: nodeAddress[family] }, 'and those before it')
      }
      await late.pod.del()
    })

    await t.test('the ruleset does not grow with the pods', async t => {
      const rules = async (): Promise<number> =>
        (await node.host.must('nft', ['list', 'ruleset'])).split('\n').filter(line => /masquerade/.test(line))
          .length
      const before = await rules()
      t.ok(before > 0)
      const more = [await addedPod(node), await addedPod(node), await addedPod(node)]
      t.equal(await rules(), before)
      for (const { pod: one } of more) await one.del()
      await pod.pod.del()
      await other.pod.del()
      const left = await node.host.must('nft', ['list', 'ruleset'])
      for (const { result } of [pod, other])
        t.notOk(left.includes(`${addressOf(result, 4)} `), 'no element is left')
    })
  })

  t.test(`masquerade of those that were not asked for by name, mode ${mode}`, { skip }, async t => {
    const lan = await makeWiredLan(t, { hosts: 1 }, () => ({ settings: { ...settings, ipMasq: 'unnamed' } }))
    const [node] = lan.nodes as [WiredNode]
    const { outside } = lan
    await serveEcho({ host: outside }, 'outside')
    const [host] = lan.hosts
    // Firewalls see the pod itself, so the router has to know the way to it.
    for (const [subnet, via] of [
      ['10.22.0.0/16', host!.ipv4],
      ['fd00:22::/64', host!.ipv6],
    ] as const)
      await outside.must('ip', ['route', 'add', subnet, 'via', via])
    const named = await addedPod(node, { 'ipkeeper.io/ip': '10.22.0.50,fd00:22::50' })
    const unnamed = await addedPod(node)
    t.match(await askEcho(named, beyond.ipv4), { from: '10.22.0.50' })
    t.match(await askEcho(named, beyond.ipv6), { from: 'fd00:22::50' })
    t.match(await askEcho(unnamed, beyond.ipv4), { from: host!.ipv4 })
    t.match(await askEcho(unnamed, beyond.ipv6), { from: host!.ipv6 })
    const half = await addedPod(node, { 'ipkeeper.io/ip': '10.22.0.51' })
    t.match(await askEcho(half, beyond.ipv4), { from: '10.22.0.51' }, 'one family by name')
    t.match(await askEcho(half, beyond.ipv6), { from: host!.ipv6 }, 'the other one not')
  })

  t.test(`no masquerade unless it is asked for, mode ${mode}`, { skip }, async t => {
    const lan = await makeWiredLan(t, { hosts: 1 }, () => ({ settings }))
    const [node] = lan.nodes as [WiredNode]
    await serveEcho({ host: lan.outside }, 'outside')
    const pod = await addedPod(node)
    t.notMatch(await node.host.must('nft', ['list', 'ruleset']), /masquerade/)
    t.equal(await askEcho(pod, beyond.ipv4, { milliseconds: 300 }), undefined, 'the router knows no way back')
    await lan.outside.must('ip', ['route', 'add', '10.22.0.0/16', 'via', lan.hosts[0]!.ipv4])
    t.match(await askEcho(pod, beyond.ipv4), { from: addressOf(pod.result, 4) })
  })
}

t.test('a smaller MTU on the way is found', { skip }, async t => {
  const lan = await makeWiredLan(t, { hosts: 1 }, () => ({
    settings: { mode: 'bridge', ipMasq: true, mtu: 1500 },
  }))
  const [node] = lan.nodes as [WiredNode]
  await serveEcho({ host: lan.outside }, 'outside')
  await node.host.must('ip', ['link', 'set', uplink, 'mtu', '1300'])
  const pod = await addedPod(node)
  const much = 300_000
  for (const address of [beyond.ipv4, beyond.ipv6])
    t.match(await askEcho(pod, address, { protocol: 'tcp', bytes: much }), { bytes: much })
})
