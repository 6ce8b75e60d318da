/** An upgrade that goes wrong: runtime and daemon are killed and come back, and some DELs are never sent. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { AuditReply } from '../../shared/api/audit.schema.ts'
import { startContainerd, type Containerd } from '../rigs/containerd.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { askEcho, countEcho, serveEcho } from '../rigs/echo.ts'
import { fixedNetwork } from '../rigs/fixed-network.ts'
import { logs } from '../rigs/logs.ts'
import { loseNamespaces } from '../rigs/many-namespaces.ts'
import { makeNetworkNamespace } from '../rigs/netns.ts'
import { until } from '../rigs/poll.ts'
import { startPrivateHost, type PrivateHost } from '../rigs/private-host.ts'
import { missing, pluginFolder, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'containerd', 'reference-plugins', 'nft', 'executables')

const [intervalMs, minAgeUnprovedMs, passes] = [1_000, 8_000, 3]
const reconcile = { interval: '1s', minAge: '2s', minAgeUnproved: '8s', passes }

interface Sandbox {
  readonly id: string
  readonly ip: string
  /** Path of its namespace. */
  readonly path: string
  /** performance.now before it was made. */
  readonly since: number
}

interface Node {
  readonly host: PrivateHost
  readonly containerd: Containerd
  daemon(): Daemon
  startDaemon(): Promise<void>
  run(name: string): Promise<Sandbox>
  /** A container of nerdctl's, which no list of the runtime has. */
  runBare(): Promise<Sandbox>
  audit(): Promise<AuditReply>
  /** Container IDs with a lease. */
  holders(): Promise<readonly (string | null)[]>
  links(): Promise<readonly string[]>
}

async function makeNode(t: Test): Promise<Node> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  const [socket, stateDir, config] = [folder.file('s'), folder.file('state'), folder.file('config.yaml')]
  const sockets = [folder.file('containerd.sock')]
  writeFileSync(config, JSON.stringify({ runtime: { sockets }, reconcile }))
  const start = (): Promise<Daemon> => startDaemon({ socket, stateDir, host, config })
  let daemon = await start()
  const conflist = fixedNetwork({ wiring: 'ipkeeper', socket, stateDir })
  const containerd = await startContainerd({
    ...{ host, folder, conflist },
    plugins: { ipkeeper: testedPlugin },
  })
  t.teardown(async () => {
    await containerd.close()
    await daemon.stop()
    await host.close()
  })
  const namespaces = async (): Promise<readonly string[]> =>
    (await host.must('ls', ['/run/netns'])).trim().split('\n')
  const audit = async (): Promise<AuditReply> =>
    JSON.parse((await daemon.ask('GET', '/v1/audit')).body) as AuditReply
  return {
    ...{ host, containerd, audit },
    daemon: () => daemon,
    startDaemon: async () => {
      daemon = await start()
    },
    run: async name => {
      const since = performance.now()
      const before = new Set(await namespaces())
      const id = await containerd.cri.run({ namespace: 'shop', name, uid: randomUUID() })
      const { ip } = await containerd.cri.status(id)
      const own = (await namespaces()).find(namespace => !before.has(namespace)) ?? ''
      return { id, ip, path: `/run/netns/${own}`, since }
    },
    runBare: async () => {
      const since = performance.now()
      const { path, name: id } = await makeNetworkNamespace(host, 'bare')
      const [plugin] = conflist.plugins
      const { cniVersion, name } = conflist
      const { stdout } = await runPlugin({
        plugin: testedPlugin,
        ...{ command: 'ADD', containerId: id, netns: path, ifname: 'eth0', args: '', path: pluginFolder },
        ...{ config: { ...plugin, cniVersion, name }, host },
      })
      const [first] = (JSON.parse(stdout) as { ips: { address: string }[] }).ips
      return { id, ip: first?.address.replace(/\/.*/, '') ?? '', path, since }
    },
    holders: async () => (await daemon.boundLeases()).map(({ containerId }) => containerId),
    links: async () => {
      const text = await host.must('ip', ['-json', 'link', 'show', 'type', 'veth'])
      return (JSON.parse(text) as { ifindex: number; ifname: string }[]).map(
        ({ ifindex, ifname }) => `${ifindex} ${ifname}`,
      )
    },
  }
}

const place = ({ host }: Node, { path }: Sandbox) => ({ host, namespace: { path } })
const idsOf = (...sandboxes: readonly Sandbox[]): readonly string[] => sandboxes.map(({ id }) => id).sort()
const sorted = (ids: readonly (string | null)[]): readonly (string | null)[] => [...ids].sort()

t.test('runtime and daemon are killed, and come back', { skip, timeout: 180_000 }, async t => {
  const node = await makeNode(t)
  const { host, containerd } = node
  const [stays, stopped, hidden, gone] = [
    await node.run('stays'),
    await node.run('stopped'),
    await node.run('hidden'),
    await node.run('gone'),
  ]
  const bare = await node.runBare()
  const server = await serveEcho({ host }, 'host')
  const stops = [stays, bare].map(sandbox => countEcho(place(node, sandbox), '10.22.0.1'))
  const linksBefore = await node.links()
  t.equal(linksBefore.length, 5)

  await containerd.kill()
  await node.daemon().stop('SIGKILL')
  await loseNamespaces(host, [hidden.path], true)
  await host.must('ip', ['netns', 'delete', gone.path.replace('/run/netns/', '')])
  await containerd.start()
  await node.startDaemon()

  await until('what has lost its namespace is ended', async () => (await node.holders()).length <= 3)
  t.same(sorted(await node.holders()), idsOf(stays, stopped, bare))
  const links = await node.links()
  t.equal(links.length, 3)
  t.same(
    links.filter(link => !linksBefore.includes(link)),
    [],
    'the links of the others are the same',
  )
  for (const { id } of [stopped, hidden, gone]) {
    await containerd.cri.stop(id)
    await containerd.cri.remove(id)
  }
  t.same(sorted(await node.holders()), idsOf(stays, bare), 'the runtime can stop what it still knows')
  const fresh = await node.run('fresh')
  t.match(await askEcho(place(node, fresh), '10.22.0.1'), { from: fresh.ip })
  for (const stop of stops) {
    const { asked, answered } = await stop()
    t.ok(answered > 0 && answered === asked, `${answered} of ${asked} questions were answered`)
  }
  await server.stop()
})

t.test('a runtime that no longer lists what it had', { skip, timeout: 300_000 }, async t => {
  const node = await makeNode(t)
  const { host, containerd } = node
  const stays = await node.run('stays')
  const bare = await node.runBare()
  const server = await serveEcho({ host }, 'host')
  const stops = [stays, bare].map(sandbox => countEcho(place(node, sandbox), '10.22.0.1'))
  /** The daemon sees the runtime list a sandbox. */
  const isSeen = async (t: Test, sandbox: Sandbox): Promise<void> => {
    const { findings, witnesses } = await node.audit()
    t.match(witnesses, [{ state: 'asked' }])
    t.notOk(findings.some(({ containerId }) => containerId === sandbox.id))
  }
  const stateOf = async (sandbox: Sandbox): Promise<string | undefined> =>
    (await node.audit()).findings.find(({ containerId }) => containerId === sandbox.id)?.state

  await t.test('one that is taken out of its records is ended in its time, and not before', async t => {
    const omitted = await node.run('omitted')
    await isSeen(t, omitted)
    await containerd.kill()
    await containerd.start()
    t.ok((await node.holders()).includes(omitted.id))
    await containerd.forgetSandbox(omitted.id)
    const forgottenAt = performance.now()
    await containerd.kill()
    await containerd.start()
    await until('it is suspected', async () => (await stateOf(omitted)) === 'waiting')
    t.match(await askEcho(place(node, omitted), '10.22.0.1'), { from: omitted.ip }, 'it still works')
    await until('it is ended', async () => !(await node.holders()).includes(omitted.id))
    const now = performance.now()
    t.ok(now - omitted.since >= minAgeUnprovedMs, `${now - omitted.since} ms old`)
    t.ok(now - forgottenAt >= (passes - 1) * intervalMs, `${now - forgottenAt} ms after it was forgotten`)
    await logs(t, node.daemon(), /lists 1 others and not this one/)
    t.same(sorted(await node.holders()), idsOf(stays, bare))
  })

  await t.test('one that lists nothing at all, or does not answer, is not believed', async t => {
    const other = await node.run('other')
    await isSeen(t, other)
    const links = await node.links()
    /** Longer than all of them have to be old, and suspected. */
    const passesBy = async (): Promise<void> => {
      const end = performance.now() + minAgeUnprovedMs + passes * intervalMs
      const wanted = idsOf(stays, bare, other).join()
      let found = wanted
      while (found === wanted && performance.now() < end) found = sorted(await node.holders()).join()
      t.equal(found, wanted)
    }
    await containerd.kill()
    await passesBy()
    t.match((await node.audit()).witnesses, [{ state: 'failed' }])
    await containerd.start({ empty: true })
    await passesBy()
    t.match((await node.audit()).witnesses, [{ state: 'doubted' }])
    t.same(await node.links(), links)
  })

  await t.test('as soon as it lists others, it is; but never of what it never had', async t => {
    const first = await node.run('first')
    t.match(await askEcho(place(node, first), '10.22.0.1'), { from: first.ip })
    const wanted = idsOf(bare, first).join()
    await until('only these are left', async () => sorted(await node.holders()).join() === wanted)
    t.equal((await node.links()).length, 2)
    await containerd.cri.stop(first.id)
    t.same(await node.holders(), [bare.id])
  })

  const [ofStays, ofBare] = [await stops[0]?.(), await stops[1]?.()]
  t.ok(ofStays && ofStays.answered < ofStays.asked, 'what was ended has no link any more')
  t.ok(ofBare && ofBare.answered > 0 && ofBare.answered === ofBare.asked, JSON.stringify(ofBare))
  await server.stop()
})
