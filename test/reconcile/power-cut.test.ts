/** A node loses its power: nothing of the kernel is left, and no DEL was sent. */
import { writeFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { AuditReply } from '../../shared/api/audit.schema.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { addressOf, startWiredNode, type WiredPod } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')
const bootIdFile = '/proc/sys/kernel/random/boot_id'
const asked = (ip: string) => ({ annotations: { 'ipkeeper.io/ip': ip } })
const kept = (ip: string) => ({ annotations: { 'ipkeeper.io/ip': ip, 'ipkeeper.io/retain': 'forever' } })

t.test('a power cut', { skip, timeout: 120_000 }, async t => {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  // What is of another boot has been there for all of this one, which is the machine's own here.
  const reconcile = { interval: '1s', minAge: `${Math.ceil(uptime() / 3600) + 1}h` }
  const node = await startWiredNode(host, {
    folder,
    settings: { mode: 'bridge', bridge: 'cni0', isGateway: true },
    ipam: { ranges: [[{ subnet: '10.22.0.0/16' }]] },
    configuration: { reconcile },
  })
  const audit = async (): Promise<AuditReply> =>
    JSON.parse((await node.daemon().ask('GET', '/v1/audit')).body) as AuditReply
  const leases = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries((await node.daemon().leases()).map(({ address, state }) => [address, state]))

  const plain = await node.pod(asked('10.22.0.50'))
  const web0 = await node.pod({ name: 'web-0', ...kept('10.22.0.60') })
  const web1 = await node.pod({ name: 'web-1', ...kept('10.22.0.61') })
  const stopped = await node.pod(asked('10.22.0.70'))
  const pods: readonly WiredPod[] = [plain, web0, web1, stopped]
  for (const pod of pods) await pod.add()
  await node.daemon().stop('SIGKILL')
  await stopped.del()

  // One namespace is left as it was: it is the boot that counts.
  for (const pod of [plain, web0, stopped]) await pod.namespace.delete()
  const links = await host.must('ip', ['-json', 'link', 'show', 'type', 'veth'])
  // The kernel may take those of the deleted namespaces away meanwhile.
  for (const { ifname } of JSON.parse(links) as { ifname: string }[])
    await host.run('ip', ['link', 'delete', ifname])
  t.equal((await host.must('ip', ['link', 'show', 'type', 'veth'])).trim(), '', 'no veth is left')
  await host.must('ip', ['link', 'delete', 'cni0'])
  await host.must('nft', ['flush', 'ruleset'])
  writeFileSync(folder.file('boot-id'), '00000000-0000-4000-8000-000000000002\n')
  await host.must('mount', ['--bind', folder.file('boot-id'), bootIdFile])
  await node.startDaemon()

  t.equal((await leases())['10.22.0.70'], 'cooling', 'a DEL that waited for the daemon is carried out')
  const found = (await audit()).findings
  t.same(
    found.map(({ kind, state, action, containerId }) => `${kind} ${state} ${action} ${containerId}`).sort(),
    [plain, web0, web1].map(({ containerId }) => `dead-boot waiting end-attachment ${containerId}`).sort(),
    'what was of the other boot is found dead, and not acted on before its time',
  )
  t.match(await leases(), { '10.22.0.50': 'bound', '10.22.0.60': 'bound', '10.22.0.61': 'bound' })

  // The pod of a set comes back before anything was ended.
  const back0 = await web0.again()
  t.equal(addressOf(await back0.add(), 4), '10.22.0.60')

  const file = join(dirname(node.daemon().stateDir), 'config')
  writeFileSync(file, JSON.stringify({ reconcile: { ...reconcile, minAge: '1s' } }))
  await until('the dead are ended', async () => (await audit()).attachments === 1)
  t.match(await leases(), {
    '10.22.0.50': 'cooling',
    '10.22.0.60': 'bound',
    '10.22.0.61': 'held',
    '10.22.0.70': 'cooling',
  })
  t.same((await audit()).findings, [])
  t.equal(
    node
      .daemon()
      .log()
      .match(/"msg":"repaired: /g)?.length,
    3,
  )
  t.same(await back0.namespace.addresses('eth0'), ['10.22.0.60/16'])

  // Another one comes back afterwards; what is there of its old sandbox is nobody's.
  const back1 = await web1.again()
  t.equal(addressOf(await back1.add(), 4), '10.22.0.61')
  // A runtime that knows of them from its disk sends the DELs at last.
  await web0.del()
  await web1.del()
  t.match(await leases(), { '10.22.0.60': 'bound', '10.22.0.61': 'bound' })
  await back0.del()
  await back1.del()
  t.match(await leases(), { '10.22.0.60': 'held', '10.22.0.61': 'held' })
})
