/** The packaged plugin under each parent that can be tried, of today and of Debian 12. */
import t from 'tap'
import { annotationsCapability, lan, makeCallerSite } from '../rigs/caller-site.ts'
import { callersFolder } from '../rigs/callers.ts'
import { openCnitool, type PrintedResult } from '../rigs/cnitool.ts'
import { makeNetworkNamespace } from '../rigs/netns.ts'
import type { Conflist } from '../rigs/pod-runtime.ts'
import { findReferencePlugins, missing } from '../rigs/requirements.ts'

const needs = ['go', 'callers', 'namespaces', 'executables'] as const

interface Parent {
  readonly settings: Readonly<Record<string, unknown>>
  readonly skip?: false | string
}

const parents: Readonly<Record<string, Parent>> = {
  bridge: { settings: { bridge: 'cni0', isGateway: true } },
  ptp: { settings: {} },
  macvlan: { settings: { master: lan, mode: 'bridge' }, skip: missing('macvlan') },
}

const families: readonly {
  readonly family: string
  readonly asked: string
  readonly got: readonly string[]
}[] = [
  { family: 'IPv4', asked: '10.22.0.50', got: ['10.22.0.50/16'] },
  { family: 'IPv4 and IPv6', asked: '10.22.0.50,fd00:22::50', got: ['10.22.0.50/16', 'fd00:22::50/64'] },
]

const releases = [
  {
    release: 'of today',
    cniVersion: '1.1.0',
    folder: () => callersFolder,
    skip: missing(...needs),
  },
  {
    release: 'of the machine',
    cniVersion: '1.0.0',
    folder: () => findReferencePlugins()!,
    skip: missing(...needs, 'reference-plugins'),
  },
]

for (const { release, cniVersion, folder, skip } of releases) {
  t.test(`parents ${release}`, { skip }, async t => {
    const site = await makeCallerSite(t)
    const before = await site.links()
    for (const [type, { settings, skip = false }] of Object.entries(parents)) {
      for (const { family, asked, got } of families) {
        await t.test(`${type}, ${family}`, { skip }, async t => {
          const ranges = got.map(address => [
            { subnet: address.includes(':') ? 'fd00:22::/64' : '10.22.0.0/16' },
          ])
          const conflist: Conflist = {
            cniVersion,
            // One name for each set of ranges.
            name: `fixed-${got.length}`,
            plugins: [
              {
                type,
                ...settings,
                capabilities: { [annotationsCapability]: true },
                ipam: site.ipam({ ranges, segment: `of-${got.length}` }),
              },
            ],
          }
          const namespace = await makeNetworkNamespace(site.host)
          const cnitool = openCnitool({
            ...{ site, conflist, namespace, referencePlugins: folder() },
            capabilities: { [annotationsCapability]: { 'ipkeeper.io/ip': asked } },
          })
          const succeeds = async (verb: string): Promise<string> => {
            const { exit, stdout, stderr } = await cnitool(verb)
            t.equal(exit, 0, `${verb}: ${stderr}`)
            return stdout
          }

          await succeeds('status')
          const result = JSON.parse(await succeeds('add')) as PrintedResult
          t.same(
            result.ips.map(ip => ip.address),
            got,
          )
          t.same(await namespace.addresses('eth0'), got)
          t.same(
            (await site.daemon().boundLeases()).map(lease => `${lease.address}/${lease.prefixLength}`),
            got,
          )
          await succeeds('check')
          await succeeds('del')
          t.same(await site.daemon().boundLeases(), [])
          await t.rejects(namespace.addresses('eth0'), 'the interface is gone')
          t.same(await site.links(before), before)

          // A pod whose namespace went first, as after a crash of its sandbox.
          await succeeds('add')
          await namespace.delete()
          await succeeds('del')
          t.same(await site.daemon().boundLeases(), [])
          t.same(await site.links(before), before)
        })
      }
    }
  })
}

t.test('parents of today pass STATUS on', { skip: missing(...needs) }, async t => {
  const site = await makeCallerSite(t)
  for (const [type, { settings }] of Object.entries(parents)) {
    const conflist: Conflist = {
      cniVersion: '1.1.0',
      name: 'fixed',
      plugins: [{ type, ...settings, ipam: site.ipamWithoutDaemon() }],
    }
    const namespace = await makeNetworkNamespace(site.host)
    const asked = await openCnitool({ site, conflist, namespace })('status')
    t.equal(asked.exit, 1, type)
    t.match(asked.stderr, /cannot reach ipkeeper-server on .*nobody\.sock/, type)
  }
})
