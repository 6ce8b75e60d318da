/** The rig itself, proved with the reference plugins: what the other tests say of ipkeeper rests on this. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startContainerd } from '../rigs/containerd.ts'
import { makeNetworkNamespace } from '../rigs/netns.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { findReferencePlugins, missing } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const networkNeeds = missing('namespaces', 'reference-plugins')
const containerdNeeds = missing('namespaces', 'reference-plugins', 'containerd')

t.test('two private hosts do not see each other', { skip: networkNeeds }, async t => {
  const [one, other] = await Promise.all([startPrivateHost(), startPrivateHost()])
  await Promise.all([one, other].map(host => host.must('ip', ['link', 'add', 'cni0', 'type', 'bridge'])))
  const namespace = await makeNetworkNamespace(one)
  t.match(await one.must('ip', ['netns', 'list']), namespace.name)
  t.equal(await other.must('ip', ['netns', 'list']), '')
  await Promise.all([one.close(), other.close()])
})

t.test('a namespace gets an address from bridge and host-local', { skip: networkNeeds }, async t => {
  const host = await startPrivateHost()
  const plugins = findReferencePlugins()!
  const namespace = await makeNetworkNamespace(host)
  const call = {
    plugin: join(plugins, 'bridge'),
    containerId: 'rig',
    netns: namespace.path,
    ifname: 'eth0',
    path: plugins,
    config: {
      ...{ cniVersion: '1.0.0', name: 'rig', type: 'bridge', bridge: 'cni0', isGateway: true },
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.30.0.0/24' }]] },
    },
    host,
  }
  const added = await runPlugin({ ...call, command: 'ADD' })
  t.equal(added.exit, 0, added.stdout)
  t.same(await namespace.addresses('eth0'), ['10.30.0.2/24'])
  t.equal((await runPlugin({ ...call, command: 'DEL' })).exit, 0)
  await t.rejects(namespace.addresses('eth0'), 'the interface is gone')
  await host.close()
})

t.test('containerd hands the annotations of a pod to the IPAM plugin', { skip: containerdNeeds }, async t => {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  const recorder = folder.file('recorder')
  const hostLocal = join(findReferencePlugins()!, 'host-local')
  writeFileSync(recorder, `#!/bin/sh\nexec tee ${folder.file('stdin.')}$CNI_COMMAND | exec ${hostLocal}\n`)
  chmodSync(recorder, 0o755)
  const containerd = await startContainerd({
    host,
    folder,
    plugins: { recorder },
    conflist: {
      cniVersion: '1.0.0',
      name: 'rig',
      plugins: [
        {
          type: 'bridge',
          bridge: 'cni0',
          isGateway: true,
          capabilities: { 'io.kubernetes.cri.pod-annotations': true },
          ipam: { type: 'recorder', ranges: [[{ subnet: '10.30.0.0/24' }]] },
        },
      ],
    },
  })
  const { cri } = containerd
  const pod = {
    namespace: 'shop',
    name: 'web-0',
    uid: 'one',
    annotations: { 'ipkeeper.io/ip': '10.30.0.50' },
  }
  const id = await cri.run(pod)
  const seen = JSON.parse(readFileSync(folder.file('stdin.ADD'), 'utf8')) as Record<string, unknown>
  t.match(seen['runtimeConfig'], { 'io.kubernetes.cri.pod-annotations': pod.annotations })
  t.match(await cri.status(id), { ready: true, ip: '10.30.0.2' })

  await containerd.killSandbox(id)
  t.match(await cri.status(id), { ready: false })
  const again = await cri.run({ ...pod, attempt: 1 })
  t.match(
    await cri.status(again),
    { ready: true, ip: '10.30.0.3' },
    'no DEL was sent: the first is still taken',
  )

  await cri.stop(again)
  await cri.remove(again)
  t.same(
    (await cri.list()).map(sandbox => sandbox.id),
    [id],
  )
  await containerd.close()
  await host.close()
})
