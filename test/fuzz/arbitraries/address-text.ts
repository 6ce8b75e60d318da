import fc from 'fast-check'
import { addressBits, type Address } from '../../../shared/net/address.ts'
import { oddText } from './odd-text.ts'

/** Bits that make the interesting addresses: runs of zeros, ones, and the prefixes that mean something. */
const value = (bits: 32 | 128): fc.Arbitrary<bigint> => {
  const any = fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n })
  if (bits === 32) return any
  const group = fc.oneof(fc.constantFrom(0n, 0n, 0n, 1n, 0xffffn), fc.bigInt({ min: 0n, max: 0xffffn }))
  const grouped = fc
    .array(group, { minLength: 8, maxLength: 8 })
    .map(groups => groups.reduce((sum, each) => (sum << 16n) | each, 0n))
  const low = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n })
  return fc.oneof(
    any,
    grouped,
    low,
    low.map(v4 => (0xffffn << 32n) | v4),
  )
}

/** Any address; those that map IPv4 into IPv6 are IPv4 here as everywhere in CNI. */
export const address: fc.Arbitrary<Address> = fc.oneof(
  value(32).map((v4): Address => ({ family: 4, value: v4 })),
  value(128).map((v6): Address =>
    v6 >> 32n === 0xffffn ? { family: 4, value: v6 & 0xffffffffn } : { family: 6, value: v6 },
  ),
)

/** An address in one of the ways of writing it, with what it means. */
export interface Spelt {
  readonly address: Address
  readonly text: string
}

const octets = (v4: bigint): string =>
  [24n, 16n, 8n, 0n].map(shift => ((v4 >> shift) & 0xffn).toString()).join('.')

/** IPv6 with zeros in front of its groups, capitals, any one run of zero groups shortened or none, a dotted tail. */
function spellV6(v6: bigint, { pad, upper, dotted, from, length }: Style): string {
  const groups = Array.from({ length: 8 }, (_, index) => (v6 >> BigInt(112 - 16 * index)) & 0xffffn)
  const shown = groups.map(group => group.toString(16).padStart(pad, '0'))
  const letters = upper ? shown.map(group => group.toUpperCase()) : shown
  const parts = dotted ? [...letters.slice(0, 6), octets(v6 & 0xffffffffn)] : letters
  const whole = dotted ? groups.slice(0, 6) : groups
  const start = from % whole.length
  const end = Math.min(whole.length, start + 1 + (length % 8))
  if (whole.slice(start, end).some(group => group !== 0n)) return parts.join(':')
  return `${parts.slice(0, start).join(':')}::${parts.slice(end).join(':')}`
}

interface Style {
  readonly pad: number
  readonly upper: boolean
  readonly dotted: boolean
  readonly from: number
  readonly length: number
}

const style: fc.Arbitrary<Style> = fc.record({
  pad: fc.integer({ min: 1, max: 4 }),
  upper: fc.boolean(),
  dotted: fc.boolean(),
  from: fc.nat(7),
  length: fc.nat(7),
})

/** Every address has ways to be written; an IPv4 one may also come as IPv6. */
export const spelt: fc.Arbitrary<Spelt> = fc
  .tuple(address, style, fc.boolean())
  .map(([one, how, mapped]): Spelt => {
    if (one.family === 6) return { address: one, text: spellV6(one.value, how) }
    if (!mapped) return { address: one, text: octets(one.value) }
    return { address: one, text: spellV6((0xffffn << 32n) | one.value, how) }
  })

/** What looks like an address to somebody, and is none. */
export const almostAddress: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...[
        '10.22.0',
        '10.22.0.',
        '.10.22.0.5',
        '10.22.0.5.6',
        '10.22.0.256',
        '10.22.1.050',
        '010.22.0.5',
        '10.22',
      ],
      ...[
        '10.22.0.5 ',
        '10,22,0,5',
        '0x0a.22.0.5',
        '169082885',
        '10.22.0.-5',
        '10.22.0.5\0',
        '10.22.0.5-10.22.0.7',
      ],
      ...[
        '::g',
        ':::',
        '1::2::3',
        '1:2:3:4:5:6:7',
        '1:2:3:4:5:6:7:8:9',
        '12345::',
        'fe80::1%eth0',
        '[::1]',
        ':',
      ],
      ...[
        '::1.2.3',
        '::1.2.3.256',
        '1.2.3.4::',
        '::1.2.3.4:5',
        '::ffff:010.1.1.1',
        '10.22.0.5:80',
        '1:2',
        'x',
      ],
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(spelt, fc.nat(50), fc.constantFrom(...Array.from('.:/%-, x0gG\u0661\uff11\u00a0\0')))
      .map(([{ text }, where, character]) => {
        const at = where % (text.length + 1)
        return text.slice(0, at) + character + text.slice(at)
      }),
  },
  { weight: 1, arbitrary: oddText },
)

/** An address with the length of a prefix its family has. */
export const prefixed: fc.Arbitrary<Spelt & { readonly prefixLength: number }> = fc
  .tuple(spelt, fc.nat(128))
  .map(([one, length]) => {
    const prefixLength = length % (addressBits[one.address.family] + 1)
    return { address: one.address, text: `${one.text}/${prefixLength}`, prefixLength }
  })
