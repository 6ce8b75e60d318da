/** Addresses, prefixes and MAC addresses as texts. */
import { isIP } from 'node:net'
import fc from 'fast-check'
import { addressBits, formatAddress, parseAddress, sameAddress } from '../../shared/net/address.ts'
import { cidrContains, firstOf, formatCidr, lastOf, parseCidr } from '../../shared/net/cidr.ts'
import { parseMac } from '../../shared/net/mac.ts'
import { almostAddress, prefixed, spelt } from './arbitraries/address-text.ts'
import { oddText } from './arbitraries/odd-text.ts'
import { property } from './property.ts'

/** How WHATWG's URL writes an IPv6 address: RFC 5952. */
const canonicalV6 = (text: string): string => new URL(`http://[${text}]/`).hostname.slice(1, -1)

export const addressSpellings = property({
  name: 'spellings of addresses',
  runs: 800,
  cases: spelt,
  check: ({ address, text }) => {
    const parsed = parseAddress(text)
    if (!parsed || !sameAddress(parsed, address)) throw new Error('not the address that is spelt')
    const canonical = formatAddress(address)
    const again = parseAddress(canonical)
    if (!again || !sameAddress(again, address)) throw new Error(`${canonical} is another address`)
    if (isIP(canonical) !== address.family) throw new Error(`${canonical} is no address of its family`)
    if (address.family === 6 && canonicalV6(text) !== canonical)
      throw new Error(`${canonical} is not canonical`)
    return `IPv${address.family}`
  },
  shares: { IPv4: 20, IPv6: 20 },
})

export const addressTexts = property({
  name: 'texts that may be addresses',
  runs: 800,
  cases: fc.oneof(
    { weight: 3, arbitrary: almostAddress },
    { weight: 1, arbitrary: spelt.map(({ text }) => text) },
    { weight: 1, arbitrary: fc.ipV4() },
    { weight: 1, arbitrary: fc.ipV6() },
  ),
  check: text => {
    // Node accepts a zone, which belongs to one machine; we do not.
    const family = text.includes('%') ? 0 : isIP(text)
    const parsed = parseAddress(text)
    if ((parsed !== undefined) !== family > 0) throw new Error(`node:net says ${family}`)
    if (!parsed) return 'refused'
    const mapped = family === 6 && parsed.family === 4
    if (!mapped && parsed.family !== family) throw new Error(`family ${parsed.family}`)
    if (mapped && !canonicalV6(text).startsWith('::ffff:')) throw new Error('no IPv4-mapped address')
    const reference = family === 4 ? text : canonicalV6(text)
    if (!mapped && formatAddress(parsed) !== reference)
      throw new Error(`${formatAddress(parsed)}, not ${reference}`)
    return mapped ? 'mapped' : 'accepted'
  },
  shares: { refused: 25, accepted: 25, mapped: 1 },
})

export const prefixes = property({
  name: 'prefixes',
  runs: 500,
  cases: fc.oneof(
    { weight: 3, arbitrary: prefixed.map(({ text, prefixLength }) => ({ text, prefixLength })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.oneof(
            spelt.map(one => one.text),
            almostAddress,
          ),
          fc.oneof(
            fc.constantFrom(
              '33',
              '129',
              '-1',
              '',
              '08',
              '1e1',
              ' 8',
              '8 ',
              '+8',
              '\u0668',
              '8/8',
              '0x8',
              '1000',
            ),
            oddText,
          ),
        )
        .map(([text, length]) => ({ text: `${text}/${length}`, prefixLength: undefined })),
    },
  ),
  check: ({ text, prefixLength }) => {
    const parsed = parseCidr(text)
    if (prefixLength === undefined && parsed) {
      // Some odd texts are a length; then it is one of plain digits that the family has.
      if (!/\/(?:0|[1-9][0-9]*)$/.test(text)) throw new Error(`prefix length ${parsed.prefixLength}`)
    } else if (parsed?.prefixLength !== prefixLength)
      throw new Error(`prefix length ${String(parsed?.prefixLength)}`)
    if (!parsed) return 'refused'
    const bits = addressBits[parsed.address.family]
    const [first, last] = [firstOf(parsed), lastOf(parsed)]
    if (last.value - first.value + 1n !== 1n << BigInt(bits - parsed.prefixLength))
      throw new Error('wrong size')
    if (![first, parsed.address, last].every(one => cidrContains(parsed, one)))
      throw new Error('not in itself')
    const outside = [first.value - 1n, last.value + 1n].filter(
      value => value >= 0n && value < 1n << BigInt(bits),
    )
    if (outside.some(value => cidrContains(parsed, { family: first.family, value })))
      throw new Error('too large')
    const again = parseCidr(formatCidr(parsed))
    if (!again || formatCidr(again) !== formatCidr(parsed))
      throw new Error(`${formatCidr(parsed)} is another one`)
    return 'accepted'
  },
  shares: { accepted: 40, refused: 20 },
})

const octet = fc.tuple(fc.nat(255), fc.boolean()).map(([value, upper]) => {
  const text = value.toString(16).padStart(2, '0')
  return upper ? text.toUpperCase() : text
})

export const macs = property({
  name: 'MAC addresses',
  runs: 400,
  cases: fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.array(octet, { minLength: 6, maxLength: 6 }), fc.constantFrom(':', '-'))
        .map(([octets, separator]) => octets.join(separator)),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.array(octet, { maxLength: 8 }), fc.constantFrom(':', '.', '', ' '))
        .map(([octets, by]) => octets.join(by)),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '00:00:00:00:00:00',
        'ff:ff:ff:ff:ff:ff',
        '02:42:ac:11:00:0g',
        '2:42:ac:11:00:2',
      ),
    },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.tuple(octet, octet), { minLength: 3, maxLength: 4 })
        .map(pairs => pairs.map(pair => pair.join('')).join('.')),
    },
    { weight: 1, arbitrary: oddText },
  ),
  check: text => {
    const parsed = parseMac(text)
    const dotted = text.split('.')
    const inPairs = dotted.length === 3 && dotted.every(pair => pair.length === 4)
    const octets = inPairs ? dotted.flatMap(pair => [pair.slice(0, 2), pair.slice(2)]) : text.split(/[:-]/)
    const formed = octets.length === 6 && octets.every(one => /^[0-9a-f]{2}$/i.test(one))
    const values = octets.map(one => Number.parseInt(one, 16))
    const unicast = formed && (values[0] ?? 1) % 2 === 0 && values.some(value => value > 0)
    if (unicast !== (parsed !== undefined)) throw new Error(`read as ${String(parsed)}`)
    if (parsed === undefined) return 'refused'
    if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(parsed) || parseMac(parsed) !== parsed) throw new Error(parsed)
    return parsed.split(':').every((one, index) => Number.parseInt(one, 16) === values[index])
      ? 'accepted'
      : 'other'
  },
  shares: { accepted: 20, refused: 20 },
})
