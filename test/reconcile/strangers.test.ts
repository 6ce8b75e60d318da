/** What is on a node and not ours: told of, and left alone. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { AuditReply } from '../../shared/api/audit.schema.ts'
import { startContainerd, type Containerd } from '../rigs/containerd.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { fixedNetwork } from '../rigs/fixed-network.ts'
import { until } from '../rigs/poll.ts'
import { startPrivateHost, type PrivateHost } from '../rigs/private-host.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'containerd', 'reference-plugins', 'nft', 'executables')

interface Node {
  readonly host: PrivateHost
  readonly daemon: Daemon
  readonly containerd: Containerd
  run(name: string, attempt?: number, uid?: string): Promise<string>
  audit(): Promise<AuditReply>
}

const pools = [{ name: 'lab', subnet: '10.99.0.0/16' }]
const reconcile = { interval: '1s', minAge: '1s', minAgeUnproved: '2s' }

async function makeNode(
  t: Test,
  conflist: (socket: string, stateDir: string) => unknown,
  more = {},
): Promise<Node> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  const [socket, stateDir, config] = [folder.file('s'), folder.file('state'), folder.file('config.yaml')]
  const runtime = { sockets: [folder.file('containerd.sock')] }
  writeFileSync(config, JSON.stringify({ pools, runtime, reconcile: { ...reconcile, ...more } }))
  const daemon = await startDaemon({ socket, stateDir, host, config })
  const containerd = await startContainerd({
    ...{ host, folder, conflist: conflist(socket, stateDir) },
    plugins: { ipkeeper: testedPlugin },
  })
  t.teardown(async () => {
    await containerd.close()
    await daemon.stop()
    await host.close()
  })
  return {
    ...{ host, daemon, containerd },
    run: (name, attempt = 0, uid = randomUUID()) =>
      containerd.cri.run({ namespace: 'shop', name, uid, attempt }),
    audit: async () => JSON.parse((await daemon.ask('GET', '/v1/audit')).body) as AuditReply,
  }
}

t.test('a sandbox of another plugin with an address of a pool', { skip, timeout: 90_000 }, async t => {
  const ipam = { type: 'host-local', subnet: '10.99.0.0/16' }
  const node = await makeNode(t, () => ({
    ...{ cniVersion: '1.0.0', name: 'other' },
    plugins: [{ type: 'bridge', bridge: 'other0', isGateway: true, ipam }],
  }))
  const id = await node.run('stranger')
  const { ip } = await node.containerd.cri.status(id)
  const links = await node.host.must('ip', ['-oneline', 'link', 'show', 'type', 'veth'])
  await until('it is found', async () => (await node.audit()).findings[0]?.state === 'reported')
  t.match((await node.audit()).findings, [
    {
      ...{
        kind: 'sandbox-without-lease',
        action: 'none',
        pod: 'shop/stranger',
        containerId: id,
        address: ip,
      },
      says: /of pool lab without a lease/,
    },
  ])
  t.match(await node.containerd.cri.status(id), { ready: true, ip })
  t.equal(await node.host.must('ip', ['-oneline', 'link', 'show', 'type', 'veth']), links)
  await node.containerd.cri.stop(id)
  t.same((await node.audit()).findings, [], 'one that does not run is none')
})

t.test('two sandboxes of one pod that stay', { skip, timeout: 90_000 }, async t => {
  const node = await makeNode(t, (socket, stateDir) => fixedNetwork({ wiring: 'ipkeeper', socket, stateDir }))
  const uid = randomUUID()
  const older = await node.run('web-0', 0, uid)
  const newer = await node.run('web-0', 1, uid)
  await until('they are found', async () => (await node.audit()).findings[0]?.state === 'reported')
  t.match((await node.audit()).findings, [
    { kind: 'two-sandboxes', action: 'none', pod: 'shop/web-0', containerId: older, says: /has 2 sandboxes/ },
  ])
  t.match(await node.containerd.cri.status(older), { ready: true })
  t.match(await node.containerd.cri.status(newer), { ready: true })
  await node.containerd.cri.stop(older)
  t.same((await node.audit()).findings, [])
})

t.test('veths of other programs', { skip, timeout: 90_000 }, async t => {
  const conflist = (socket: string, stateDir: string): unknown =>
    fixedNetwork({ wiring: 'ipkeeper', socket, stateDir })
  const node = await makeNode(t, conflist, { links: ['cali*'] })
  const { host } = node
  // Each lies with both its sides on the host: those that are up have a carrier.
  for (const name of ['cali0', 'cali1', 'lxc0', 'lxc1']) {
    await host.must('ip', ['link', 'add', name, 'type', 'veth', 'peer', 'name', `${name}p`])
    if (name.endsWith('1'))
      for (const side of [name, `${name}p`]) await host.must('ip', ['link', 'set', side, 'up'])
  }
  const names = async (): Promise<readonly string[]> =>
    (JSON.parse(await host.must('ip', ['-json', 'link', 'show', 'type', 'veth'])) as { ifname: string }[])
      .map(({ ifname }) => ifname)
      .sort()
  await until('the one that is named and down is gone', async () => !(await names()).includes('cali0'))
  t.same(await names(), ['cali1', 'cali1p', 'lxc0', 'lxc0p', 'lxc1', 'lxc1p'])
  await until('the other ones are told of', async () =>
    (await node.audit()).findings.every(({ state }) => state === 'reported'),
  )
  t.same((await node.audit()).findings.map(({ kind, link, action }) => `${kind} ${link} ${action}`).sort(), [
    'foreign-link lxc0 none',
    'foreign-link lxc0p none',
  ])
  t.same(await names(), ['cali1', 'cali1p', 'lxc0', 'lxc0p', 'lxc1', 'lxc1p'])
})
