import { parseAddress, type Address } from '../../../shared/net/address.ts'
import { firstOf, lastOf, parseCidr } from '../../../shared/net/cidr.ts'

/** Addresses of one family that follow each other; both ends are included. */
export interface AddressRun {
  readonly first: Address
  readonly last: Address
}

/** "10.22.0.100", "10.22.0.100-10.22.0.120" or a CIDR, network and broadcast address included; undefined for anything else. */
export function parseAddressRun(text: string): AddressRun | undefined {
  const cidr = parseCidr(text)
  if (cidr) return { first: firstOf(cidr), last: lastOf(cidr) }
  const [from = '', to = from, ...more] = text.split('-').map(part => part.trim())
  const first = parseAddress(from)
  const last = parseAddress(to)
  if (!first || !last || more.length > 0) return undefined
  return first.family === last.family && first.value <= last.value ? { first, last } : undefined
}
