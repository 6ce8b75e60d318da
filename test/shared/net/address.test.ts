import fc from 'fast-check'
import t from 'tap'
import {
  formatAddress,
  isNameserver,
  parseAddress,
  sameAddress,
  type Address,
} from '../../../shared/net/address.ts'
import { cidrContains, firstOf, formatCidr, lastOf, parseCidr } from '../../../shared/net/cidr.ts'
import { parseMac } from '../../../shared/net/mac.ts'

t.test('canonical text', t => {
  for (const [text, canonical] of [
    ['10.22.0.50', '10.22.0.50'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['fd00:22::', 'fd00:22::'],
    ['FD00:0022:0:0:0:0:0:0050', 'fd00:22::50'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['1:0:0:2:0:0:3:4', '1::2:0:0:3:4'],
    ['::ffff:10.1.1.1', '10.1.1.1'],
    ['64:ff9b::10.1.1.1', '64:ff9b::a01:101'],
    ['1:2:3:4:5:6:10.1.1.1', '1:2:3:4:5:6:a01:101'],
  ] as const) {
    const address = parseAddress(text)
    t.equal(address && formatAddress(address), canonical, text)
  }
  t.end()
})

t.test('no addresses', t => {
  for (const text of [
    '',
    ' ',
    '10',
    '10.22.0',
    '10.22.0.50.1',
    '10.22.0.256',
    '10.22.1.050',
    '10.22.0.-1',
    '10.22.0.50 ',
    ' 10.22.0.50',
    '10.22.0.0x1',
    '1e1.0.0.1',
    '10.22.0.50/16',
    ':',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    'fe80::1%eth0',
    '12345::',
    'g::',
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
    '::10.1.1',
    '10.1.1.1::',
    '１０.1.1.1',
    'foo',
    '1:2:3:4:5:6:7:10.1.1.1',
  ]) {
    t.equal(parseAddress(text), undefined, JSON.stringify(text))
  }
  t.end()
})

t.test('format and parse are inverse', t => {
  const ofFamily = (family: 4 | 6) =>
    fc.bigInt({ min: 0n, max: (1n << (family === 4 ? 32n : 128n)) - 1n }).map(value => ({ family, value }))
  t.doesNotThrow(() => {
    fc.assert(
      fc.property(fc.oneof(ofFamily(4), ofFamily(6)), address => {
        const again = parseAddress(formatAddress(address))
        const mapped = address.family === 6 && address.value >> 32n === 0xffffn
        return mapped || (again?.family === address.family && again.value === address.value)
      }),
      { numRuns: 2000 },
    )
  }, '2000 addresses')
  t.end()
})

t.test('networks', t => {
  for (const [text, first, last] of [
    ['10.22.0.50/16', '10.22.0.0', '10.22.255.255'],
    ['10.22.0.50/32', '10.22.0.50', '10.22.0.50'],
    ['10.22.0.50/0', '0.0.0.0', '255.255.255.255'],
    ['fd00:22::50/64', 'fd00:22::', 'fd00:22::ffff:ffff:ffff:ffff'],
  ] as const) {
    const cidr = parseCidr(text)
    t.equal(cidr && formatAddress(firstOf(cidr)), first, `first of ${text}`)
    t.equal(cidr && formatAddress(lastOf(cidr)), last, `last of ${text}`)
    t.equal(cidr && formatCidr(cidr), text)
  }
  for (const text of [
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '::/129',
    '/8',
  ]) {
    t.equal(parseCidr(text), undefined, text)
  }
  t.end()
})

t.test('MAC addresses', t => {
  for (const [text, mac] of [
    ['02:42:AC:11:00:02', '02:42:ac:11:00:02'],
    ['02-42-ac-11-00-02', '02:42:ac:11:00:02'],
    ['01:42:ac:11:00:02', undefined],
    ['00:00:00:00:00:00', undefined],
    ['02:42:ac:11:00', undefined],
    ['0242ac110002', undefined],
    ['02:42:ac:11:00:0g', undefined],
  ] as const) {
    t.equal(parseMac(text), mac, text)
  }
  t.end()
})

t.test('servers that a resolver can ask', t => {
  for (const [text, ok] of [
    ['10.96.0.10', true],
    ['fd00::a', true],
    ['fe80::1%eth0', true],
    ['10.96.0.10%eth0', false],
    ['fe80::1%', false],
    ['fe80::1%a name that is far too long', false],
    ['dns.example', false],
  ] as const)
    t.equal(isNameserver(text), ok, text)
  t.end()
})

t.test('a text longer than any address is none, whatever is in it', t => {
  t.equal(parseAddress('0'.repeat(100_000)), undefined)
  t.end()
})

t.test('two addresses are one only in one family', t => {
  const [four, six] = ['10.0.0.1', 'fd00::1'].map(text => parseAddress(text)!) as [Address, Address]
  t.ok(sameAddress(four, { ...four }))
  t.notOk(sameAddress(four, { ...four, value: four.value + 1n }))
  t.notOk(sameAddress(four, { family: 6, value: four.value }))
  t.notOk(sameAddress(four, six))
  t.end()
})

t.test('what a network contains', t => {
  for (const [network, address, expected] of [
    ['10.22.0.0/16', '10.22.255.255', true],
    ['10.22.0.0/16', '10.23.0.0', false],
    ['10.22.0.5/16', '10.22.0.1', true],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['fd00::/64', 'fd00::ffff', true],
    ['fd00::/64', 'fd00:0:0:1::', false],
    ['::/0', '10.22.0.1', false],
  ] as const)
    t.equal(cidrContains(parseCidr(network)!, parseAddress(address)!), expected, `${network} ${address}`)
  t.end()
})
