import t from 'tap'
import { encodeResult, type CniResult } from '../../../shared/cni/result.ts'
import { supportedVersions, type CniVersion } from '../../../shared/cni/versions.ts'

const full: CniResult = {
  interfaces: [{ name: 'eth0', mac: '02:00:00:00:00:01', mtu: 1450, sandbox: '/run/netns/a' }],
  ips: [
    { address: '10.1.2.2/24', gateway: '10.1.2.1', interface: 0 },
    { address: '2001:db8:1::2/64', gateway: '2001:db8:1::1', interface: 0 },
  ],
  routes: [
    { dst: '0.0.0.0/0' },
    { dst: '::/0' },
    { dst: '192.168.0.0/16', gw: '1.1.1.1', mtu: 1400, advmss: 1300, priority: 10, table: 50, scope: 253 },
  ],
  dns: { nameservers: ['10.0.0.10'], domain: 'x', search: [], options: ['ndots:5'] },
}

const dns = { nameservers: ['10.0.0.10'], domain: 'x', options: ['ndots:5'] }
const shortInterface = { name: 'eth0', mac: '02:00:00:00:00:01', sandbox: '/run/netns/a' }
const shortRoutes = [{ dst: '0.0.0.0/0' }, { dst: '::/0' }, { dst: '192.168.0.0/16', gw: '1.1.1.1' }]
const byFamily = (cniVersion: CniVersion): object => ({
  cniVersion,
  ip4: { ip: '10.1.2.2/24', gateway: '10.1.2.1', routes: [shortRoutes[0], shortRoutes[2]] },
  ip6: { ip: '2001:db8:1::2/64', gateway: '2001:db8:1::1', routes: [shortRoutes[1]] },
  dns,
})
const withFamily = (cniVersion: CniVersion): object => ({
  cniVersion,
  interfaces: [shortInterface],
  ips: [
    { version: '4', interface: 0, address: '10.1.2.2/24', gateway: '10.1.2.1' },
    { version: '6', interface: 0, address: '2001:db8:1::2/64', gateway: '2001:db8:1::1' },
  ],
  routes: shortRoutes,
  dns,
})
const ips = [
  { interface: 0, address: '10.1.2.2/24', gateway: '10.1.2.1' },
  { interface: 0, address: '2001:db8:1::2/64', gateway: '2001:db8:1::1' },
]

const expected: Readonly<Record<CniVersion, object>> = {
  '0.1.0': byFamily('0.1.0'),
  '0.2.0': byFamily('0.2.0'),
  '0.3.0': withFamily('0.3.0'),
  '0.3.1': withFamily('0.3.1'),
  '0.4.0': withFamily('0.4.0'),
  '1.0.0': { cniVersion: '1.0.0', interfaces: [shortInterface], ips, routes: shortRoutes, dns },
  '1.1.0': { cniVersion: '1.1.0', interfaces: full.interfaces, ips, routes: full.routes, dns },
}

t.test('one result in every version: 1.E', t => {
  for (const version of supportedVersions) t.same(encodeResult(full, version), expected[version], version)
  t.end()
})

t.test('what is empty', t => {
  const bare: CniResult = { ips: [{ address: '10.1.2.2/24' }], routes: [], dns: {} }
  t.same(encodeResult(bare, '0.2.0'), { cniVersion: '0.2.0', ip4: { ip: '10.1.2.2/24' }, dns: {} })
  const v4 = { cniVersion: '0.4.0', ips: [{ version: '4', address: '10.1.2.2/24' }], dns: {} }
  t.same(encodeResult(bare, '0.4.0'), v4)
  t.same(encodeResult(bare, '1.1.0'), { cniVersion: '1.1.0', ips: [{ address: '10.1.2.2/24' }] })
  t.end()
})

t.test('one family in the old shape', t => {
  const six: CniResult = {
    ips: [{ address: '2001:db8:1::2/64' }],
    routes: [{ dst: '0.0.0.0/0' }, { dst: '2001:db8::/32', gw: '2001:db8:1::9' }],
    dns: { search: ['a'] },
  }
  for (const version of ['0.1.0', '0.2.0'] as const) {
    t.same(encodeResult(six, version), {
      cniVersion: version,
      ip6: { ip: '2001:db8:1::2/64', routes: [{ dst: '2001:db8::/32', gw: '2001:db8:1::9' }] },
      dns: { search: ['a'] },
    })
  }
  t.end()
})

t.test('numbers are integers, and zero is one: E2, E4', t => {
  const zeroes: CniResult = {
    interfaces: [{ name: 'eth0' }],
    ips: [{ address: '10.1.2.2/24', interface: 0 }],
    routes: [{ dst: '0.0.0.0/0', mtu: 0, priority: 0, table: 0, scope: 0, advmss: 0 }],
    dns: {},
  }
  t.equal(
    JSON.stringify(encodeResult(zeroes, '1.1.0')),
    '{"cniVersion":"1.1.0","interfaces":[{"name":"eth0"}],"ips":[{"interface":0,"address":"10.1.2.2/24"}],' +
      '"routes":[{"dst":"0.0.0.0/0","mtu":0,"advmss":0,"priority":0,"table":0,"scope":0}]}',
  )
  t.end()
})

t.test('the order of addresses is kept: E10', t => {
  const many: CniResult = {
    ips: ['2001:db8::2/64', '10.1.2.2/24', '10.1.3.2/24'].map(address => ({ address })),
    routes: [],
    dns: {},
  }
  const addresses = (version: CniVersion): string[] =>
    (encodeResult(many, version)['ips'] as { address: string }[]).map(ip => ip.address)
  for (const version of ['0.3.0', '0.4.0', '1.0.0', '1.1.0'] as const)
    t.same(addresses(version), ['2001:db8::2/64', '10.1.2.2/24', '10.1.3.2/24'], version)
  t.match(encodeResult(many, '0.2.0'), { ip4: { ip: '10.1.2.2/24' }, ip6: { ip: '2001:db8::2/64' } })
  t.end()
})
