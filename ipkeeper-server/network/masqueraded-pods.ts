import type { LeaseRecord, WiringRecord } from '../ipam/records/records.ts'
import type { MasqueradedPods } from './plan/masquerade.ts'

/** The masqueraded addresses of one attachment by their pools. `subnetsOf`: of a pool, in CIDR notation. */
export function masqueradedPods(
  { masqueraded }: WiringRecord,
  leases: readonly LeaseRecord[],
  subnetsOf: (pool: string) => readonly string[],
): MasqueradedPods[] {
  const own = leases.filter(({ address }) => masqueraded.includes(address))
  return [...Map.groupBy(own, ({ pool }) => pool)].map(([pool, group]) => ({
    pool,
    ranges: subnetsOf(pool),
    addresses: group.map(({ address }) => address),
  }))
}
