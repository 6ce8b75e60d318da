import t from 'tap'
import { readResult, strayKeys, writeResult } from '../../../../ipkeeper-server/diagnose/try/plugin-result.ts'

const modern = {
  cniVersion: '1.1.0',
  interfaces: [
    { name: 'cni0' },
    { name: 'eth0', mac: '02:00:00:00:00:01', mtu: 1400, sandbox: '/run/netns/a' },
  ],
  ips: [
    { interface: 1, address: '10.1.1.2/24', gateway: '10.1.1.1' },
    { interface: 1, address: 'fd00:0:0::2/64' },
  ],
  routes: [{ dst: '0.0.0.0/0', gw: '10.1.1.1', mtu: 1300 }, { dst: '::/0' }],
  dns: {},
}
const dns = { nameservers: ['10.1.1.1'], search: ['a'] }

t.test('a Result as the next plugin gets it', t => {
  const rows: readonly (readonly [
    what: string,
    document: object,
    from: string,
    to: string,
    wanted: object,
  ])[] = [
    [
      'as it came, without what is empty',
      modern,
      '1.1.0',
      '1.1.0',
      {
        ...{ cniVersion: '1.1.0', interfaces: modern.interfaces, routes: modern.routes },
        ips: [modern.ips[0], { interface: 1, address: 'fd00::2/64' }],
      },
    ],
    [
      'in 0.4.0: families named, no mtu of interfaces, dns always',
      modern,
      '1.1.0',
      '0.4.0',
      {
        cniVersion: '0.4.0',
        interfaces: [{ name: 'cni0' }, { name: 'eth0', mac: '02:00:00:00:00:01', sandbox: '/run/netns/a' }],
        ips: [
          { version: '4', interface: 1, address: '10.1.1.2/24', gateway: '10.1.1.1' },
          { version: '6', interface: 1, address: 'fd00::2/64' },
        ],
        routes: modern.routes,
        dns: {},
      },
    ],
    [
      'in 0.2.0: one object per family',
      modern,
      '1.1.0',
      '0.2.0',
      {
        cniVersion: '0.2.0',
        ip4: { ip: '10.1.1.2/24', gateway: '10.1.1.1', routes: [modern.routes[0]] },
        ip6: { ip: 'fd00::2/64', routes: [modern.routes[1]] },
        dns: {},
      },
    ],
    [
      'from 0.2.0',
      { ip4: { ip: '10.1.1.2/24', routes: [{ dst: '0.0.0.0/0' }] }, dns },
      '0.2.0',
      '1.0.0',
      { cniVersion: '1.0.0', ips: [{ address: '10.1.1.2/24' }], routes: [{ dst: '0.0.0.0/0' }], dns },
    ],
    [
      'keys in any case, unknown ones dropped',
      { IPs: [{ Address: '10.1.1.2/24', Gateway: '' }], more: 1 },
      '1.0.0',
      '1.0.0',
      { cniVersion: '1.0.0', ips: [{ address: '10.1.1.2/24' }] },
    ],
  ]
  for (const [what, document, from, to, wanted] of rows)
    t.strictSame(writeResult(readResult({ ...document }, from), to), wanted, what)
  t.end()
})

t.test('what nobody can decode', t => {
  const rows: readonly (readonly [document: object, version: string, names: RegExp])[] = [
    [{ ips: {} }, '1.0.0', /"ips"/],
    [{ ips: [{}] }, '1.0.0', /"ips\[0\]\.address" is missing/],
    [{ ips: [{ address: '10.1.1.2' }] }, '1.0.0', /is not ADDRESS\/LENGTH: "10\.1\.1\.2"/],
    [{ ips: [{ address: '10.1.1.2/24', gateway: 'x' }] }, '1.0.0', /gateway" is no address/],
    [{ ips: [{ address: '10.1.1.2/24', interface: 0.5 }] }, '1.0.0', /interface" must be an integer/],
    [{ interfaces: [{ name: 'eth0', mtu: '1500' }] }, '1.0.0', /interfaces\[0\]\.mtu/],
    [{ routes: [{ gw: '10.1.1.1' }] }, '1.0.0', /routes\[0\]\.dst" is missing/],
    [{ dns: { nameservers: 'x' } }, '1.0.0', /dns\.nameservers/],
    [{ ip4: { ip: 'x' } }, '0.2.0', /ip4\.ip/],
  ]
  for (const [document, version, names] of rows) {
    t.throws(() => readResult({ ...document }, version), { message: names })
  }
  t.end()
})

t.test('keys of other versions', t => {
  t.strictSame(strayKeys({ ip4: {} }, '1.0.0'), ['ip4'])
  t.strictSame(strayKeys({ ips: [{}] }, '0.2.0'), ['ips'])
  t.strictSame(strayKeys({ ips: [{}] }, '1.0.0'), [])
  t.end()
})
