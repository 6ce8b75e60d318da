import fc from 'fast-check'
import { addressBits, formatAddress, type Family } from '../../../shared/net/address.ts'
import { almostAddress, spelt } from './address-text.ts'
import { oddOrHugeText } from './odd-text.ts'

/** A run of addresses in one of the ways of writing it. */
export interface WrittenRun {
  readonly family: Family
  readonly first: bigint
  readonly last: bigint
  readonly prefixLength?: number
  readonly text: string
}

const blank = fc.constantFrom('', '', '', ' ', '\t', '  ')
const sign = fc.constantFrom('-', '..', '~')

const show = (family: Family, value: bigint): string => formatAddress({ family, value })

/** Low numbers, so that runs meet, and numbers at both ends of what there is. */
const place = (family: Family): fc.Arbitrary<bigint> => {
  const highest = (1n << BigInt(addressBits[family])) - 1n
  return fc.oneof(
    { weight: 8, arbitrary: fc.bigInt({ min: 0x0a160000n, max: 0x0a160000n + 600n }) },
    { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: highest }) },
    { weight: 1, arbitrary: fc.constantFrom(0n, highest) },
  )
}

const family = fc.constantFrom<Family>(4, 4, 6)

const single = family.chain(family =>
  place(family).map((value): WrittenRun => ({
    family,
    first: value,
    last: value,
    text: show(family, value),
  })),
)

const withPrefix = family.chain(family =>
  fc
    .tuple(place(family), fc.integer({ min: 1, max: addressBits[family] }))
    // Only an address with host bits is one; without them it is a block.
    .filter(([value, length]) => value % (1n << BigInt(addressBits[family] - length)) !== 0n)
    .map(([value, prefixLength]): WrittenRun => ({
      family,
      first: value,
      last: value,
      prefixLength,
      text: `${show(family, value)}/${prefixLength}`,
    })),
)

const range = family.chain(family =>
  fc
    .tuple(place(family), fc.bigInt({ min: 0n, max: 40n }), blank, sign, blank, fc.boolean())
    .map(([first, length, before, between, after, short]): WrittenRun => {
      const highest = (1n << BigInt(addressBits[family])) - 1n
      const last = first + length > highest ? highest : first + length
      const isShort = short && family === 4 && first >> 8n === last >> 8n
      const end = isShort ? (last & 0xffn).toString() : show(family, last)
      return { family, first, last, text: show(family, first) + before + between + after + end }
    }),
)

/** By the rule as the documentation words it: without network and broadcast address, IPv6 without the lowest. */
const block = family.chain(family =>
  fc
    .tuple(place(family), fc.integer({ min: 0, max: addressBits[family] }))
    .map(([value, length]): WrittenRun => {
      const size = 1n << BigInt(addressBits[family] - length)
      const lowest = value - (value % size)
      const isSmall = size <= 2n
      return {
        family,
        first: isSmall ? lowest : lowest + 1n,
        last: isSmall || family === 6 ? lowest + size - 1n : lowest + size - 2n,
        text: `${show(family, lowest)}/${length}`,
      }
    }),
)

/** Every way of naming addresses. */
export const writtenRun: fc.Arbitrary<WrittenRun> = fc.oneof(
  { weight: 4, arbitrary: single },
  { weight: 1, arbitrary: withPrefix },
  { weight: 4, arbitrary: range },
  { weight: 1, arbitrary: block },
)

/** Runs joined by commas, blanks around them; they may have addresses in common. */
export const writtenList: fc.Arbitrary<{ readonly runs: readonly WrittenRun[]; readonly text: string }> = fc
  .array(fc.tuple(writtenRun, blank, blank), { minLength: 1, maxLength: 6 })
  .map(items => ({
    runs: items.map(([run]) => run),
    text: items.map(([{ text }, before, after]) => before + text + after).join(','),
  }))

/** What may stand where a list belongs. */
export const oddList: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: writtenList.map(({ text }) => text) },
  {
    weight: 4,
    arbitrary: fc
      .array(
        fc.oneof(
          { weight: 8, arbitrary: writtenRun.map(({ text }) => text) },
          { weight: 1, arbitrary: spelt.map(({ text }) => text) },
          { weight: 1, arbitrary: almostAddress },
        ),
        { minLength: 1, maxLength: 5 },
      )
      .chain(items => fc.constantFrom(',', ';', '/', '-', '..', '~', ' ').map(joint => items.join(joint))),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(writtenList, fc.nat(200), fc.constantFrom(...Array.from('-~./,:;0 9\0')))
      .map(([{ text }, where, character]) => {
        const at = where % (text.length + 1)
        return text.slice(0, at) + character + text.slice(at)
      }),
  },
  { weight: 1, arbitrary: oddOrHugeText },
)
