import { parseAddress } from '../../../shared/net/address.ts'
import { parseCidr } from '../../../shared/net/cidr.ts'
import type { AddressRequest } from './request.ts'

/** "10.22.0.50" or "10.22.0.50/16" as a request; undefined when it is neither. */
export function parseAddressRequest(
  text: string,
  source: string,
  channel: AddressRequest['channel'],
): AddressRequest | undefined {
  const address = parseAddress(text)
  if (address) return { address, source, channel }
  const cidr = parseCidr(text)
  return cidr && { address: cidr.address, prefixLength: cidr.prefixLength, source, channel }
}
