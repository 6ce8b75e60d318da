/** The packaged ipkeeper as IPAM delegate of the real bridge plugin, in real network namespaces. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { makeNetworkNamespace, type NetworkNamespace } from '../rigs/netns.ts'
import { startPrivateHost, type PrivateHost } from '../rigs/private-host.ts'
import { findReferencePlugins, missing, pluginFolder } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import type { Finished } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'reference-plugins', 'executables')
const annotationsKey = 'io.kubernetes.cri.pod-annotations'

interface Site {
  readonly host: PrivateHost
  readonly daemon: Daemon
  readonly namespace: NetworkNamespace
  /** One call of bridge for a pod `shop/web-0` in the site's namespace. */
  readonly bridge: (
    command: string,
    config?: Readonly<Record<string, unknown>>,
    ipam?: object,
  ) => Promise<Finished>
}

interface AddResult {
  readonly ips: readonly { readonly address: string; readonly gateway?: string }[]
}

const resultOf = (finished: Finished): AddResult => JSON.parse(finished.stdout) as AddResult

/** A host, a daemon and a namespace for one test, gone when it ends. */
async function makeSite(t: Test): Promise<Site> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  const socket = folder.file('ipkeeper.sock')
  const stateDir = folder.file('state')
  const daemon = await startDaemon({ socket, stateDir, host })
  t.teardown(async () => {
    await daemon.stop()
    await host.close()
  })
  const namespace = await makeNetworkNamespace(host)
  const plugins = findReferencePlugins()!
  return {
    host,
    daemon,
    namespace,
    bridge: (command, config = {}, ipam = {}) =>
      runPlugin({
        plugin: join(plugins, 'bridge'),
        command,
        containerId: 'c0ffee',
        netns: namespace.path,
        ifname: 'eth0',
        args: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=one',
        path: `${pluginFolder}:${plugins}`,
        config: {
          ...{ cniVersion: '1.0.0', name: 'fixed', type: 'bridge', bridge: 'cni0', isGateway: true },
          ...config,
          ipam: { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/16' }]], ...ipam },
        },
        host,
      }),
  }
}

const asking = { runtimeConfig: { [annotationsKey]: { 'ipkeeper.io/ip': '10.22.0.50' } } }

t.test('the address of an annotation, in every version of the protocol', { skip }, async t => {
  const site = await makeSite(t)
  for (const cniVersion of ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0']) {
    await t.test(cniVersion, async t => {
      const { bridge, namespace, daemon } = site
      const config = { ...asking, cniVersion }
      const added = await bridge('ADD', config)
      t.equal(added.exit, 0, added.stdout + added.stderr)
      const shape =
        cniVersion < '0.3.0'
          ? { ip4: { ip: '10.22.0.50/16', gateway: '10.22.0.1' } }
          : { ips: [{ address: '10.22.0.50/16', gateway: '10.22.0.1' }] }
      t.match(JSON.parse(added.stdout), { cniVersion, ...shape })
      t.same(await namespace.addresses('eth0'), ['10.22.0.50/16'], 'it is on the interface')
      t.match(await daemon.boundLeases(), [
        {
          address: '10.22.0.50',
          network: 'fixed',
          containerId: 'c0ffee',
          ifname: 'eth0',
          pod: { name: 'web-0' },
        },
      ])
      const settled = { ...config, prevResult: JSON.parse(added.stdout) as unknown }
      if (cniVersion >= '0.4.0') {
        const checked = await bridge('CHECK', settled)
        t.equal(checked.exit, 0, checked.stdout)
      }
      const deleted = await bridge('DEL', settled)
      t.equal(deleted.exit, 0, deleted.stdout)
      t.same(await daemon.boundLeases(), [], 'DEL frees it')
      t.equal((await bridge('DEL', config)).exit, 0, 'a second DEL finds nothing to do')
    })
  }
})

t.test('one address of each family', { skip }, async t => {
  const { bridge, namespace, daemon } = await makeSite(t)
  const ranges = [[{ subnet: '10.22.0.0/16' }], [{ subnet: 'fd00:22::/64' }]]
  const annotations = { [annotationsKey]: { 'ipkeeper.io/ip': '10.22.0.50,fd00:22::50' } }
  const added = await bridge('ADD', { runtimeConfig: annotations }, { ranges })
  t.equal(added.exit, 0, added.stdout + added.stderr)
  t.same(
    resultOf(added).ips.map(ip => ip.address),
    ['10.22.0.50/16', 'fd00:22::50/64'],
  )
  t.same(await namespace.addresses('eth0'), ['10.22.0.50/16', 'fd00:22::50/64'])
  t.equal((await bridge('DEL', {}, { ranges })).exit, 0)
  t.same(await daemon.boundLeases(), [])
})

t.test('routes of the configuration are in the namespace', { skip }, async t => {
  const { bridge, namespace } = await makeSite(t)
  const added = await bridge('ADD', {}, { routes: [{ dst: '0.0.0.0/0' }] })
  t.equal(added.exit, 0, added.stdout + added.stderr)
  t.match(await namespace.ip('route', 'show', 'default'), [{ dst: 'default', gateway: '10.22.0.1' }])
})

t.test('an address is freed when bridge fails after it was given', { skip }, async t => {
  const { bridge, daemon } = await makeSite(t)
  // No such gateway can be reached: bridge gets its address, then fails to set this route and deletes again.
  const added = await bridge('ADD', asking, { routes: [{ dst: '198.51.100.0/24', gw: '192.0.2.1' }] })
  t.equal(added.exit, 1)
  t.match(added.stdout, /failed to add route|unreachable/)
  t.same(await daemon.boundLeases(), [], 'freed by bridge itself, before the runtime sends its DEL')
  t.equal((await bridge('DEL')).exit, 0)
  // On a bridge of its own: Debian's plugin cannot set the MAC of one that lost its last port like this.
  const retried = await bridge('ADD', { ...asking, bridge: 'cni1' })
  t.equal(retried.exit, 0, retried.stdout)
})

t.test('what ipkeeper refuses, bridge passes on, and leaves nothing', { skip }, async t => {
  const { bridge, daemon, namespace } = await makeSite(t)
  const cases: readonly (readonly [annotation: Record<string, string>, words: RegExp])[] = [
    [{ 'ipkeeper.io/ip': '192.0.2.7' }, /192\.0\.2\.7/],
    [{ 'ipkeeper.io/ip': '10.22.0.300' }, /10\.22\.0\.300/],
    [{ 'ipkeeper.io/pi': '10.22.0.50' }, /ipkeeper\.io\/ip/],
  ]
  for (const [annotation, words] of cases) {
    const added = await bridge('ADD', { runtimeConfig: { [annotationsKey]: annotation } })
    t.equal(added.exit, 1)
    const error = JSON.parse(added.stdout) as { code: number; msg: string; details?: string }
    t.match(`${error.msg} ${error.details ?? ''}`, words)
    t.ok(error.code > 0)
    t.same(await daemon.boundLeases(), [])
    // bridge leaves its veth when ADD fails; the runtime's DEL must succeed to take it away.
    t.equal((await bridge('DEL')).exit, 0)
    await t.rejects(namespace.addresses('eth0'), 'no interface was left')
  }
})
