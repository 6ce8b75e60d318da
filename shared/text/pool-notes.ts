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

function drainingNote(
  name: string,
  { whole, left, reserved = 0 }: NonNullable<PoolItem['draining']>,
): PoolNote {
  const what = whole ? name : `a range of ${name}`
  const isAllReserved = String(reserved) === String(left)
  const part = isAllReserved ? 'only reserved' : `${reserved} of them only reserved`
  const says =
    String(left) === '0'
      ? `${what} is drained: no address is left in it`
      : `${what} is draining: ${left} left${String(reserved) === '0' ? '' : `, ${part}`}, and no new pod gets an address from it`
  // Where nobody has anything, a listing of leases would be empty and say nothing of what is left.
  const listing = isAllReserved && String(left) !== '0' ? 'reservations' : 'leases'
  return { says, next: ['ipkeeperctl', listing, '--pool', name] }
}
