import type { Address } from '../../../shared/net/address.ts'
import { cidrContains, formatCidr } from '../../../shared/net/cidr.ts'
import type { AddressBook } from '../pools/address-book.ts'
import { poolOf } from './plan-network-pool.ts'
import { isUsable, unusableReason } from '../pools/pool.ts'

/** Where an address stands among the pools of its segment that are known so far. */
export type Place =
  | { readonly kind: 'usable'; readonly pool: string }
  /** No pool can give it, and `why` says what it is: "the gateway of 10.22.0.0/16". */
  | { readonly kind: 'unusable'; readonly pool: string; readonly why: string }
  /** A pool that has it may come with the first ADD of its network. */
  | { readonly kind: 'outside' }

/** What one pool cannot give another one may: gateways and exclusions are a pool's own. */
export function locateAddress(book: Pick<AddressBook, 'pools'>, segment: string, address: Address): Place {
  let unusable: Place | undefined
  for (const record of book.pools()) {
    if (record.segment !== segment) continue
    for (const range of poolOf(record).rangeSets.flat()) {
      if (!cidrContains(range.subnet, address)) continue
      if (isUsable(range, address)) return { kind: 'usable', pool: record.name }
      const reason = unusableReason(range, address)
      if (reason === undefined || reason === 'outside the range') continue
      const why = reason === 'excluded' ? reason : `${reason} of ${formatCidr(range.subnet)}`
      unusable ??= { kind: 'unusable', pool: record.name, why }
    }
  }
  return unusable ?? { kind: 'outside' }
}
