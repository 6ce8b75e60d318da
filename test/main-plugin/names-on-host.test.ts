/** The node may have a link of the name that the pod's interface gets: each mode makes it without the host noticing. */
import t from 'tap'
import { startInBackground } from '../rigs/background-program.ts'
import { kernelState } from '../rigs/kernel-state.ts'
import { makeOlderKernelIp } from '../rigs/older-kernel-ip.ts'
import { until } from '../rigs/poll.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { addUplink, wiredModes } from '../rigs/wired-modes.ts'
import { startWiredNode } from '../rigs/wired-node.ts'

for (const [mode, { settings, skip }] of Object.entries(wiredModes)) {
  t.test(mode, { skip }, async t => {
    const folder = tempFolder(t)
    const host = await startPrivateHost()
    t.teardown(() => host.close())
    const node = await startWiredNode(host, { folder, settings, env: makeOlderKernelIp(folder) })
    await addUplink(node)
    await host.must('ip', ['link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth0-peer'])
    // Bridges that come with the first pod are part of what was there before.
    const first = await node.pod()
    await first.add()
    await first.del()
    const before = await kernelState(host)

    const monitor = startInBackground(...host.become('ip', ['-oneline', 'monitor', 'link']), folder.path)
    t.teardown(() => monitor.stop('SIGKILL'))
    const marker = async (name: string): Promise<void> => {
      await until(`the monitor tells of ${name}`, async () => {
        await host.run('ip', ['link', 'add', name, 'type', 'bridge'])
        await host.must('ip', ['link', 'delete', name])
        return monitor.log().includes(` ${name}: `)
      })
    }
    await marker('begin')
    const pod = await node.pod()
    const result = await pod.add()
    t.ok(
      result.interfaces.some(({ name, sandbox }) => name === 'eth0' && sandbox !== undefined),
      'the pod has an eth0',
    )
    t.equal((await pod.namespace.addresses('eth0')).length, 2)
    const checked = await pod.call('CHECK', { prevResult: result })
    t.equal(checked.exit, 0, checked.stdout)
    await pod.del()
    await marker('end')
    const told = monitor.log().split('\n')
    t.same(
      told.filter(line => / eth0[@:]/.test(line)),
      [],
      'no link of the host was called eth0 meanwhile, or was touched that is',
    )
    t.same((await kernelState(host)).links, before.links)
    t.notMatch(await host.must('ip', ['-n', pod.namespace.name, '-oneline', 'link', 'show']), 'eth0')
  })
}
