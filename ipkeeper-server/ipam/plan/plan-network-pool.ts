import { Problem } from '../../../shared/problem/problem.ts'
import type { AddressBook } from '../pools/address-book.ts'
import { emptied } from '../pools/emptied.ts'
import { poolOf, sameRanges, toPoolRecord } from '../pools/pool-record.ts'
import { describeRanges, poolsOverlap, type Pool } from '../pools/pool.ts'
import type { Change, Write } from '../records/records.ts'

/** Where pools are said by name. */
const whoHas = { config: "the daemon's configuration", api: 'the Kubernetes API' } as const

/**
 * Writes that make the store remember an inline pool. Another pool of the segment that overlaps it is IPK_POOL_OVERLAP
 * while any of its addresses is bound or held, and makes room otherwise (DESIGN.md, rule 3). A pool of the daemon's
 * configuration makes no room; one of the same name has to be the same (IPK_CONFIG_INVALID). A network whose addresses are in
 * use stays in its segment (IPK_POOLS_ORPHAN): the other one knows nothing of them, and would give them again.
 */
export function planNetworkPool(book: AddressBook, pool: Pool): Change {
  const writes: Write[] = []
  const before = book.pool(pool.name)
  const record = toPoolRecord(pool, (before?.generation ?? 0) + 1)
  if (before && sameRanges(before, record)) return writes
  if (before?.origin !== undefined) {
    throw new Problem(
      'IPK_CONFIG_INVALID',
      `network ${pool.name} has ranges of its own (${describeRanges(pool)}), but ${whoHas[before.origin]} has a pool of that name with other ones (${describeRanges(poolOf(before))})`,
      {
        hint: `name the pool in the conflist, "ipam": {"type": "ipkeeper", "pool": "${pool.name}"}, or rename the network or the pool`,
      },
    )
  }
  if (before && before.segment !== pool.segment && book.hasLiveLease(before)) {
    throw new Problem(
      'IPK_POOLS_ORPHAN',
      `network ${pool.name} moves from segment ${before.segment} to ${pool.segment}, which would leave out its addresses in use`,
      { hint: `write "segment": "${before.segment}" in "ipam" again, or ${emptied(pool.name)}` },
    )
  }
  for (const other of book.pools()) {
    if (other.name === pool.name || !poolsOverlap(poolOf(other), pool)) continue
    const ranges = describeRanges(poolOf(other))
    const inTheWay =
      other.origin !== undefined
        ? `pool ${other.name} of ${whoHas[other.origin]} (${ranges})`
        : book.hasLiveLease(other)
          ? `network ${other.name} (${ranges}), which has leases`
          : undefined
    if (inTheWay !== undefined) {
      throw new Problem(
        'IPK_POOL_OVERLAP',
        `the ranges of network ${pool.name} (${describeRanges(pool)}) overlap those of ${inTheWay}`,
        other.origin === undefined
          ? {
              hint: `to share the addresses, call both networks ${other.name}, or name one pool in both ("pool" in "ipam", with its ranges in the daemon's configuration or an IPPool); else use disjoint ranges, or ${emptied(other.name)}`,
            }
          : {},
      )
    }
    writes.push({ kind: 'pool', key: other.name, expect: other.generation, record: null })
  }
  writes.push({ kind: 'pool', key: pool.name, expect: before?.generation ?? null, record })
  return writes
}
