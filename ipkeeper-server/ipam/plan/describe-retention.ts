import { releasedLease } from './plan-del.ts'
import { findPool, type PoolBook } from '../pools/pool-settings.ts'
import { describeHolder, type LeaseRecord } from '../records/records.ts'
import type { PodRequest } from '../request/request.ts'
import { formatDuration, formatRetention } from '../records/retention.ts'
import { describeWorkload } from '../records/workload.ts'

/** Who set the retention that a lease of the pool gets: pod or namespace, else a reservation, else the pool, else the daemon's default. */
function setBy(
  pool: string,
  { retain, retainSource }: PodRequest,
  pools: PoolBook,
  isReserved: boolean,
): string {
  if (retain !== undefined) return retainSource ?? 'the pod'
  if (isReserved) return 'its reservation'
  const settings = findPool(pools, pool)
  const standard = formatRetention(pools.standard.retention)
  if (!settings || formatRetention(settings.policy.retention) === standard) return "the daemon's default"
  return `pool ${pool}`
}

/**
 * "30m, by pool prod: after DEL it is kept for shop/web-0 for 30m": which retention a lease has, who set it, and what
 * becomes of the address at DEL, decided as DEL decides it.
 *
 * @param isReserved whether a reservation of the address says it, where the pod says nothing
 */
export function describeRetention(
  lease: LeaseRecord,
  request: PodRequest,
  pools: PoolBook,
  now: number,
  isReserved = false,
): string {
  const rule = `${formatRetention(lease.retain)}, by ${setBy(lease.pool, request, pools, isReserved)}`
  const { state, until } = releasedLease(lease, pools, now)
  const span = until === null ? undefined : formatDuration(until - now)
  if (state === 'cooling')
    return `${rule}: after DEL it rests for ${span ?? '0s'}, and until then only a pod that asks for it by name gets it`
  const kept = `${rule}: after DEL it is kept for ${describeHolder(lease.holder)}`
  if (span !== undefined) return `${kept} for ${span}`
  if (lease.retain !== 'while-owner-exists') return `${kept} without an end`
  return lease.workload && lease.workload.apiVersion !== null
    ? `${kept} while ${describeWorkload(lease.workload)} exists`
    : `${kept} without an end, since its owner is not known`
}
