import { formatAddress, parseAddress, type Address } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { isSegmentName } from '../../ipam/pools/pool.ts'
import type { LeaseKey } from '../../ipam/records/records.ts'

/** An address that an operator named: its key as records have it, and its number. */
export interface NamedAddress {
  readonly key: LeaseKey
  readonly address: Address
}

/** Throws IPK_REQUEST_INVALID for what is no segment, IPK_ADDRESS_INVALID for what is no single address. */
export function readLeaseKey(segment: string, text: string): NamedAddress {
  if (!isSegmentName(segment)) {
    throw new Problem('IPK_REQUEST_INVALID', `segment "${segment}" is no name of letters, digits and "-"`, {
      hint: 'name the "ipam.segment" of the conflist, or leave it away',
    })
  }
  const address = parseAddress(text)
  if (!address) {
    throw new Problem('IPK_ADDRESS_INVALID', `"${text}" is no IP address`, {
      hint: 'write one address, such as 10.22.0.50 or fd00:22::50, without "/prefix"',
    })
  }
  return { key: { segment, address: formatAddress(address) }, address }
}
