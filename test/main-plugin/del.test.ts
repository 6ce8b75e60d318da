/** DEL with whatever it finds: its own goes, and nothing else. */
import t, { type Test } from 'tap'
import { median } from '../../bench/statistics.ts'
import { kernelState, settledState, type KernelState } from '../rigs/kernel-state.ts'
import { makeNetworkNamespace } from '../rigs/netns.ts'
import { addUplink, wiredModes } from '../rigs/wired-modes.ts'
import { makeWiredNode, type Settings, type WiredNode, type WiredPod } from '../rigs/wired-node.ts'

/** A node that has had a pod already, so that what stays for the next one is in the picture, and a second pod runs. */
async function makeSite(
  t: Test,
  settings: Settings,
): Promise<{ readonly node: WiredNode; readonly neighbour: WiredPod; readonly before: KernelState }> {
  const node = await makeWiredNode(t, { settings })
  await addUplink(node)
  const first = await node.pod()
  await first.add()
  await first.del()
  await first.namespace.delete()
  const neighbour = await node.pod({ name: 'neighbour' })
  await neighbour.add()
  return { node, neighbour, before: await kernelState(node.host) }
}

/** Ways in which the namespace of a pod is no longer what it was. Each gives the netns to call DEL with. */
const ways: Readonly<Record<string, (node: WiredNode, pod: WiredPod) => Promise<string>>> = {
  'as it was': (_, pod) => Promise.resolve(pod.namespace.path),
  gone: async (_, pod) => {
    await pod.namespace.delete()
    return pod.namespace.path
  },
  'not named': (_, pod) => pod.namespace.delete().then(() => ''),
  'a plain file': async (node, pod) => {
    await pod.namespace.delete()
    await node.host.must('touch', [pod.namespace.path])
    return pod.namespace.path
  },
  "the host's own": () => Promise.resolve('/proc/self/ns/net'),
}

for (const [mode, { settings, skip }] of Object.entries(wiredModes)) {
  t.test(`DEL, mode ${mode}`, { skip }, async t => {
    const { node, before } = await makeSite(t, settings)
    const neighbours = await node.daemon().boundLeases()
    for (const [way, change] of Object.entries(ways)) {
      await t.test(`the namespace is ${way}`, async t => {
        const pod = await node.pod()
        await pod.add()
        const netns = await change(node, pod)
        await pod.del({ netns })
        t.same(await node.daemon().boundLeases(), neighbours)
        await pod.namespace.delete()
        await node.host.run('rm', ['-f', pod.namespace.path])
        t.same(await settledState(node.host, before), before)
        await pod.del({ netns })
        t.same(await kernelState(node.host), before, 'a second DEL finds nothing to do')
      })
    }

    await t.test("another pod's namespace is at the path", async t => {
      const pod = await node.pod()
      await pod.add()
      await pod.namespace.delete()
      const squatter = await makeNetworkNamespace(node.host)
      const other = await node.pod({ name: 'squatter', netns: squatter.path })
      await other.add()
      const squatters = await kernelState(node.host, squatter.name)
      await pod.del({ netns: squatter.path })
      const after = await kernelState(node.host, squatter.name)
      t.same({ ...after, namespaces: [] }, { ...squatters, namespaces: [] }, 'it is as it was')
      t.same(
        (await node.daemon().boundLeases()).filter(lease => lease.containerId === pod.containerId),
        [],
      )
      await other.del()
      await squatter.delete()
      await other.namespace.delete()
      t.same(await settledState(node.host, before), before)
    })

    await t.test('of a pod that was never added', async t => {
      const pod = await node.pod()
      const with_ = await kernelState(node.host)
      await pod.del()
      await pod.del({ netns: '' })
      t.same(await kernelState(node.host), with_)
      t.same(await node.daemon().boundLeases(), neighbours)
      await pod.namespace.delete()
    })

    await t.test('an interface that somebody else made is left alone', async t => {
      const pod = await node.pod()
      const own = 'link add eth0 type veth peer name eth9\nlink set eth0 up\n'
      await node.host.must('ip', ['-n', pod.namespace.name, '-batch', '-'], { input: own })
      const theirs = await kernelState(node.host, pod.namespace.name)
      await pod.del()
      t.same(await kernelState(node.host, pod.namespace.name), theirs)
      await pod.namespace.delete()
    })

    await t.test('without the daemon it is done when the daemon is back', async t => {
      const pod = await node.pod()
      await pod.add()
      await node.daemon().stop()
      await pod.del({ ipam: { timeout: 1 } })
      await node.startDaemon()
      t.same(await node.daemon().boundLeases(), neighbours)
      await t.rejects(pod.namespace.addresses('eth0'), 'also in a namespace that still lives')
      await pod.namespace.delete()
      t.same(await settledState(node.host, before), before)
    })
  })

  t.test(`DEL does not wait for the kernel, mode ${mode}`, { skip }, async t => {
    const { node } = await makeSite(t, settings)
    const pods = await Promise.all(Array.from({ length: 8 }, () => node.pod()))
    for (const pod of pods) await pod.add()
    for (const pod of pods.slice(0, 4)) await pod.namespace.delete()
    const times: number[] = []
    for (const pod of pods) {
      const { exit, ms } = await pod.call('DEL')
      t.equal(exit, 0)
      times.push(ms)
    }
    // The kernel would hold each of them up; a busy machine holds up one or two.
    t.ok(median(times) < 1_000, times.map(Math.round).join(', '))
  })

  t.test(`a new sandbox of a pod while the old one lives, mode ${mode}`, { skip }, async t => {
    const { node, before } = await makeSite(t, settings)
    const old = await node.pod({ name: 'web-0', annotations: { 'ipkeeper.io/ip': '10.22.0.50' } })
    await old.add()
    const fresh = await old.again()
    const prevResult = await fresh.add()
    t.match(await fresh.namespace.addresses('eth0'), ['10.22.0.50/16'])
    const after = [await kernelState(node.host), await kernelState(node.host, fresh.namespace.name)]
    const leases = await node.daemon().boundLeases()
    t.match(
      leases.find(lease => lease.address === '10.22.0.50'),
      { containerId: fresh.containerId },
    )
    await old.del()
    const late = [await kernelState(node.host), await kernelState(node.host, fresh.namespace.name)]
    t.same(late, after, 'the late DEL of the old one touches nothing of the new one')
    t.same(await node.daemon().boundLeases(), leases)
    t.equal((await fresh.call('CHECK', { prevResult })).exit, 0, 'and CHECK says so')
    await fresh.del()
    for (const pod of [old, fresh]) await pod.namespace.delete()
    t.same(await settledState(node.host, before), before)
  })
}
