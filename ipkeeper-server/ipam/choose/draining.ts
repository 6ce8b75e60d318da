import { formatAddress, type Address } from '../../../shared/net/address.ts'
import { holderKey, isReservedFor } from '../records/records.ts'
import { rangeOf, type Interval, type Pool, type RangeSet } from '../pools/pool.ts'
import type { AddContext } from './add-context.ts'
import { mayInherit } from './choose-address.ts'

/**
 * Whether a pod cannot have an address because its range drains: unless it is the one that had it last, it is reserved for it or
 * its workload, or it is kept for that. So whoever is there can be restarted, and nobody else comes.
 */
export function isDrained(
  context: AddContext,
  { pool, set }: { readonly pool: Pool; readonly set: RangeSet },
  address: Address,
): boolean {
  if (!rangeOf(set, address)?.draining) return false
  const { book, request, workload } = context
  const key = { segment: pool.segment, address: formatAddress(address) }
  const reservation = book.reservation(key)
  if (reservation && isReservedFor(reservation, request.holder, workload)) return false
  const lease = book.lease(key)
  if (!lease) return true
  return holderKey(lease.holder) !== holderKey(request.holder) && !mayInherit(lease, context)
}

/** What of a set is drained. */
export const drainedRuns = (set: RangeSet): readonly Interval[] =>
  set.filter(({ draining }) => draining).map(({ first, last }) => ({ first: first.value, last: last.value }))
