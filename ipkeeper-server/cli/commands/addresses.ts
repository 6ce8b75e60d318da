import { addressBits, formatAddress } from '../../../shared/net/address.ts'
import { firstOf, parseCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'
import type { ReadCall } from '../framework/command.ts'

/** The one address of a command line and its segment. Listings print "10.22.0.50/16", and people copy it. */
export function readAddress(args: Pick<ReadCall, 'positionals' | 'options'>): {
  readonly address: string
  readonly segment: string
  readonly path: string
} {
  const [word = ''] = args.positionals
  const segment = args.options['segment'] ?? 'default'
  if (word === '' || segment === '') throw new Problem('IPK_USAGE', 'the address or the segment is empty')
  const address = withoutPrefixLength(word)
  return { address, segment, path: addressPath({ segment, address }) }
}

export function withoutPrefixLength(word: string): string {
  const cidr = parseCidr(word)
  return cidr ? formatAddress(cidr.address) : word
}

/** "10.22.0.64/26" is all hosts of a network, and "10.22.0.65/26" an address as listings print it. */
export function isNetwork(word: string): boolean {
  const cidr = parseCidr(word)
  return (
    cidr !== undefined &&
    cidr.prefixLength < addressBits[cidr.address.family] &&
    firstOf(cidr).value === cidr.address.value
  )
}

export const addressPath = ({
  segment,
  address,
}: {
  readonly segment: string
  readonly address: string
}): string => `/v1/addresses/${encodeURIComponent(segment)}/${encodeURIComponent(address)}`

export const segmentWords = (segment: string): string =>
  segment === 'default' ? '' : ` --segment ${shellWord(segment)}`

/** Absolute: a history is read beside other logs. */
export const toTheSecond = (time: string): string => time.replace(/\.[0-9]{3}Z$/, 'Z')
