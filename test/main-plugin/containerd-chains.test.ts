/** The main plugin at the head of a chain, on every containerd that is here, each with the reference plugins of its time. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { annotationsCapability, makeCallerSite } from '../rigs/caller-site.ts'
import { currentContainerd, installedContainerd } from '../rigs/containerd-release.ts'
import { startContainerd } from '../rigs/containerd.ts'
import type { Pod } from '../rigs/cri.ts'
import { askEcho, echoPort, serveEcho, type Place } from '../rigs/echo.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'

const releases = [
  {
    release: 'of the machine',
    cniVersion: '1.0.0',
    make: installedContainerd,
    skip: missing('containerd', 'namespaces', 'reference-plugins', 'nft', 'executables'),
  },
  {
    release: 'of today',
    cniVersion: '1.1.0',
    make: () => currentContainerd,
    skip: missing('go', 'callers', 'namespaces', 'reference-plugins', 'nft', 'runc', 'executables'),
  },
]

const hostPort = 8080

for (const { release, cniVersion, make, skip } of releases) {
  t.test(`a chain on containerd ${release}`, { skip, timeout: 120_000 }, async t => {
    const site = await makeCallerSite(t)
    const before = await site.links()
    const bandwidth = missing('ifb') === false
    const containerd = await startContainerd({
      host: site.host,
      folder: site.folder,
      release: make(),
      conflist: {
        cniVersion,
        name: 'fixed',
        plugins: [
          {
            ...{ type: 'ipkeeper', mode: 'bridge', bridge: 'cni0', ipMasq: true },
            capabilities: { [annotationsCapability]: true },
            ipam: site.ipam({ routes: [{ dst: '0.0.0.0/0' }] }),
          },
          { type: 'portmap', capabilities: { portMappings: true } },
          ...(bandwidth ? [{ type: 'bandwidth', capabilities: { bandwidth: true } }] : []),
          { type: 'tuning', mtu: 1400, dataDir: site.folder.file('tuning') },
          { type: 'firewall', backend: 'iptables' },
        ],
      },
      plugins: { ipkeeper: testedPlugin },
    })
    t.teardown(() => containerd.close())
    const { cri } = containerd

    const namespaces = async (): Promise<readonly string[]> =>
      (await site.host.must('ls', ['/run/netns'])).split('\n').filter(name => name !== '')
    /** Runs a pod, and finds where it is by the namespace that came with it. */
    const run = async (pod: Pod): Promise<{ readonly id: string; readonly place: Place }> => {
      const known = await namespaces()
      const id = await cri.run(pod)
      const name = (await namespaces()).find(one => !known.includes(one)) ?? ''
      return { id, place: { host: site.host, namespace: { path: `/run/netns/${name}` } } }
    }
    const pod = (name: string, ip: string): Pod => ({
      ...{ namespace: 'shop', name, uid: randomUUID() },
      annotations: { 'ipkeeper.io/ip': ip, 'kubernetes.io/egress-bandwidth': '10M' },
    })
    const ports = [
      { protocol: 'TCP', containerPort: echoPort, hostPort },
      { protocol: 'UDP', containerPort: echoPort, hostPort },
    ] as const

    const web = await run({ ...pod('web-0', '10.22.0.50'), ports })
    const other = await run(pod('other', '10.22.0.51'))
    t.match(await cri.status(web.id), { ready: true, ip: '10.22.0.50' })
    await serveEcho(web.place, 'web-0')
    t.match(await askEcho(other.place, '10.22.0.50'), { name: 'web-0', from: '10.22.0.51' }, 'pod to pod')
    for (const protocol of ['tcp', 'udp'] as const) {
      const mapped = { protocol, port: hostPort }
      t.match(await askEcho(other.place, '10.22.0.1', mapped), { name: 'web-0' }, `by its port, ${protocol}`)
      t.match(await askEcho(web.place, '10.22.0.1', mapped), { name: 'web-0' }, 'also to itself')
    }
    const path = web.place.namespace?.path ?? ''
    const eth0 = await site.host.must('nsenter', [`--net=${path}`, '--', 'ip', 'link', 'show', 'dev', 'eth0'])
    t.match(eth0, /mtu 1400/, 'tuning')
    t.match(await site.host.must('iptables', ['-S', 'CNI-FORWARD']), '10.22.0.50/32', 'firewall')
    if (bandwidth) t.not(await site.host.must('ip', ['link', 'show', 'type', 'ifb']), '', 'bandwidth')

    for (const { id } of [web, other]) {
      await cri.stop(id)
      await cri.remove(id)
    }
    t.same(await site.daemon().boundLeases(), [])
    t.same(await site.links(before), before)
    const rules = await site.host.must('nft', ['list', 'ruleset'])
    for (const address of ['10.22.0.50', '10.22.0.51'])
      t.notMatch(rules, address, 'no rule or element is left')
    t.same(await namespaces(), [])
  })
}
