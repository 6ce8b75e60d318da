import type { AddressBook } from '../pools/address-book.ts'
import { policyOf, type PoolBook } from '../pools/pool-settings.ts'
import { isOver, leaseKey, type Change, type LeaseRecord, type Write } from '../records/records.ts'

/** How many unused addresses a pool remembers; a record takes about a kilobyte in memory and in the store. */
export const mostRemembered = 16_384

/**
 * So many are forgotten with one change, and the rest with the next ones: there may be far more where the bound came down
 * or other nodes let go meanwhile, and a transaction of etcd has 128 operations unless told otherwise.
 */
export const mostForgotten = 64

const rewrite = (lease: LeaseRecord, record: LeaseRecord | null): Write => ({
  kind: 'lease',
  key: leaseKey(lease),
  expect: lease.generation,
  record,
})

/**
 * Makes room among the remembered addresses of pools that give the least recently used one: those that were used longest
 * ago are forgotten, and so count as never used, which again makes them the next to be given.
 *
 * @param written every lease that the same change writes; none of them is forgotten
 */
export function forgetOldest(book: AddressBook, written: readonly LeaseRecord[]): Write[] {
  const keys = new Set(written.map(leaseKey))
  const rests = (lease: LeaseRecord | undefined, pool: string): number =>
    Number(lease?.pool === pool && lease.state === 'cooling')
  const pools = new Set(written.flatMap(lease => (lease.remembered ? lease.pool : [])))
  const writes: Write[] = []
  for (const pool of pools) {
    const joining = written.reduce(
      (sum, lease) => sum + rests(lease, pool) - rests(book.lease(lease), pool),
      0,
    )
    let excess = book.restingCount(pool) + joining - mostRemembered
    for (const lease of excess > 0 ? book.resting(pool) : []) {
      if (writes.length >= mostForgotten) return writes
      if (!lease.remembered || keys.has(leaseKey(lease))) continue
      writes.push(rewrite(lease, null))
      if (--excess <= 0) break
    }
  }
  return writes
}

/**
 * What a new configuration no longer needs remembered, of the leases that rest: addresses of pools that are gone or now give the lowest free one.
 * Those that still rest go on resting; else they would be taken for used until every other address is.
 */
export function planForget(leases: Iterable<LeaseRecord>, pools: PoolBook, now: number): Change {
  const writes: Write[] = []
  for (const lease of leases) {
    const { remembered, ...rest } = lease
    if (!remembered || policyOf(pools, lease.pool).strategy === 'least-recently-used') continue
    const resting = lease.state === 'cooling' && !isOver(lease, now)
    writes.push(rewrite(lease, resting ? { ...rest, generation: lease.generation + 1 } : null))
  }
  return writes
}
