import { Problem } from '../../shared/problem/problem.ts'
import { chooseDynamic } from '../ipam/choose-address.ts'
import { claimProblem } from '../ipam/claim-problems.ts'
import { planPool } from '../ipam/plan-pool.ts'
import type { Pool } from '../ipam/pool.ts'
import type { LeaseService } from './service.ts'

/** What STATUS needs of a configuration; that it was read says that it is valid. */
export interface StatusRequest {
  /** undefined when its ranges come with the ADD only. */
  readonly pool: Pool | undefined
  /** Whether a full pool is a reason to fail: then the whole node is NotReady for it. */
  readonly statusReportsExhaustion: boolean
}

/**
 * STATUS: resolves when an ADD with this configuration could be served now. Changes nothing, and costs the same with any
 * number of leases, unless a full pool is to be reported.
 *
 * What depends on the state of things is IPK_NOT_AVAILABLE (50), in the words that an ADD would get. A configuration that
 * no state of things makes valid keeps its own code (7 and others); it was refused before it came here.
 */
export async function checkAvailability(service: LeaseService, request: StatusRequest): Promise<void> {
  const { ledger } = service
  const { pool } = request
  try {
    await ledger.checkStore(service.now())
    if (!pool) return
    planPool(ledger, pool)
    if (!request.statusReportsExhaustion) return
    for (const rangeSet of pool.rangeSets.keys()) {
      if (chooseDynamic(ledger, pool, rangeSet)) continue
      throw claimProblem.poolFull(ledger, pool, rangeSet, service.now())
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const details = [error.details, `an ADD would get ${error.code}`].filter(part => part !== '').join('; ')
    throw new Problem('IPK_NOT_AVAILABLE', error.message, { details, hint: error.hint, cause: error })
  }
}
