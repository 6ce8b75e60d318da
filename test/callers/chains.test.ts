/** Plugins chained to the parent of the packaged plugin: today's, in several orders, and one that fails. */
import t from 'tap'
import { lan, makeCallerSite, type CallerSite } from '../rigs/caller-site.ts'
import { openCnitool, type CnitoolCall, type PrintedResult } from '../rigs/cnitool.ts'
import { makeNetworkNamespace, type NetworkNamespace } from '../rigs/netns.ts'
import type { Conflist, PluginConfig } from '../rigs/pod-runtime.ts'
import { missing, type Requirement } from '../rigs/requirements.ts'

const skip = missing('go', 'callers', 'namespaces', 'executables')

/** A plugin of a chain, and how to see that it has done its work on the pod at 10.22.0.50. */
interface Link {
  readonly config: (site: CallerSite) => PluginConfig
  /** Beyond what every chain needs. */
  readonly needs?: Requirement
  readonly works?: (site: CallerSite, namespace: NetworkNamespace) => Promise<boolean>
}

const parent = (type: string, settings: Readonly<Record<string, unknown>>): Link => ({
  config: site => ({ type, ...settings, ipam: site.ipam() }),
  works: async (_, namespace) => (await namespace.addresses('eth0')).includes('10.22.0.50/16'),
})

const links: Readonly<Record<string, Link>> = {
  loopback: { config: () => ({ type: 'loopback' }) },
  bridge: parent('bridge', { bridge: 'cni0', isGateway: true }),
  ptp: parent('ptp', {}),
  macvlan: { ...parent('macvlan', { master: lan, mode: 'bridge' }), needs: 'macvlan' },
  ipkeeper: parent('ipkeeper', { mode: 'bridge', bridge: 'cni0', ipMasq: true }),
  'ipkeeper, routed': parent('ipkeeper', { mode: 'ptp' }),
  'ipkeeper, macvlan': { ...parent('ipkeeper', { mode: 'macvlan', uplink: lan }), needs: 'macvlan' },
  portmap: {
    needs: 'nft',
    config: () => ({ type: 'portmap', backend: 'nftables', capabilities: { portMappings: true } }),
    works: async site => (await site.host.must('nft', ['list', 'ruleset'])).includes('10.22.0.50'),
  },
  tuning: {
    config: site => ({
      type: 'tuning',
      mtu: 1400,
      dataDir: site.folder.file('tuning'),
    }),
    works: async (_, namespace) => {
      const [eth0] = (await namespace.ip('link', 'show', 'dev', 'eth0')) as readonly { mtu: number }[]
      return eth0?.mtu === 1400
    },
  },
  firewall: {
    needs: 'reference-plugins',
    config: () => ({ type: 'firewall', backend: 'iptables' }),
    works: async site => (await site.host.must('iptables', ['-S', 'CNI-FORWARD'])).includes('10.22.0.50/32'),
  },
  bandwidth: {
    needs: 'ifb',
    config: () => ({ type: 'bandwidth', capabilities: { bandwidth: true } }),
    works: async site => (await site.host.must('ip', ['link', 'show', 'type', 'ifb'])) !== '',
  },
}

const chains: readonly (readonly string[])[] = [
  ['bridge', 'portmap'],
  ['bridge', 'tuning', 'bandwidth'],
  ['bridge', 'bandwidth', 'tuning'],
  ['bridge', 'tuning', 'bandwidth', 'portmap'],
  ['bridge', 'portmap', 'bandwidth', 'tuning'],
  ['ptp', 'portmap', 'bandwidth'],
  ['ptp', 'bandwidth', 'portmap'],
  ['macvlan', 'tuning'],
  // Another plugin of the main kind, before the parent.
  ['loopback', 'bridge', 'portmap'],
  ['ipkeeper', 'portmap'],
  ['ipkeeper', 'tuning', 'bandwidth', 'portmap', 'firewall'],
  ['ipkeeper', 'firewall', 'portmap', 'bandwidth', 'tuning'],
  ['ipkeeper, routed', 'portmap', 'bandwidth', 'firewall'],
  ['ipkeeper, macvlan', 'tuning'],
  ['loopback', 'ipkeeper', 'portmap'],
]

const asked: Partial<CnitoolCall> = {
  args: 'IgnoreUnknown=1;IP=10.22.0.50',
  capabilities: {
    portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }],
    bandwidth: { ingressRate: 1e6, ingressBurst: 1e6, egressRate: 1e6, egressBurst: 1e6 },
  },
}

t.test('chains', { skip }, async t => {
  const site = await makeCallerSite(t)
  const before = await site.links()
  for (const chain of chains) {
    const skip = missing(...chain.flatMap(name => links[name]?.needs ?? []))
    for (const cniVersion of ['0.4.0', '1.0.0', '1.1.0']) {
      await t.test(`${chain.join(', ')} in ${cniVersion}`, { skip }, async t => {
        const conflist: Conflist = {
          cniVersion,
          name: 'fixed',
          plugins: chain.map(name => links[name]!.config(site)),
        }
        const namespace = await makeNetworkNamespace(site.host)
        const cnitool = openCnitool({ site, conflist, namespace, ...asked })
        const added = await cnitool('add')
        t.equal(added.exit, 0, added.stderr)
        const result = JSON.parse(added.stdout) as PrintedResult
        t.equal(result.cniVersion, cniVersion)
        t.same(
          result.ips.map(ip => ip.address),
          ['10.22.0.50/16'],
          'the last plugin tells of the address that the first one got',
        )
        for (const name of chain)
          t.ok(await (links[name]!.works?.(site, namespace) ?? true), `${name} has done its work`)
        const checked = await cnitool('check')
        t.equal(checked.exit, 0, checked.stderr)
        const deleted = await cnitool('del')
        t.equal(deleted.exit, 0, deleted.stderr)
        t.same(await site.daemon().boundLeases(), [])
        t.same(await site.links(before), before)
        if (chain.includes('portmap'))
          t.notOk(await links['portmap']!.works!(site, namespace), 'no port is mapped to it')
      })
    }
  }
})

t.test('DEL after a chained plugin has failed leaves nothing', { skip }, async t => {
  const site = await makeCallerSite(t)
  const before = await site.links()
  const broken: readonly {
    readonly what: string
    readonly last: PluginConfig
    readonly words: RegExp
    readonly needs?: Requirement
  }[] = [
    {
      what: 'a sysctl that does not exist',
      last: { type: 'tuning', sysctl: { 'net.core.nothing': '1' } },
      words: /net\/core\/nothing/,
    },
    {
      what: 'a condition that nft cannot read',
      last: {
        ...{ type: 'portmap', backend: 'nftables', conditionsV4: ['nonsense'] },
        capabilities: { portMappings: true },
      },
      words: /nonsense/,
      needs: 'nft',
    },
  ]
  for (const type of ['bridge', 'ptp', 'macvlan', 'ipkeeper', 'ipkeeper, routed']) {
    for (const { what, last, words, needs } of broken) {
      const skip = missing(...[links[type]?.needs, needs].filter(need => need !== undefined))
      await t.test(`${type}, then ${what}`, { skip }, async t => {
        const conflist: Conflist = {
          cniVersion: '1.1.0',
          name: 'fixed',
          plugins: [links[type]!.config(site), last],
        }
        const namespace = await makeNetworkNamespace(site.host)
        const cnitool = openCnitool({ site, conflist, namespace, ...asked })
        const added = await cnitool('add')
        t.equal(added.exit, 1)
        t.match(added.stderr, words)
        t.equal((await site.daemon().boundLeases()).length, 1, 'the parent had its address')
        const deleted = await cnitool('del')
        t.equal(deleted.exit, 0, deleted.stderr)
        t.same(await site.daemon().boundLeases(), [])
        t.same(await site.links(before), before)
      })
    }
  }
})
