import t from 'tap'
import type { WiringRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import {
  cachedResult,
  type AttachmentRecords,
  knownNetworks,
} from '../../../../ipkeeper-server/result-cache/plan/cached-result.ts'
import { cachedResultFault } from '../../../../ipkeeper-server/result-cache/plan/content-fault.ts'
import type { LoadedNetwork } from '../../../../ipkeeper-server/diagnose/lint/loaded-networks.ts'
import { attachmentOf, attachmentRecord, lease } from '../../../rigs/records.ts'

const attachment = attachmentRecord({ podUid: 'uid-1', netns: '/run/netns/a', netnsInode: '1' })
const leases = [
  lease('10.22.0.50', 1, { prefixLength: 16, gateway: '10.22.0.1' }),
  lease('fd00::50', 1, { prefixLength: 64, gateway: 'fd00::1' }),
]
const conflist = { name: 'net', cniVersion: '1.0.0', base64: 'e30=' } as const
const parse = (...args: Parameters<typeof cachedResult>): unknown => {
  const document: unknown = JSON.parse(cachedResult(...args))
  t.equal(cachedResultFault(document), undefined, 'what we write, we take for good')
  return document
}

t.test('in the IPAM role', t => {
  t.strictSame(parse({ attachment, leases, bridgeMac: undefined }, conflist), {
    kind: 'cniCacheV1',
    containerId: 'c1',
    config: 'e30=',
    ifName: 'eth0',
    networkName: 'net',
    netns: '/run/netns/a',
    cniArgs: [
      ['IgnoreUnknown', '1'],
      ['K8S_POD_NAMESPACE', 'shop'],
      ['K8S_POD_NAME', 'web-0'],
      ['K8S_POD_INFRA_CONTAINER_ID', 'c1'],
      ['K8S_POD_UID', 'uid-1'],
    ],
    result: {
      cniVersion: '1.0.0',
      interfaces: [{ name: 'eth0', sandbox: '/run/netns/a' }],
      ips: [
        { interface: 0, address: '10.22.0.50/16', gateway: '10.22.0.1' },
        { interface: 0, address: 'fd00::50/64', gateway: 'fd00::1' },
      ],
    },
  })
  t.end()
})

t.test('in other versions of the conflist', t => {
  t.match(parse({ attachment, leases, bridgeMac: undefined }, { ...conflist, cniVersion: '0.4.0' }), {
    result: { cniVersion: '0.4.0', ips: [{ version: '4' }, { version: '6' }], dns: {} },
  })
  t.match(parse({ attachment, leases, bridgeMac: undefined }, { ...conflist, cniVersion: '0.2.0' }), {
    result: { cniVersion: '0.2.0', ip4: { ip: '10.22.0.50/16' }, ip6: { ip: 'fd00::50/64' } },
  })
  t.end()
})

t.test('of a container without a pod, and without a path of a namespace', t => {
  const holder = { kind: 'container', ...attachmentOf('c1') } as const
  const document = parse(
    { attachment: { ...attachment, holder, podUid: null, netns: '' }, leases, bridgeMac: undefined },
    conflist,
  )
  t.notHas(document, { cniArgs: [] })
  t.notHas(document, { netns: '' })
  t.match(document, { result: { interfaces: [{ name: 'eth0' }] } })
  t.end()
})

t.test('of an allocation of Nomad, which no runtime of pods made', t => {
  const holder = {
    kind: 'pod',
    network: 'net',
    namespace: 'default',
    name: 'web.cache[0]',
    ifname: 'eth0',
  } as const
  const own = { ...attachment, holder, podUid: null }
  t.notHas(parse({ attachment: own, leases, bridgeMac: undefined }, conflist), { cniArgs: [] })
  t.end()
})

t.test('of addresses that a fallback gave', t => {
  const given = { ...attachment, delegatedTo: 'host-local', given: ['10.9.0.2/24'] }
  t.match(parse({ attachment: given, leases: [], bridgeMac: undefined }, conflist), {
    result: { ips: [{ address: '10.9.0.2/24', interface: 0 }] },
  })
  t.end()
})

t.test('in the main role', t => {
  const wiring: WiringRecord = {
    ...{ mode: 'bridge', mac: '02:00:00:00:00:02', mtu: 1450, master: 'cni0', masqueraded: [] },
    ...{ hostLink: { name: 'ipk0123', mac: '02:00:00:00:00:01' }, proxyOn: null },
    routes: [{ dst: '0.0.0.0/0', gw: '10.22.0.1' }],
  }
  const main = { attachment: { ...attachment, wiring }, leases }
  const pod = { name: 'eth0', mac: '02:00:00:00:00:02', sandbox: '/run/netns/a' }
  const host = { name: 'ipk0123', mac: '02:00:00:00:00:01' }
  const cases: readonly (readonly [string, Partial<AttachmentRecords>, readonly object[]])[] = [
    [
      'bridge',
      { ...main, bridgeMac: '02:00:00:00:00:aa' },
      [{ name: 'cni0', mac: '02:00:00:00:00:aa' }, host, pod],
    ],
    ['bridge that is gone', { ...main, bridgeMac: undefined }, [{ name: 'cni0' }, host, pod]],
    [
      'ptp',
      { ...main, attachment: { ...main.attachment, wiring: { ...wiring, mode: 'ptp', master: null } } },
      [host, pod],
    ],
    [
      'macvlan',
      {
        ...main,
        attachment: {
          ...main.attachment,
          wiring: { ...wiring, mode: 'macvlan', master: 'lan0', hostLink: null },
        },
      },
      [pod],
    ],
  ]
  for (const [what, records, interfaces] of cases) {
    const index = interfaces.length - 1
    t.match(
      parse({ ...main, bridgeMac: undefined, ...records }, conflist),
      {
        result: {
          interfaces,
          ips: [{ interface: index }, { interface: index }],
          routes: [{ dst: '0.0.0.0/0', gw: '10.22.0.1' }],
        },
      },
      what,
    )
  }
  t.match(parse({ ...main, bridgeMac: undefined }, { ...conflist, cniVersion: '1.1.0' }), {
    result: { interfaces: [{ name: 'cni0' }, { mtu: 1450 }, { mtu: 1450 }] },
  })
  t.end()
})

const network = (name: string, patch: Partial<LoadedNetwork>): LoadedNetwork => ({
  ...{ path: `/net.d/${name}`, name, cniVersion: '1.0.0', plugins: [], list: '{}' },
  ...patch,
})

t.test('what a Result can be written for, and whose networks they are', t => {
  const ipam = { type: 'ipkeeper' }
  const known = knownNetworks([
    network('main', { plugins: [{ type: 'ipkeeper' }], list: '{"name": "m\u00e4in"}' }),
    network('main', { cniVersion: '0.4.0' }),
    network('delegate', { plugins: [{ type: 'x' }, { type: 'bridge', ipam }], cniVersion: undefined }),
    network('other', { plugins: [{ type: 'bridge', ipam: { type: 'host-local' } }], cniVersion: '0.4.0' }),
    network('', { plugins: [{ type: 'ipkeeper' }] }),
  ])
  const base64 = Buffer.from('{"name": "m\u00e4in"}').toString('base64')
  t.strictSame(Object.fromEntries(known), {
    main: { usesIpkeeper: true, conflist: { name: 'main', cniVersion: '1.0.0', base64 } },
    delegate: { usesIpkeeper: true, conflist: undefined },
    other: { usesIpkeeper: false, conflist: { name: 'other', cniVersion: '0.4.0', base64: 'e30=' } },
  })
  t.end()
})
