import { poolOf } from '../../ipam/pools/pool-record.ts'
import type { LeaseState } from '../../ipam/records/records.ts'
import type { Pool } from '../../ipam/pools/pool.ts'
import { UsageTally, type RangeSetUsage } from '../../ipam/pools/usage.ts'
import type { LeaseService } from '../verbs/service.ts'

export interface LeaseUsage {
  /** By name. */
  readonly pools: readonly Pool[]
  /** By name of their pools. */
  readonly rangeSets: readonly RangeSetUsage[]
  readonly leases: Readonly<Record<LeaseState, number>>
}

/** Leases between two turns of the event loop: about a millisecond. */
const step = 1_000

/**
 * Usage of all pools. It gives the event loop back on its way, so that an ADD does not wait for a measurement; with many
 * leases the figures are those of a stretch of milliseconds, not of one moment.
 *
 * @param turn resolves when others had theirs
 */
export async function measureUsage(
  { ledger, now }: Pick<LeaseService, 'ledger' | 'now'>,
  turn: () => Promise<unknown>,
): Promise<LeaseUsage> {
  const pools = Array.from(ledger.pools(), poolOf).sort((a, b) => (a.name < b.name ? -1 : 1))
  const tally = new UsageTally(pools, now())
  let walked = 0
  for (const lease of ledger.leaseOutlines()) {
    tally.lease(lease, () => ledger.reservation(lease) !== undefined)
    if (++walked % step === 0) await turn()
  }
  for (const reservation of ledger.reservations()) {
    tally.reservation(reservation, ledger.lease(reservation))
    if (++walked % step === 0) await turn()
  }
  return { pools, rangeSets: tally.rangeSets(), leases: tally.states() }
}
