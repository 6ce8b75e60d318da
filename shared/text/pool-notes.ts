import type { PoolItem } from '../api/listing.schema.ts'

/** What a person has to know of a pool beside its figures. */
export interface PoolNote {
  /** A sentence without its full stop. */
  readonly says: string
  /** Words of the command that shows more. */
  readonly next: readonly string[]
}

/** Pools that give no new address, and those of whose newer spec the figures are not. */
export function poolNotes(pools: readonly PoolItem[]): PoolNote[] {
  return pools.flatMap(({ name, draining, pending }) => [
    ...(draining ? [drainingNote(name, draining)] : []),
    ...(pending ? [pending] : []),
  ])
}

function drainingNote(name: string, { whole, left }: NonNullable<PoolItem['draining']>): PoolNote {
  const what = whole ? name : `a range of ${name}`
  const says =
    String(left) === '0'
      ? `${what} is drained: no address is left in it`
      : `${what} is draining: ${left} left, and no new pod gets an address from it`
  return { says, next: ['ipkeeperctl', 'leases', '--pool', name] }
}
