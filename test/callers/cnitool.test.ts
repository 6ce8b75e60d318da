/** The packaged plugin under cnitool and the current bridge, verb by verb. */
import t, { type Test } from 'tap'
import { annotationsCapability, makeCallerSite, type CallerSite } from '../rigs/caller-site.ts'
import { openCnitool, type CnitoolCall, type PrintedResult } from '../rigs/cnitool.ts'
import { makeNetworkNamespace, type NetworkNamespace } from '../rigs/netns.ts'
import type { Conflist } from '../rigs/pod-runtime.ts'
import { missing, pluginFolder, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import type { Finished } from '../rigs/run-program.ts'

const skip = missing('go', 'callers', 'namespaces', 'executables')

const bridged = (site: CallerSite, cniVersion: string, ipam = site.ipam()): Conflist => ({
  cniVersion,
  name: 'fixed',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      capabilities: { ips: true, [annotationsCapability]: true },
      ipam,
    },
  ],
})

interface Attempt {
  readonly cnitool: (verb: string) => Promise<Finished>
  readonly namespace: NetworkNamespace
}

async function attempt(
  site: CallerSite,
  conflist: Conflist,
  asked: Partial<CnitoolCall> = {},
): Promise<Attempt> {
  const namespace = await makeNetworkNamespace(site.host)
  return { namespace, cnitool: openCnitool({ ...asked, site, conflist, namespace }) }
}

const succeeds = (t: Test, finished: Finished, what: string): void => {
  t.equal(finished.exit, 0, `${what}: ${finished.stderr}${finished.stdout}`)
}

t.test('every verb in every version that cnitool takes', { skip }, async t => {
  const site = await makeCallerSite(t)
  const before = await site.links()
  const cases = [
    { cniVersion: '0.3.1', check: /does not support the CHECK command/ },
    { cniVersion: '0.4.0' },
    { cniVersion: '1.0.0' },
    { cniVersion: '1.1.0' },
  ]
  for (const { cniVersion, check } of cases) {
    await t.test(cniVersion, async t => {
      const { cnitool, namespace } = await attempt(site, bridged(site, cniVersion), {
        args: 'IgnoreUnknown=1;IP=10.22.0.50',
      })
      succeeds(t, await cnitool('status'), 'status; before 1.1.0 cnitool itself says so')
      const added = await cnitool('add')
      succeeds(t, added, 'add')
      t.match(JSON.parse(added.stdout), { cniVersion, ips: [{ address: '10.22.0.50/16' }] })
      t.same(await namespace.addresses('eth0'), ['10.22.0.50/16'])
      const checked = await cnitool('check')
      if (check === undefined) succeeds(t, checked, 'check')
      else t.match(checked.stderr, check, 'libcni refuses')
      succeeds(t, await cnitool('del'), 'del')
      t.same(await site.daemon().boundLeases(), [])
      t.same(await site.links(before), before, 'no veth is left')
      succeeds(t, await cnitool('del'), 'a second del')
      succeeds(t, await cnitool('gc'), 'gc')
    })
  }
})

t.test('an address asked for by each channel', { skip }, async t => {
  const site = await makeCallerSite(t)
  const conflist = bridged(site, '1.1.0')
  const cases: readonly (readonly [channel: string, asked: Partial<CnitoolCall>, address: string])[] = [
    ['CNI_ARGS', { args: 'IgnoreUnknown=1;IP=10.22.0.51' }, '10.22.0.51/16'],
    ['runtimeConfig.ips', { capabilities: { ips: ['10.22.0.52/16'] } }, '10.22.0.52/16'],
    [
      'annotation ipkeeper.io/ip',
      { capabilities: { [annotationsCapability]: { 'ipkeeper.io/ip': '10.22.0.53' } } },
      '10.22.0.53/16',
    ],
    ['nobody', {}, '10.22.0.2/16'],
  ]
  for (const [channel, asked, address] of cases) {
    await t.test(channel, async t => {
      const { cnitool, namespace } = await attempt(site, conflist, asked)
      const added = await cnitool('add')
      succeeds(t, added, 'add')
      t.equal((JSON.parse(added.stdout) as PrintedResult).ips[0]?.address, address)
      t.same(await namespace.addresses('eth0'), [address])
      t.match(await site.daemon().boundLeases(), [{ address: address.replace('/16', ''), ifname: 'eth0' }])
      succeeds(t, await cnitool('check'), 'check')
      succeeds(t, await cnitool('del'), 'del')
      t.same(await site.daemon().boundLeases(), [])
    })
  }
})

t.test('what add is refused, in the words of the daemon, and del leaves nothing', { skip }, async t => {
  const site = await makeCallerSite(t)
  const conflist = bridged(site, '1.1.0')
  const holder = await attempt(site, conflist, { args: 'IgnoreUnknown=1;IP=10.22.0.50' })
  succeeds(t, await holder.cnitool('add'), 'add')
  const before = await site.daemon().boundLeases()
  const annotated = (ip: string): Partial<CnitoolCall> => ({
    capabilities: { [annotationsCapability]: { 'ipkeeper.io/ip': ip } },
  })
  const cases: readonly (readonly [asked: Partial<CnitoolCall>, words: RegExp])[] = [
    [annotated('10.22.0.50'), /10\.22\.0\.50, which is held by .*\[IPK_ADDRESS_HELD, request \w+\]/s],
    [annotated('192.0.2.7'), /192\.0\.2\.7, which is outside .*\[IPK_ADDRESS_OUTSIDE, /s],
    [{ args: 'IgnoreUnknown=1;IP=ten' }, /ten/],
  ]
  for (const [asked, words] of cases) {
    const { cnitool } = await attempt(site, conflist, asked)
    const links = await site.links()
    const added = await cnitool('add')
    t.equal(added.exit, 1)
    t.match(added.stderr, words)
    succeeds(t, await cnitool('del'), 'del')
    t.same(await site.daemon().boundLeases(), before)
    t.same(await site.links(links), links)
  }
})

t.test('check fails when what it looks at is gone', { skip }, async t => {
  const site = await makeCallerSite(t)
  const conflist = bridged(site, '1.1.0')
  const cases: readonly {
    readonly gone: string
    readonly remove: (namespace: NetworkNamespace, containerId: string) => Promise<unknown>
    readonly words: RegExp
  }[] = [
    {
      gone: 'the address on the interface',
      remove: namespace => namespace.ip('address', 'flush', 'dev', 'eth0'),
      words: /Failed to match addr 10\.22\.0\.50\/16/,
    },
    {
      gone: 'the lease',
      remove: (namespace, containerId) =>
        runPlugin({
          plugin: testedPlugin,
          command: 'DEL',
          containerId,
          netns: namespace.path,
          ifname: 'eth0',
          path: pluginFolder,
          config: { cniVersion: '1.1.0', name: 'fixed', ipam: site.ipam() },
          host: site.host,
        }),
      words: /Failed to find address added by container .*\[IPK_LEASE_MISSING, /s,
    },
  ]
  for (const { gone, remove, words } of cases) {
    await t.test(gone, async t => {
      const { cnitool, namespace } = await attempt(site, conflist, { args: 'IgnoreUnknown=1;IP=10.22.0.50' })
      succeeds(t, await cnitool('add'), 'add')
      const [lease] = await site.daemon().boundLeases()
      await remove(namespace, lease!.containerId!)
      const checked = await cnitool('check')
      t.equal(checked.exit, 1)
      t.match(checked.stderr, words)
      succeeds(t, await cnitool('del'), 'del')
      t.same(await site.daemon().boundLeases(), [])
    })
  }
})

t.test('status fails where no daemon has ever been', { skip }, async t => {
  const site = await makeCallerSite(t)
  const { cnitool } = await attempt(site, bridged(site, '1.1.0', site.ipamWithoutDaemon()))
  const asked = await cnitool('status')
  t.equal(asked.exit, 1)
  t.match(asked.stderr, 'cannot reach ipkeeper-server')
  t.match(asked.stderr, 'nobody.sock')
})

t.test('gc', { skip }, async t => {
  const site = await makeCallerSite(t)
  const conflist = bridged(site, '1.1.0')

  await t.test('ends by DEL what cnitool has in its own cache', async t => {
    const { cnitool, namespace } = await attempt(site, conflist, { args: 'IgnoreUnknown=1;IP=10.22.0.50' })
    succeeds(t, await cnitool('add'), 'add')
    succeeds(t, await cnitool('gc'), 'gc')
    t.same(await site.daemon().boundLeases(), [])
    await t.rejects(namespace.addresses('eth0'), 'the interface is gone')
  })

  // Bridge 1.9 does not pass GC on. Whether it does or not: cnitool sends no list, and that ends nobody's lease.
  await t.test('leaves what it has no cache of', async t => {
    const { cnitool, namespace } = await attempt(site, conflist, { args: 'IgnoreUnknown=1;IP=10.22.0.50' })
    succeeds(t, await cnitool('add'), 'add')
    await site.host.must('rm', ['-r', '/var/lib/cni/results'])
    const before = await site.daemon().boundLeases()
    succeeds(t, await cnitool('gc'), 'gc')
    t.equal(before.length, 1)
    t.same(await site.daemon().boundLeases(), before)
    t.same(await namespace.addresses('eth0'), ['10.22.0.50/16'])
    succeeds(t, await cnitool('del'), 'del, which needs no cache')
    t.same(await site.daemon().boundLeases(), [])
  })
})
