import fc from 'fast-check'
import t from 'tap'
import { aliasPrefix, linkNames, macOf } from '../../../ipkeeper-server/network/link-names.ts'
import { checkHostInterface } from '../../../ipkeeper-server/network/plan/interface-name.ts'
import { writeBatch } from '../../../ipkeeper-server/network/plan/command.ts'
import { parseMac } from '../../../shared/net/mac.ts'

const key = { network: 'fixed', containerId: 'a'.repeat(64), ifname: 'eth0' }

t.test('names are always the same for an attachment', t => {
  const names = linkNames(key)
  t.strictSame(linkNames({ ...key }), names)
  t.equal(names.alias, `ipkeeper fixed ${'a'.repeat(64)} eth0`)
  // Written down: links that an earlier release made have to be found by a later one.
  t.match(names, { hostLink: /^ipk[0-9a-f]{12}$/, hostMac: /^0e:/, probeMac: /^0e:/ })
  t.strictSame(linkNames({ network: 'net', containerId: 'c1', ifname: 'eth0' }), {
    hostLink: 'ipk942b7792c856',
    hostMac: '0e:cf:4a:59:37:e4',
    probeMac: '0e:42:9c:62:42:a6',
    alias: 'ipkeeper net c1 eth0',
  })
  t.end()
})

t.test('each part of the key counts, and where one ends and the next begins', t => {
  const keys = [
    key,
    { ...key, network: 'fixed2' },
    { ...key, containerId: 'b'.repeat(64) },
    { ...key, ifname: 'eth1' },
    { network: 'a', containerId: 'bc', ifname: 'd' },
    { network: 'ab', containerId: 'c', ifname: 'd' },
    { network: 'a', containerId: 'b', ifname: 'cd' },
  ]
  for (const part of ['hostLink', 'hostMac', 'probeMac'] as const)
    t.equal(new Set(keys.map(one => linkNames(one)[part])).size, keys.length, part)
  t.end()
})

const plain = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({
    unit: fc.constantFrom('a', 'b', 'Z', '0', '9', '.', '_', '-'),
    minLength: 1,
    maxLength,
    size: 'max',
  })

t.test('the kernel and ip take them, however long the key is', t => {
  const property = fc.property(plain(300), plain(300), plain(15), (network, containerId, ifname) => {
    const { hostLink, hostMac, probeMac, alias } = linkNames({ network, containerId, ifname })
    checkHostInterface(hostLink, 'host')
    // IFALIASZ is 256 with the end.
    if (Buffer.byteLength(alias) > 255) throw new Error(`${alias} is too long`)
    if (!alias.startsWith(`${aliasPrefix} `)) throw new Error(`${alias} does not say whose it is`)
    writeBatch([{ place: 'host', words: ['link', 'set', 'dev', hostLink, 'alias', alias], about: '' }])
    for (const mac of [hostMac, probeMac])
      if (parseMac(mac) !== mac) throw new Error(`${mac} is no unicast MAC`)
    return hostMac !== probeMac
  })
  t.doesNotThrow(() => {
    fc.assert(property, { numRuns: 1000 })
  })
  t.end()
})

t.test('the MAC of a text is locally administered', t => {
  for (const text of ['', 'bridge n1 ipk0', 'bridge n2 ipk0'])
    t.match(macOf(text), /^0e(:[0-9a-f]{2}){5}$/, text)
  t.not(macOf('bridge n1 ipk0'), macOf('bridge n2 ipk0'), 'two nodes on one network')
  t.end()
})
