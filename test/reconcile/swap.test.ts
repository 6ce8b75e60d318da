/** ADD A, ADD B of the same pod, DEL A late: B keeps its lease, its link and its connection. */
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { AuditReply } from '../../shared/api/audit.schema.ts'
import { startBareRuntime } from '../rigs/bare-runtime.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { askEcho, countEcho, serveEcho } from '../rigs/echo.ts'
import { fixedNetwork } from '../rigs/fixed-network.ts'
import { until } from '../rigs/poll.ts'
import { startPrivateHost, type PrivateHost } from '../rigs/private-host.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { addressOf, makeWiredNode, type WiredNode } from '../rigs/wired-node.ts'

/** What happens between the second ADD and the first one's DEL. */
const between = ['nothing', 'passes', 'the first namespace goes, and passes'] as const
type Between = (typeof between)[number]

const brisk = { reconcile: { interval: '1s', minAge: '1s', minAgeUnproved: '2s' } }

const attachments = async (daemon: Daemon): Promise<number> =>
  (JSON.parse((await daemon.ask('GET', '/v1/audit')).body) as AuditReply).attachments

const hasNothing = async (daemon: Daemon, container: string): Promise<boolean> =>
  (await daemon.boundLeases()).every(({ containerId }) => containerId !== container)

async function hostLinks(host: PrivateHost): Promise<readonly string[]> {
  const links = JSON.parse(await host.must('ip', ['-json', 'link', 'show', 'type', 'veth'])) as {
    readonly ifindex: number
    readonly ifname: string
  }[]
  return links.map(({ ifindex, ifname }) => `${ifindex} ${ifname}`)
}

/** Waits for passes that began later than this call: a sandbox that loses its namespace now is ended by one of them. */
async function passesBy(node: WiredNode): Promise<void> {
  for (let pass = 0; pass < 2; pass++) {
    const decoy = await node.pod()
    await decoy.add()
    await decoy.namespace.delete()
    await until('a pass', () => hasNothing(node.daemon(), decoy.containerId))
  }
}

for (const mode of ['bridge', 'ptp']) {
  const skip = missing('namespaces', 'nft', 'executables')
  t.test(`wired by ipkeeper, mode ${mode}`, { skip, timeout: 120_000 }, async t => {
    const settings = { mode, ipMasq: true, ...(mode === 'bridge' && { isGateway: true }) }
    for (const what of between) {
      await t.test(`between: ${what}`, t => swapWired(t, settings, what))
    }
  })
}

async function swapWired(t: Test, settings: object, what: Between): Promise<void> {
  const configuration = what === 'nothing' ? { reconcile: { mode: 'off' } } : brisk
  const node = await makeWiredNode(t, { settings: { ...settings }, configuration })
  const { host } = node
  const a = await node.pod()
  const address = addressOf(await a.add(), 4)
  const server = await serveEcho({ host }, 'host')
  const b = await a.again()
  t.equal(addressOf(await b.add(), 4), address)
  const before = await hostLinks(host)
  t.equal(before.length, 1, 'the first one has no link any more')
  const stop = countEcho({ host, namespace: b.namespace }, '10.22.0.1')

  if (what !== 'nothing') {
    if (what !== 'passes') await a.namespace.delete()
    await passesBy(node)
    t.equal(await attachments(node.daemon()), what === 'passes' ? 2 : 1)
  }
  await a.del()

  t.same(await hostLinks(host), before, 'its link is untouched')
  const bound = await node.daemon().boundLeases()
  t.same([...new Set(bound.map(({ containerId }) => containerId))], [b.containerId])
  t.ok(bound.some(lease => lease.address === address))
  t.same(await b.namespace.addresses('eth0'), [
    `${address}/16`,
    ...bound.filter(lease => lease.address.includes(':')).map(lease => `${lease.address}/64`),
  ])
  t.equal(await attachments(node.daemon()), 1)
  const { asked, answered } = await stop()
  t.ok(answered > 0 && answered === asked, `${answered} of ${asked} questions were answered`)
  await server.stop()
  await b.del()
  t.same(await node.daemon().boundLeases(), [])
  t.same(await hostLinks(host), [])
}

const skipBridge = missing('namespaces', 'reference-plugins', 'executables')
t.test('wired by the reference bridge', { skip: skipBridge, timeout: 120_000 }, async t => {
  for (const what of between) await t.test(`between: ${what}`, t => swapBridged(t, what))
})

async function swapBridged(t: Test, what: Between): Promise<void> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  const [socket, stateDir, config] = [folder.file('s'), folder.file('state'), folder.file('config.yaml')]
  writeFileSync(config, JSON.stringify(what === 'nothing' ? { reconcile: { mode: 'off' } } : brisk))
  const daemon = await startDaemon({ socket, stateDir, host, config })
  t.teardown(async () => {
    await daemon.stop()
    await host.close()
  })
  const runtime = startBareRuntime({
    host,
    folder,
    conflist: fixedNetwork({ socket, stateDir }),
    plugins: { ipkeeper: testedPlugin },
  })
  const pod = (name: string) => ({ namespace: 'shop', name, uid: `uid-of-${name}` })
  const namespaces = async (): Promise<readonly string[]> =>
    (await host.must('ls', ['/run/netns'])).trim().split('\n')

  const a = await runtime.run(pod('web-0'))
  const [ofA] = await namespaces()
  const b = await runtime.run(pod('web-0'))
  t.equal(b.ip, a.ip)
  const ofB = (await namespaces()).find(name => name !== ofA) ?? ''
  if (what !== 'nothing') {
    if (what !== 'passes') await runtime.kill(a.id)
    for (let pass = 0; pass < 2; pass++) {
      const decoy = await runtime.run(pod(`decoy-${pass}`))
      await runtime.kill(decoy.id)
      await until('a pass', () => hasNothing(daemon, decoy.id))
    }
    t.equal(await attachments(daemon), what === 'passes' ? 2 : 1)
  }
  const linkOfB = JSON.parse(await host.must('ip', ['-n', ofB, '-json', 'link', 'show', 'eth0'])) as object
  await runtime.stop(a.id)

  t.same(JSON.parse(await host.must('ip', ['-n', ofB, '-json', 'link', 'show', 'eth0'])), linkOfB)
  t.same(
    (await daemon.boundLeases()).map(({ address, containerId }) => ({ address, containerId })),
    [{ address: b.ip, containerId: b.id }],
  )
  const server = await serveEcho({ host }, 'host')
  const place = { host, namespace: { path: `/run/netns/${ofB}` } }
  t.match(await askEcho(place, '10.22.0.1'), { name: 'host', from: b.ip })
  await server.stop()
  await runtime.stop(b.id)
  t.same(await daemon.boundLeases(), [])
}
