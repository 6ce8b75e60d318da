import type { CniRequest } from '../../../shared/api/cni.schema.ts'
import { readFallback } from '../../../shared/cni/fallback.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { chooseDynamic } from '../../ipam/choose/choose-address.ts'
import { claimProblem } from '../../ipam/choose/claim-problems.ts'
import { planNetworkPool } from '../../ipam/plan/plan-network-pool.ts'
import { findPool, type PoolBook } from '../../ipam/pools/pool-settings.ts'
import type { Pool } from '../../ipam/pools/pool.ts'
import {
  checkHasRanges,
  rangesComeWithAdd,
  readIdentity,
  readIpamConfig,
} from '../../ipam/request/network-config.ts'
import type { PoolRequest } from '../../ipam/request/request.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import { readMainConfig } from '../../network/plan/read-main-config.ts'
import { ownAddresses } from './add.ts'
import { readDns, type NodeFacts } from './invocation.ts'
import type { LeaseService } from './service.ts'

/** What STATUS needs of a configuration; that it was read says that it is valid. */
export interface StatusRequest {
  /** undefined when it has no ranges, or they come with the ADD only. */
  readonly inline: Pool | undefined
  /** Pools that it names. */
  readonly pools: readonly PoolRequest[]
  /** Whether a full pool is a reason to fail: then the whole node is NotReady for it. */
  readonly statusReportsExhaustion: boolean
  /** How pods are to be wired; undefined in the IPAM role. */
  readonly main: MainConfig | undefined
}

/** Reads a STATUS as an ADD that names no pod. Throws the problem that such an ADD would get. */
export async function readStatus(
  { config }: CniRequest,
  facts: NodeFacts,
  book: PoolBook,
): Promise<StatusRequest> {
  const network = readIdentity(config)
  const main = network.mainRole ? readMainConfig(config) : undefined
  if (rangesComeWithAdd(config)) return { inline: undefined, pools: [], statusReportsExhaustion: false, main }
  const ipam = readIpamConfig(config, network)
  checkHasRanges(ipam, book.pools.length > 0)
  await readDns(ipam, facts)
  // With a fallback, a pod that asks for nothing is served although the ranges are full.
  const statusReportsExhaustion = ipam.statusReportsExhaustion && readFallback(config) === undefined
  return { inline: ipam.inline, pools: ipam.pools, statusReportsExhaustion, main }
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
  const book = service.pools()
  try {
    const refusal = service.refusal?.()
    if (refusal) throw refusal
    await ledger.checkStore(service.monotonic())
    if (request.main) service.network.checkTools(request.main)
    if (request.inline && !findPool(book, request.inline.name)) planNetworkPool(ledger, request.inline)
    const named = request.pools.map(({ name, source }) => {
      const settings = findPool(book, name)
      if (!settings)
        throw new Problem('IPK_POOL_UNKNOWN', `${source} names pool "${name}", which does not exist`)
      return settings.pool
    })
    if (!request.statusReportsExhaustion) return
    const own = await ownAddresses(service)
    for (const pool of request.inline ? [request.inline] : named) {
      for (const [rangeSet, set] of pool.rangeSets.entries()) {
        if (chooseDynamic(ledger, pool, set, { now: service.now(), own })) continue
        throw claimProblem.poolFull(ledger, pool, rangeSet, service.now())
      }
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const details = [error.details, `an ADD would get ${error.code}`].filter(part => part !== '').join('; ')
    throw new Problem('IPK_NOT_AVAILABLE', error.message, { details, hint: error.hint, cause: error })
  }
}
