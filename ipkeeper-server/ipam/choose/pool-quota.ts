import type { AddressBook } from '../pools/address-book.ts'
import { quotaOf } from '../pools/pool-rules.ts'
import { quotaProblem } from './claim-problems.ts'
import type { Grant } from './plan-grants.ts'
import { formatAddress, parseAddress } from '../../../shared/net/address.ts'
import {
  isTimeOver,
  quotaKey,
  type Holder,
  type LeaseRecord,
  type QuotaRecord,
  type Write,
} from '../records/records.ts'

/** As much of an ADD as a quota has to do with. */
interface QuotaContext {
  readonly book: Pick<AddressBook, 'lease' | 'liveIn' | 'quota'>
  readonly request: { readonly holder: Holder }
  readonly terms: { readonly now: number }
}

/** Whether a lease counts as the namespace's: somebody of it has the address or keeps it. */
function counts(lease: LeaseRecord | undefined, pool: string, namespace: string, now: number): boolean {
  return (
    lease !== undefined &&
    lease.state !== 'cooling' &&
    !isTimeOver(lease, now) &&
    lease.pool === pool &&
    lease.holder.kind === 'pod' &&
    lease.holder.namespace === namespace
  )
}

/**
 * Keeps a namespace within its quota: an ADD may not leave it with more addresses of a family than the pool allows,
 * unless it adds none (a new sandbox of a pod, or a quota that was lowered below what is in use).
 *
 * @param freed what the ADD gives back, as it was rewritten
 * @returns writes that make an ADD of another node, which counts at the same time, count anew
 * @throws Problem IPK_QUOTA
 */
export function checkQuota(
  { book, request, terms }: QuotaContext,
  grants: readonly Grant[],
  freed: readonly LeaseRecord[],
): readonly Write[] {
  const { holder } = request
  const { now } = terms
  if (holder.kind !== 'pod') return []
  const { namespace } = holder
  const guards: Write[] = []
  const seen = new Set<string>()
  for (const { slot, address } of grants) {
    const { pool, rules } = slot
    const quota = quotaOf(rules)
    const { family } = address
    if (quota === undefined || seen.has(`${pool.name} ${family}`)) continue
    seen.add(`${pool.name} ${family}`)
    const inFamily = (text: string): boolean => parseAddress(text)?.family === family
    const granted = grants.filter(grant => grant.slot.pool === pool && grant.address.family === family)
    const before = (key: { segment: string; address: string }): boolean =>
      counts(book.lease(key), pool.name, namespace, now)
    const fresh = granted.filter(
      grant => !before({ segment: pool.segment, address: formatAddress(grant.address) }),
    ).length
    const given = freed.filter(lease => inFamily(lease.address) && before(lease)).length
    const has = book.liveIn(pool.name, namespace, family, now)
    if (fresh <= given) continue
    if (has + fresh - given > quota) throw quotaProblem({ pool, namespace, family, has, quota })
    const guard = { pool: pool.name, namespace, family }
    const expect = book.quota(guard)?.generation ?? null
    const record: QuotaRecord = { ...guard, generation: (expect ?? 0) + 1 }
    guards.push({ kind: 'quota', key: quotaKey(guard), expect, record })
  }
  return guards
}
