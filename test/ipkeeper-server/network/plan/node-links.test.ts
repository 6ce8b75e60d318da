import t from 'tap'
import {
  NodeLinks,
  readAddressNews,
  readLinkNews,
} from '../../../../ipkeeper-server/network/plan/node-links.ts'

const forever = '\\       valid_lft forever preferred_lft forever'

t.test('lines of ip -oneline, as iproute2 6.1 writes them', t => {
  for (const [line, link, cidr, gone] of [
    [`1: lo    inet 10.9.0.1/32 scope global lo${forever}`, 'lo', '10.9.0.1/32', false],
    [`3: aa1    inet 10.1.0.1/24 brd 10.1.0.255 scope global aa1:1${forever}`, 'aa1', '10.1.0.1/24', false],
    [`3: aa1    inet 10.1.0.2/24 scope global secondary aa1${forever}`, 'aa1', '10.1.0.2/24', false],
    [`3: aa1    inet 10.0.0.1 peer 10.0.0.2/32 scope global aa1${forever}`, 'aa1', '10.0.0.1', false],
    [`3: aa1    inet6 fd00::1/64 scope global tentative ${forever}`, 'aa1', 'fd00::1/64', false],
    [`3: aa1    inet6 fd00::1 peer fd00::2/128 scope global ${forever}`, 'aa1', 'fd00::1', false],
    [`Deleted 6: if6    inet 10.8.0.1/24 scope global ee1${forever}`, 'if6', '10.8.0.1/24', true],
    ['7: tun0@NONE    inet 10.8.0.3/24 scope global tun0', 'tun0', '10.8.0.3/24', false],
  ] as const) {
    const news = readAddressNews(line)
    t.match(news, { link, cidr, gone }, line)
    const opposite = gone ? line.replace('Deleted ', '') : `Deleted ${line}`
    t.equal(readAddressNews(opposite)?.key, news?.key, 'the same one, come or gone')
  }
  for (const line of [
    '',
    'Timestamp: Sun Nov 22 16:45:00 2026 0 usec',
    `3: aa1    inet6 fe80::d477:73ff:fefd:6d16/64 scope link tentative ${forever}`,
    '2: aa1    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff',
  ]) {
    t.equal(readAddressNews(line), undefined, line)
  }
  t.end()
})

t.test('one address on two links, or with two prefixes, is two', t => {
  const keys = ['3: a    inet 10.1.0.1/24 scope global a', '3: a    inet 10.1.0.1/32 scope global a']
  keys.push('4: b    inet 10.1.0.1/24 scope global b')
  t.equal(new Set(keys.map(line => readAddressNews(line)?.key)).size, 3)
  t.end()
})

t.test('links', t => {
  for (const [line, news] of [
    [
      '4: ipk0123456789ab@if2: <BROADCAST,UP> mtu 1500 qdisc noqueue master br0 state UP group default qlen 1000\\    link/ether da:04:f2:ed:de:cd brd ff:ff:ff:ff:ff:ff link-netns pod\\    alias ipkeeper net master x eth0',
      { key: '4', name: 'ipk0123456789ab', master: 'br0', mac: 'da:04:f2:ed:de:cd', gone: false },
    ],
    [
      'Deleted 4: x@y@NONE: <BROADCAST> mtu 1500 master br0 state DOWN \\    link/ether da:04:f2:ed:de:cd',
      { key: '4', name: 'x@y', master: 'br0', mac: 'da:04:f2:ed:de:cd', gone: true },
    ],
    [
      '2: tun0: <POINTOPOINT> mtu 1420 qdisc noop state DOWN mode DEFAULT group default qlen 1000\\    link/none',
      { key: '2', name: 'tun0', master: undefined, mac: '', gone: false },
    ],
  ] as const) {
    t.strictSame(readLinkNews(line), { kind: 'link', ...news }, line)
    t.equal(readAddressNews(line), undefined)
  }
  t.equal(readLinkNews('3: aa1    inet 10.1.0.1/24 scope global a'), undefined)
  t.equal(readLinkNews(''), undefined)
  t.end()
})

t.test('addresses of a link', t => {
  const links = new NodeLinks(
    [
      { cidr: '10.60.0.1/24', link: 'ipk0' },
      { cidr: '10.60.0.1/24', link: 'br7' },
      { cidr: 'fd00:60::1/64', link: 'ipk0' },
    ],
    [],
  )
  t.same(links.addressesOf('ipk0'), ['10.60.0.1/24', 'fd00:60::1/64'])
  t.same(links.addressesOf('br8'), [])
  t.end()
})
