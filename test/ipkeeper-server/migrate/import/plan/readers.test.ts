import t from 'tap'
import { readCalico } from '../../../../../ipkeeper-server/migrate/import/plan/read-calico.ts'
import { readCachedResult } from '../../../../../ipkeeper-server/result-cache/plan/read-cached-result.ts'
import { readCrdIpkeeper } from '../../../../../ipkeeper-server/migrate/import/plan/read-crd-ipkeeper.ts'
import { readHostLocal } from '../../../../../ipkeeper-server/migrate/import/plan/read-host-local.ts'
import { readKubeOvn } from '../../../../../ipkeeper-server/migrate/import/plan/read-kube-ovn.ts'
import { readWhereabouts } from '../../../../../ipkeeper-server/migrate/import/plan/read-whereabouts.ts'
import { readObject } from '../../../../../ipkeeper-server/migrate/import/plan/read-object.ts'
import { networkRanges } from '../../../../../ipkeeper-server/migrate/import/plan/network-ranges.ts'
import type { Findings } from '../../../../../ipkeeper-server/migrate/import/plan/findings.ts'
import { loadedNetworks } from '../../../../../ipkeeper-server/diagnose/lint/loaded-networks.ts'

const id = 'c'.repeat(64)

/** "10.22.0.2 net cccc eth0 shop/web-0 node" for each; what is not told is "-"; then what is unreadable. */
function told({ allocations, unreadable }: Findings): string[] {
  return [
    ...allocations.map(({ address, network, containerId, ifname, pod, node, keeps }) =>
      [
        ...[address, network ?? '-', (containerId ?? '-').slice(0, 4), ifname ?? '-'],
        ...[pod ? `${pod.namespace}/${pod.name}` : '-', node ?? '-', ...(keeps ? ['kept'] : [])],
      ].join(' '),
    ),
    ...unreadable.map(({ address, why }) => `${address ?? '-'}: ${why}`),
  ]
}

t.test('host-local', t => {
  const rows: readonly (readonly [name: string, text: string | null, told: readonly string[]])[] = [
    ['10.22.0.2', `${id}\r\neth0`, ['10.22.0.2 net cccc eth0 - -']],
    ['10.22.0.2', `${id}\neth0\n`, ['10.22.0.2 net cccc eth0 - -']],
    ['10.22.0.2', id, ['10.22.0.2 net cccc - - -']],
    ['fd00:22::0:2', `${id}\r\nnet1`, ['fd00:22::2 net cccc net1 - -']],
    ['10.22.0.2', '', ['10.22.0.2: it is empty: the holder of the address is not known']],
    ['10.22.0.2', '\0\0\0\0', ['10.22.0.2: its first line is no container ID']],
    ['10.22.0.2', '../../etc', ['10.22.0.2: its first line is no container ID']],
    ['10.22.0.2', null, ['10.22.0.2: EACCES']],
    ['last_reserved_ip.0', '10.22.0.2', []],
    ['lock', '', []],
    ['10.22.0.02', id, []],
  ]
  for (const [name, text, expected] of rows) {
    const file = { path: `/n/${name}`, name, text, why: 'EACCES', modifiedAt: 5 }
    t.same(told(readHostLocal('net', [file])), expected, `${name} ${JSON.stringify(text)}`)
  }
  t.end()
})

const pool = (range: string, allocations: object): object => ({
  ...{ kind: 'IPPool', metadata: { name: 'p', namespace: 'kube-system' }, spec: { range, allocations } },
})

t.test('whereabouts', t => {
  const guard = (
    name: string,
    spec: object = { containerid: id, podref: 'shop/web-9', ifname: 'net1' },
  ): object => ({
    ...{
      kind: 'OverlappingRangeIPReservation',
      metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec,
    },
  })
  const rows: Readonly<Record<string, readonly [objects: readonly object[], told: readonly string[]]>> = {
    'by offset from the first address': [
      [
        pool('10.22.0.0/24', {
          2: { id, podref: 'shop/web-0', ifname: 'net1' },
          300: { id, podref: 'shop/web-1' },
        }),
      ],
      ['10.22.0.2 - cccc net1 shop/web-0 -', '10.22.1.44 - cccc - shop/web-1 -'],
    ],
    'of IPv6, beyond 2^53': [
      [pool('fd00::/64', { '18446744073709551614': { id, podref: 'a/b' } })],
      ['fd00::ffff:ffff:ffff:fffe - cccc - a/b -'],
    ],
    'a claim keeps it': [
      [pool('10.0.0.0/8', { 1: { id, podref: 'a/b', ipamclaimref: 'a/c' } })],
      ['10.0.0.1 - cccc - a/b - kept'],
    ],
    'guards of allocations, and one without': [
      [pool('10.22.0.0/24', { 2: { id, podref: 'shop/web-9' } }), guard('10.22.0.2'), guard('10.22.0.3')],
      ['10.22.0.2 - cccc - shop/web-9 -', '10.22.0.3 - cccc net1 shop/web-9 -'],
    ],
    'a guard of IPv6, and of a named network': [
      [guard('fd00--5'), guard('storage-10.22.0.7')],
      ['fd00::5 - cccc net1 shop/web-9 -', '10.22.0.7 - cccc net1 shop/web-9 -'],
    ],
    'what is broken': [
      [pool('nothing', {}), pool('10.0.0.0/8', { x: { id }, 5: 'y', [`${2 ** 33}`]: { id } }), guard('a-b')],
      [
        '-: its range "nothing" is none',
        ...['5', '8589934592', 'x'].map(key => `-: allocation "${key}" cannot be read`),
        '-: its name is no address',
      ],
    ],
    'what a podref says that is none': [
      [pool('10.0.0.0/8', { 1: { id, podref: 'web-0' } })],
      ['10.0.0.1 - cccc - - -'],
    ],
  }
  for (const [what, [objects, expected]] of Object.entries(rows))
    t.same(
      told(readWhereabouts(objects.map(one => readObject({ ...one })))).sort(),
      [...expected].sort(),
      what,
    )
  t.end()
})

t.test('calico', t => {
  const block = {
    kind: 'IPAMBlock',
    metadata: { name: 'b' },
    spec: {
      cidr: '10.30.1.64/29',
      allocations: [0, null, 1, 2, 3, 9],
      attributes: [
        { handle_id: 'vxlan-tunnel-addr-w1', secondary: { node: 'w1', type: 'vxlanTunnelAddress' } },
        { handle_id: `k8s-pod-network.${id}`, secondary: { namespace: 'shop', pod: 'web-0', node: 'w1' } },
        { handle_id: `my.net.${id}`, secondary: { namespace: 'shop', pod: 'web-1', node: 'w2' } },
        { handle_id: 'by-hand', secondary: {} },
      ],
    },
  }
  const endpoint = {
    kind: 'WorkloadEndpoint',
    metadata: { name: 'e' },
    spec: { endpoint: 'net0', ipNetworks: ['10.30.1.66/32'], mac: 'AA:BB:CC:00:00:01', containerID: id },
  }
  t.same(told(readCalico([block, endpoint].map(readObject))), [
    '10.30.1.66 k8s-pod-network cccc net0 shop/web-0 w1',
    '10.30.1.67 my.net cccc - shop/web-1 w2',
    '10.30.1.68 - - - - -',
    '10.30.1.69: its holder is not known',
  ])
  t.end()
})

t.test('kube-ovn', t => {
  const ip = (name: string, spec: object): object => ({ kind: 'IP', metadata: { name }, spec })
  const web = { podName: 'web-0', namespace: 'shop', nodeName: 'w1', macAddress: '00:00:00:8D:1A:A0' }
  const objects = [
    ip('web-0.shop', { ...web, v4IpAddress: '10.16.0.5', v6IpAddress: 'fd00::5', podType: 'StatefulSet' }),
    ip('web-0.shop.net1.shop.ovn', { ...web, v4IpAddress: '10.17.0.5', containerID: id }),
    ip('old.shop', { ...web, podName: 'old', ipAddress: '10.16.0.6,fd00::6' }),
    ip('node-w1', { nodeName: 'w1', v4IpAddress: '100.64.0.2' }),
    ip('bad.shop', { ...web, podName: 'bad', v4IpAddress: 'none' }),
  ]
  t.same(told(readKubeOvn(objects.map(one => readObject({ ...one })))), [
    '10.16.0.5 - - eth0 shop/web-0 w1 kept',
    'fd00::5 - - eth0 shop/web-0 w1 kept',
    '10.17.0.5 - cccc - shop/web-0 w1',
    '10.16.0.6 - - eth0 shop/old w1',
    'fd00::6 - - eth0 shop/old w1',
    '-: "none" is no address',
  ])
  t.end()
})

t.test('crd-ipkeeper', t => {
  const object = {
    kind: 'StaticIP',
    metadata: { name: 's', namespace: 'shop' },
    spec: {
      namespace: 'shop',
      ipmap: {
        '172.16.91.140/24': { namespace: 'shop', name: 'web-a', uid: 'u' },
        '172.16.91.141/24': null,
        '172.16.91.142/24': { namespace: 'shop' },
        other: { name: 'web-b' },
      },
    },
  }
  t.same(told(readCrdIpkeeper([readObject(object)])), [
    '172.16.91.140 - - eth0 shop/web-a - kept',
    '172.16.91.142: it names no pod',
    '-: "other" is no address',
  ])
  t.end()
})

t.test("libcni's cache", t => {
  const whole = {
    ...{ kind: 'cniCacheV1', containerId: id, ifName: 'eth0', networkName: 'net' },
    cniArgs: [
      ['K8S_POD_NAMESPACE', 'shop'],
      ['K8S_POD_NAME', 'web-0'],
      ['K8S_POD_UID', 'u'],
    ],
    result: {
      ips: [{ address: '10.22.0.2/16', interface: 2 }, { address: 'fd00:22::0:2/64' }],
      interfaces: [{ name: 'cni0' }, { name: 'eth0', mac: 'AA:BB:CC:00:00:01', sandbox: '/var/run/netns/x' }],
    },
  }
  const key = { network: 'net', containerId: id, ifname: 'eth0' }
  t.strictSame(readCachedResult(JSON.stringify(whole)), {
    ...key,
    addresses: ['10.22.0.2', 'fd00:22::2'],
    pod: { namespace: 'shop', name: 'web-0', uid: 'u' },
    ...{ netns: '/var/run/netns/x', mac: 'aa:bb:cc:00:00:01' },
  })
  const old = { ...whole, cniArgs: null, netns: '/n', result: { ip4: { ip: '10.22.0.3/16' } } }
  t.strictSame(readCachedResult(JSON.stringify(old)), {
    ...key,
    addresses: ['10.22.0.3'],
    pod: null,
    netns: '/n',
    mac: null,
  })
  const allocation = '5b0ff3f4-6f0c-4d4f-9b0e-0c5b2b1f6a11'
  for (const [containerId, pod] of [
    [allocation, { namespace: 'default', name: `web.cache[${allocation}]`, uid: null }],
    [id, null],
  ] as const) {
    const cniArgs = Object.entries({
      ...{
        IgnoreUnknown: 'true',
        NOMAD_NAMESPACE: 'default',
        NOMAD_JOB_ID: 'web',
        NOMAD_GROUP_NAME: 'cache',
      },
      NOMAD_ALLOC_ID: allocation,
    })
    t.match(readCachedResult(JSON.stringify({ ...whole, containerId, cniArgs })), { containerId, pod })
  }
  for (const text of ['', '{', '[]', '{"kind":"other"}', JSON.stringify({ ...whole, containerId: '../x' })])
    t.equal(readCachedResult(text), undefined, text.slice(0, 20))
  t.end()
})

t.test('ranges in network configurations', t => {
  const text = (name: string, ipam: object): string =>
    JSON.stringify({ cniVersion: '0.4.0', name, plugins: [{ type: 'bridge', ipam }, { type: 'portmap' }] })
  const networks = loadedNetworks(
    Object.entries({
      '10.conflist': text('one', { type: 'host-local', subnet: '10.1.0.0/16', dataDir: '/run/cni' }),
      '20.conflist': text('two', { type: 'ipkeeper', ranges: [[{ subnet: '10.2.0.0/16' }]] }),
      '30.conflist': text('three', { type: 'dhcp' }),
      '40.conflist': text('four', { type: 'host-local' }),
    }).map(([name, content]) => ({ path: `/etc/cni/net.d/${name}`, name, text: content })),
  )
  const { configs, dataDirs } = networkRanges(networks)
  t.same(configs, [
    {
      cniVersion: '0.4.0',
      name: 'one',
      ipam: { type: 'ipkeeper', subnet: '10.1.0.0/16', dataDir: '/run/cni' },
    },
    { cniVersion: '0.4.0', name: 'two', ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.2.0.0/16' }]] } },
  ])
  t.same([...dataDirs], [['one', '/run/cni']])
  t.end()
})
