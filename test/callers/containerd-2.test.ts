/** The packaged plugin on containerd 2, asked over CRI as kubelet does, in a chain of today's plugins. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { annotationsCapability, makeCallerSite } from '../rigs/caller-site.ts'
import { currentContainerd } from '../rigs/containerd-release.ts'
import { startContainerd } from '../rigs/containerd.ts'
import type { Pod } from '../rigs/cri.ts'
import type { Conflist } from '../rigs/pod-runtime.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { hangMs } from '../rigs/poll.ts'

const skip = missing('go', 'callers', 'namespaces', 'runc', 'executables')

t.test('pods on containerd 2', { skip }, async t => {
  const site = await makeCallerSite(t)
  const before = await site.links()
  const conflist = (ipam: unknown): Conflist => ({
    cniVersion: '1.1.0',
    name: 'fixed',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        capabilities: { [annotationsCapability]: true },
        ipam,
      },
      { type: 'bandwidth', capabilities: { bandwidth: true } },
    ],
  })
  const containerd = await startContainerd({
    host: site.host,
    folder: site.folder,
    release: currentContainerd,
    conflist: conflist(site.ipam()),
    plugins: { ipkeeper: testedPlugin },
  })
  const { cri } = containerd
  t.teardown(() => containerd.close())
  const pod = (name: string, annotations: Readonly<Record<string, string>> = {}): Pod => ({
    ...{ namespace: 'shop', name, uid: randomUUID(), annotations },
  })
  const asking = { 'ipkeeper.io/ip': '10.22.0.50' }
  const addresses = async (): Promise<readonly string[]> =>
    (await site.daemon().boundLeases()).map(lease => lease.address)
  const runs = async (t: Test, asked: Pod, address: string): Promise<string> => {
    const id = await cri.run(asked)
    t.match(await cri.status(id), { ready: true, ip: address })
    t.match(
      (await site.daemon().boundLeases()).find(lease => lease.address === address),
      { containerId: id, ifname: 'eth0', pod: { namespace: 'shop', name: asked.name, uid: asked.uid } },
    )
    return id
  }
  const ends = async (id: string): Promise<void> => {
    await cri.stop(id)
    await cri.remove(id)
  }

  t.match(await cri.version(), /^containerd v?2\./)

  await t.test('it asks for STATUS, and reports the network by the answer', async t => {
    // It takes a new list up when it notices the file, and has none at all for a moment.
    const becomes = async (ready: boolean, because = /^/): Promise<string> => {
      const deadline = performance.now() + hangMs
      for (;;) {
        const { status, message } = (await cri.conditions())['NetworkReady']!
        if (status === ready && because.test(message)) return message
        if (performance.now() > deadline) throw new Error(`NetworkReady stays ${status}: ${message}`)
        await delay(50)
      }
    }
    await becomes(true)
    containerd.writeConflist(conflist(site.ipamWithoutDaemon()))
    const away = /cannot reach ipkeeper-server on .*nobody\.sock/
    t.match(await becomes(false, away), away)
    containerd.writeConflist(conflist(site.ipam()))
    await becomes(true)
  })

  const web = pod('web-0', asking)
  let sandbox = ''

  await t.test('a pod gets the address of its annotation', async t => {
    sandbox = await runs(t, web, '10.22.0.50')
  })

  await t.test('the rest of the chain serves it too', { skip: missing('ifb') }, async t => {
    const annotations = { 'ipkeeper.io/ip': '10.22.0.51', 'kubernetes.io/egress-bandwidth': '1M' }
    const slow = await runs(t, pod('slow', annotations), '10.22.0.51')
    t.not(await site.host.must('ip', ['link', 'show', 'type', 'ifb']), '', 'it has its bandwidth')
    await ends(slow)
  })

  await t.test('a pod without annotations asks for nothing: the runtime says so', async t => {
    await ends(await runs(t, pod('plain'), '10.22.0.2'))
  })

  await t.test('a second pod that asks for it is refused, in our words', async t => {
    await t.rejects(cri.run(pod('intruder', asking)), {
      message: /10\.22\.0\.50, which is held by shop\/web-0 .*\[IPK_ADDRESS_HELD, request \w+\]/s,
    })
    t.same(await addresses(), ['10.22.0.50'])
  })

  await t.test('stopped, removed and run again it has its address again', async t => {
    await ends(sandbox)
    t.same(await addresses(), [])
    sandbox = await runs(t, { ...web, uid: randomUUID() }, '10.22.0.50')
  })

  await t.test('killed by hand, the same pod takes its lease over', async t => {
    const dead = sandbox
    const { pod: holder } = (await site.daemon().boundLeases())[0]!
    await containerd.killSandbox(dead)
    sandbox = await runs(t, { ...web, uid: holder!.uid!, attempt: 1 }, '10.22.0.50')
    await ends(dead)
    t.same(await addresses(), ['10.22.0.50'], 'a late DEL does not touch the new sandbox')
  })

  await t.test('stopped while the daemon is away, its address is free when the daemon is back', async t => {
    await site.daemon().stop()
    await ends(sandbox)
    await site.startDaemon()
    t.same(await addresses(), [])
    sandbox = await runs(t, pod('heir', asking), '10.22.0.50')
    await ends(sandbox)
  })

  t.same(await addresses(), [], 'when all pods are gone no lease is in use')
  t.same(await site.links(before), before, 'and no link is left')
})
