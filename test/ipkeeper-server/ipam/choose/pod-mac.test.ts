import fc from 'fast-check'
import t from 'tap'
import { defaultMacOwner, podMac, sparePodMac } from '../../../../ipkeeper-server/ipam/choose/pod-mac.ts'
import { formatAddress, parseAddress } from '../../../../shared/net/address.ts'
import { parseCidr } from '../../../../shared/net/cidr.ts'

t.test('the MAC of an address', t => {
  for (const [addresses, mac] of [
    [['10.22.0.50'], '0a:58:0a:16:00:32'],
    [['0.0.0.1'], '0a:58:00:00:00:01'],
    [['255.255.255.255'], '0a:58:ff:ff:ff:ff'],
    [['fd00:22::50', '10.22.0.50'], '0a:58:0a:16:00:32'],
    [['10.22.0.50', '10.22.0.51'], '0a:58:0a:16:00:32'],
    // The last five bytes, and over them the five before.
    [['::50'], '0e:00:00:00:00:50'],
    [['::1:0:0:50'], '0e:00:00:00:01:50'],
    [['fd00:22::50', 'fd00:23::50'], podMac(['fd00:22::50'])],
  ] as const)
    t.equal(podMac(addresses), mac, addresses.join(' '))
  for (const none of [[], ['no address']]) t.throws(() => podMac(none), /without an address/)
  t.end()
})

const ipv4 = fc
  .integer({ min: 0, max: 0xffff_ffff })
  .map(value => formatAddress({ family: 4, value: BigInt(value) }))
const ipv6Value = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n })
const ipv6 = (value: bigint): string => formatAddress({ family: 6, value })

t.test('always one that a link may have', t => {
  const address = fc.oneof(ipv4, ipv6Value.map(ipv6))
  const property = fc.property(fc.array(address, { minLength: 1, maxLength: 3 }), addresses => {
    const mac = podMac(addresses)
    if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(mac)) throw new Error(`${mac} is no MAC`)
    const first = parseInt(mac.slice(0, 2), 16)
    if ((first & 1) !== 0) throw new Error(`${mac} is a group's`)
    if ((first & 2) === 0) throw new Error(`${mac} is a manufacturer's`)
    return podMac(addresses) === mac
  })
  t.doesNotThrow(() => {
    fc.assert(property, { numRuns: 2000 })
  })
  t.end()
})

t.test('neighbours of a subnet have different ones', t => {
  const pair = (bits: number): fc.Arbitrary<readonly [bigint, bigint]> => {
    const host = fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n })
    return fc.tuple(host, host).filter(([one, other]) => one !== other)
  }
  t.doesNotThrow(() => {
    fc.assert(
      fc.property(pair(32), ([one, other]) => {
        const [left, right] = [one, other].map(value => podMac([formatAddress({ family: 4, value })]))
        return left !== right
      }),
      { numRuns: 2000 },
    )
    // What differs in the last 40 bits alone.
    fc.assert(
      fc.property(ipv6Value, pair(40), (base, [one, other]) => {
        const subnet = (base >> 40n) << 40n
        return podMac([ipv6(subnet | one)]) !== podMac([ipv6(subnet | other)])
      }),
      { numRuns: 2000 },
    )
    // Interface identifiers that are counted up in their upper half differ as well.
    fc.assert(
      fc.property(ipv6Value, pair(24), (base, [one, other]) => {
        const subnet = (base >> 64n) << 64n
        return podMac([ipv6(subnet | (one << 40n))]) !== podMac([ipv6(subnet | (other << 40n))])
      }),
      { numRuns: 2000 },
    )
  })
  t.end()
})

t.test('whose it is', t => {
  const subnets = ['10.22.0.0/16', 'fd00:22::/96', 'fd00:33::/64'].map(text => parseCidr(text)!)
  const told = (mac: string, among = subnets.slice(0, 2)): string | undefined => {
    const owner = defaultMacOwner(mac, among)
    return owner === undefined || owner === 'many' ? owner : formatAddress(owner)
  }
  t.equal(told('0a:58:0a:16:00:32'), '10.22.0.50')
  t.equal(told('0a:58:0a:17:00:32'), undefined, 'of no address of these subnets')
  t.equal(told('02:58:0a:16:00:32'), undefined)
  t.equal(told(podMac(['fd00:22::50'])), 'fd00:22::50')
  t.equal(told('0e:99:00:00:00:50'), undefined)
  t.equal(told('0e:00:00:00:00:50', subnets.slice(2)), 'many', 'in a large subnet each has several')
  t.equal(sparePodMac(['10.22.0.50']), '06:58:0a:16:00:32')
  t.not(told(sparePodMac(['fd00:22::50']), subnets), 'fd00:22::50')
  const prefixes = fc.tuple(fc.boolean(), ipv6Value, fc.integer({ min: 0, max: 32 }))
  fc.assert(
    fc.property(prefixes, ([isIpv4, value, length]) => {
      const text = isIpv4
        ? formatAddress({ family: 4, value: value & 0xffff_ffffn })
        : formatAddress({ family: 6, value })
      const subnet = parseCidr(`${text}/${isIpv4 ? length : 96 + length}`)!
      return told(podMac([text]), [subnet]) === formatAddress(parseAddress(text)!)
    }),
    { numRuns: 2000 },
  )
  t.end()
})
