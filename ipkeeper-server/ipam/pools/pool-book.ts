import type { PoolPolicy, PoolSettings } from './pool-settings.ts'

/** The pools of the daemon's configuration, in its order, and how every other pool treats its addresses. */
export interface PoolBook {
  readonly pools: readonly PoolSettings[]
  readonly standard: PoolPolicy
}

export function findPool({ pools }: PoolBook, name: string): PoolSettings | undefined {
  return pools.find(({ pool }) => pool.name === name)
}

/** How the pool of this name treats its addresses: as configured, else as by default. */
export function policyOf(book: PoolBook, name: string): PoolPolicy {
  return findPool(book, name)?.policy ?? book.standard
}
