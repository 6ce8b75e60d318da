import t from 'tap'
import { resultFault } from '../../plugin/result-fault.ts'
import { supportedVersions } from '../../shared/cni/versions.ts'

t.test('each version has its shape, and an address', t => {
  const ip4 = { ip: '10.22.0.2/16' }
  const ips = [{ address: '10.22.0.2/16' }]
  for (const cniVersion of supportedVersions) {
    const byFamily = cniVersion < '0.3.0'
    const fault = (result: object): string | undefined => resultFault({ cniVersion, ...result }, cniVersion)
    t.equal(fault(byFamily ? { ip4 } : { ips }), undefined, cniVersion)
    t.equal(
      fault(byFamily ? { ip6: { ip: 'fd00::2/64' } } : { ips: [...ips, { address: '10.22.0.3/16' }] }),
      undefined,
      cniVersion,
    )
    t.match(fault(byFamily ? { ips } : { ip4 }), /in the shape of another version/, cniVersion)
    t.match(fault({ ip4, ips }), /in the shape of another version/, cniVersion)
    for (const none of [{}, byFamily ? { ip4: undefined } : { ips: [] }])
      t.equal(fault(none), 'a result without an address', cniVersion)
    t.match(resultFault({ cniVersion: '9.9.9', ip4, ips }, cniVersion), /^a result of version "9\.9\.9"/)
  }
  t.end()
})

const good = { address: '10.22.0.2/16', gateway: '10.22.0.1' }

t.test('every value that readers take for an address, a number or a word', t => {
  const rows: readonly [result: object, fault: string][] = [
    [{ ips: [{ address: '10.22.0.2' }] }, 'ips[0].address "10.22.0.2" is no address with a prefix'],
    ...[
      ...['10.22.0.2/33', '10.22.0.2/-1', '10.22.0.2/016', '10.22.0.2/', '10.22.0.256/16', '10.22.0/16'],
      ...['10.22.1.050/16', ' 10.22.0.2/16', '10.22.0.2/16\n', '10.22.0.2/16/16', 'localhost/8', '/16', '10'],
      ...['fd00::2/129', 'fd00::2%eth0/64', 'fd00:::2/64', '::ffff:10.22.0.2/16', '::ffff:10.22.0.2/112'],
      ...['0.0.0.0/0', '::/64', '224.0.0.1/24', 'ff02::1/64', '255.255.255.255/32', '10.22.0.2 /16'],
      ...['127.0.0.1/8', '127.9.0.1/32', '::1/128'],
    ].map((address): [object, string] => [
      { ips: [good, { address }] },
      `ips[1].address ${JSON.stringify(address)} is no address with a prefix`,
    ]),
    [{ ips: [good, good] }, 'ips[1].address "10.22.0.2/16" is there twice'],
    [{ ips: [good, { address: '10.22.0.2/24' }] }, 'ips[1].address "10.22.0.2/24" is there twice'],
    [
      { ips: [{ address: 'fd00::2/64' }, good, { address: 'fd00:0::2/64' }] },
      'ips[2].address "fd00:0::2/64" is there twice',
    ],
    [{ ips: [{ ...good, gateway: 'gw' }] }, 'ips[0].gateway "gw" is no address of IPv4'],
    [{ ips: [{ ...good, gateway: '10.22.0.1/16' }] }, 'ips[0].gateway "10.22.0.1/16" is no address of IPv4'],
    [{ ips: [{ ...good, gateway: 'fd00::1' }] }, 'ips[0].gateway "fd00::1" is no address of IPv4'],
    [
      { ips: [{ ...good, gateway: '::ffff:10.22.0.1' }] },
      'ips[0].gateway "::ffff:10.22.0.1" is no address of IPv4',
    ],
    [{ ips: [{ ...good, version: '6' }] }, 'ips[0].version "6" is not that of 10.22.0.2/16'],
    [{ ips: [{ ...good, interface: 0 }] }, 'ips[0].interface is 0, of 0 interfaces'],
    [
      { interfaces: [{ name: 'a' }], ips: [{ ...good, interface: 1 }] },
      'ips[0].interface is 1, of 1 interfaces',
    ],
    [{ routes: [{ dst: 'default' }] }, 'routes[0].dst "default" is no address with a prefix'],
    [{ routes: [{ dst: '10.0.0.0' }] }, 'routes[0].dst "10.0.0.0" is no address with a prefix'],
    [{ routes: [{ dst: '0.0.0.0/0', gw: '10.22.0' }] }, 'routes[0].gw "10.22.0" is no address of IPv4'],
    [{ routes: [{ dst: '0.0.0.0/0', gw: 'fd00::1' }] }, 'routes[0].gw "fd00::1" is no address of IPv4'],
    [{ routes: [{ dst: '::/0', gw: '10.22.0.1' }] }, 'routes[0].gw "10.22.0.1" is no address of IPv6'],
    [{ routes: [{ dst: '::/0', mtu: '1500' }] }, 'routes[0].mtu is no whole number from 0 up'],
    [{ routes: [{ dst: '::/0', table: 1.5 }] }, 'routes[0].table is no whole number from 0 up'],
    [{ routes: [{ dst: '::/0', priority: -1 }] }, 'routes[0].priority is no whole number from 0 up'],
    [{ routes: [{ dst: '::/0', scope: 1e300 }] }, 'routes[0].scope is no whole number from 0 up'],
    [{ interfaces: [{ name: 'a', mtu: '1' }] }, 'interfaces[0].mtu is no whole number from 0 up'],
    [{ interfaces: [{ name: 'a', mac: 7 }] }, 'interfaces[0].mac is no text'],
    [{ interfaces: [{ name: 'a', mac: 'x' }] }, 'interfaces[0].mac "x" is no MAC'],
    [{ interfaces: [{ name: 'a', sandbox: {} }] }, 'interfaces[0].sandbox is no text'],
    [{ dns: { nameservers: ['10.22.0.2', 'dns'] } }, 'dns.nameservers[1] "dns" is no IP address'],
    [{ dns: { nameservers: ['10.22.0.2%eth0'] } }, 'dns.nameservers[0] "10.22.0.2%eth0" is no IP address'],
    [
      { dns: { search: ['a\nnameserver 6.6.6.6'] } },
      'dns.search "a\\nnameserver 6.6.6.6" is more than one word',
    ],
    [{ dns: { domain: 'a b' } }, 'dns.domain "a b" is more than one word'],
    [{ IPs: [{ address: 'x' }] }, 'key "IPs" would be read as "ips"'],
    [{ 'ip\u017f': [] }, 'key "ip\u017f" would be read as "ips"'],
    [{ ips: [{ ...good, Address: 'x' }] }, 'key "ips[0].Address" would be read as "address"'],
    [{ routes: [{ dst: '::/0', GW: 'x' }] }, 'key "routes[0].GW" would be read as "gw"'],
    [{ dns: { nameServers: ['x'] } }, 'key "dns.nameServers" would be read as "nameservers"'],
  ]
  for (const [result, fault] of rows)
    t.equal(
      resultFault({ cniVersion: '1.1.0', ips: [good], ...result }, '1.1.0'),
      `a result whose ${fault}`,
      JSON.stringify(result),
    )
  const byFamily: readonly [result: object, fault: string][] = [
    [{ ip4: { ip: '10.22.0.2' } }, 'ip4.ip "10.22.0.2" is no address with a prefix of IPv4'],
    [{ ip4: { ip: 'fd00::2/64' } }, 'ip4.ip "fd00::2/64" is no address with a prefix of IPv4'],
    [{ ip6: { ip: '10.22.0.2/16' } }, 'ip6.ip "10.22.0.2/16" is no address with a prefix of IPv6'],
    [{ ip6: { ip: 'fd00::2/64', gateway: '10.22.0.1' } }, 'ip6.gateway "10.22.0.1" is no address of IPv6'],
    [
      { ip4: { ip: '10.22.0.2/16', routes: [{ dst: '::/0' }] } },
      'ip4.routes[0].dst "::/0" is no address with a prefix of IPv4',
    ],
    [
      { ip6: { ip: 'fd00::2/64', routes: [{ dst: '::/0', gw: 'x' }] } },
      'ip6.routes[0].gw "x" is no address of IPv6',
    ],
    [{ ip4: { ip: '10.22.0.2/16', Gateway: 'x' } }, 'key "ip4.Gateway" would be read as "gateway"'],
    [{ ip4: { ip: '10.22.0.2/16' }, dns: { nameservers: ['x'] } }, 'dns.nameservers[0] "x" is no IP address'],
  ]
  for (const [result, fault] of byFamily)
    t.equal(
      resultFault({ cniVersion: '0.2.0', ...result }, '0.2.0'),
      `a result whose ${fault}`,
      JSON.stringify(result),
    )
  t.end()
})

t.test('what looks odd and is good', t => {
  const rows: readonly object[] = [
    {
      ips: [{ address: '10.22.0.2/0', gateway: '' }, { address: 'FD00::2/128' }, { address: '240.0.0.2/4' }],
    },
    {
      ips: [good],
      routes: [
        { dst: '10.0.0.7/8', gw: '' },
        { dst: '0.0.0.0/0', gw: '192.0.2.1', mtu: 0 },
      ],
    },
    { ips: [good], routes: [{ dst: '::/0', table: 4294967295, scope: null }] },
    { ips: [{ ...good, version: '4', interface: 1 }], interfaces: [{ name: '', mac: '' }, { name: 'eth0' }] },
    { ips: [good], interfaces: [{ name: 'ib0', mac: 'aa:bb:cc:dd:ee:ff:00:11' }] },
    { ips: [good], dns: { nameservers: ['fe80::1%eth0', '::1'], domain: '', search: ['.'], options: [] } },
    { ips: [good], later: { Address: 7 }, ipsLater: [] },
  ]
  for (const result of rows)
    t.equal(resultFault({ cniVersion: '1.1.0', ...result }, '1.1.0'), undefined, JSON.stringify(result))
  t.end()
})
