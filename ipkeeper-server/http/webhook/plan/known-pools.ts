import type { AddressBook } from '../../../ipam/pools/address-book.ts'
import { poolOf } from '../../../ipam/pools/pool-record.ts'
import type { PoolBook, PoolRules } from '../../../ipam/pools/pool-settings.ts'
import type { Pool } from '../../../ipam/pools/pool.ts'

/** A pool that a pod may get an address from, for all that is known before anybody says on which network it will be. */
export interface KnownPool {
  readonly pool: Pool
  readonly rules: PoolRules
}

/**
 * Every pool that is known: those of the configuration, ranges of networks that were used, and `networks`, ranges that
 * stand in this node's conflists and need not have been used yet.
 */
export function knownPools(
  book: Pick<AddressBook, 'pools'>,
  { pools }: PoolBook,
  networks: readonly Pool[],
): readonly KnownPool[] {
  const found = new Map<string, KnownPool>()
  for (const pool of networks) found.set(pool.name, { pool, rules: {} })
  for (const record of book.pools()) found.set(record.name, { pool: poolOf(record), rules: {} })
  for (const { pool, rules } of pools) found.set(pool.name, { pool, rules })
  return [...found.values()]
}
