import type { AddressBook } from '../pools/address-book.ts'
import { findPool, policyOf, type PoolBook } from '../pools/pool-settings.ts'
import { keptUntil } from '../records/new-records.ts'
import {
  describeHolder,
  isTimeOver,
  leaseKey,
  type Change,
  type LeaseRecord,
  type Write,
} from '../records/records.ts'
import { formatDuration } from '../../../shared/text/duration.ts'
import { formatRetention } from '../records/retention.ts'
import { describeWorkload } from '../records/workload.ts'
import type { PodRequest } from '../request/request.ts'
import { replaceLease, withdrawFromHolder, writeHolder, writeLease } from './record-writes.ts'

/** How addresses end: released by a DEL or a person, kept until their time is over, remembered, and forgotten. */

/** What a release goes by. */
export interface ReleaseTerms {
  readonly pools: PoolBook
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** What becomes of a lease whose attachment is gone: kept for its holder, or cooling down. */
export function releasedLease(lease: LeaseRecord, { pools, now }: ReleaseTerms): LeaseRecord {
  const policy = policyOf(pools, lease.pool)
  const base = { ...lease, generation: lease.generation + 1, attachment: null, since: now }
  if (lease.retain !== 'release') return { ...base, state: 'held', until: keptUntil(lease.retain, now) }
  const rest = lease.named ? policy.preferFor : policy.cooldown
  const remembered = policy.strategy === 'least-recently-used' && { remembered: true as const }
  return { ...base, state: 'cooling', until: now + rest, ...remembered }
}

/** Ends the keeping of an address before its time: it cools down as after a DEL, and its holder no longer has it. */
export function planRelease(book: AddressBook, kept: LeaseRecord, terms: ReleaseTerms): Change {
  const released = releasedLease({ ...kept, retain: 'release' }, terms)
  return [
    writeLease(book, released),
    ...withdrawFromHolder(book, kept.holder, [kept]),
    ...forgetOldest(book, [released]),
  ]
}

/**
 * Tidies up one kept address whose time is over: its record goes, and its holder's when that keeps nothing else. A pool that
 * gives the least recently used address remembers when this one was.
 */
export function planExpiry(book: AddressBook, lease: LeaseRecord, pools: PoolBook): Change {
  const key = leaseKey(lease)
  const writes = endOf(book, lease, pools)
  const holder = book.holder(lease.holder)
  const keeps = holder?.leases.some(own => leaseKey(own) === key)
  if (!holder || !keeps || holder.attachment) return writes
  const leases = holder.leases.filter(own => leaseKey(own) !== key)
  return [...writes, writeHolder(holder, lease.holder, holder, leases)]
}

function endOf(book: AddressBook, lease: LeaseRecord, pools: PoolBook): Write[] {
  if (policyOf(pools, lease.pool).strategy !== 'least-recently-used') return [replaceLease(lease, null)]
  const record: LeaseRecord = {
    ...lease,
    generation: lease.generation + 1,
    state: 'cooling',
    remembered: true,
  }
  return [replaceLease(lease, record), ...forgetOldest(book, [record])]
}

/**
 * Which of the nodes that share a ledger deletes the record of a kept or resting address whose time is over. Every node
 * may give the address from then on, with the record or without; two that delete it meet, and one of them has worked for
 * nothing.
 */

/** Milliseconds after its time for which a record is left to the node that let the address go. */
export const leftToItsNode = 300_000

export interface Tidier {
  /** This node. */
  readonly node: string
  /** Whether this daemon does what one does for all; undefined where nobody is elected: then each one does it. */
  readonly elected: boolean | undefined
  readonly isGone: (node: string) => boolean
}

/** @param now milliseconds since the epoch */
export function tidiesUp(
  { node, elected, isGone }: Tidier,
  lease: Pick<LeaseRecord, 'node' | 'until'>,
  now: number,
): boolean {
  if (lease.node === node) return true
  if (elected === false) return false
  const late = lease.until !== null && now - lease.until >= leftToItsNode
  return late || (elected === true && isGone(lease.node))
}

/** How many unused addresses a pool remembers; a record takes about a kilobyte in memory and in the store. */
export const mostRemembered = 16_384

/**
 * So many are forgotten with one change, and the rest with the next ones: there may be far more where the bound came down
 * or other nodes let go meanwhile, and a transaction of etcd has 128 operations unless told otherwise.
 */
export const mostForgotten = 64

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
      writes.push(replaceLease(lease, null))
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
    const resting = lease.state === 'cooling' && !isTimeOver(lease, now)
    writes.push(replaceLease(lease, resting ? { ...rest, generation: lease.generation + 1 } : null))
  }
  return writes
}

/** Who set the retention that a lease of the pool gets: pod or namespace, else a reservation, else the pool, else the daemon's default. */
function whoSetRetention(
  pool: string,
  { retain, retainSource }: PodRequest,
  { pools, isReserved = false }: { readonly pools: PoolBook; readonly isReserved?: boolean },
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
  terms: ReleaseTerms & { readonly isReserved?: boolean },
): string {
  const rule = `${formatRetention(lease.retain)}, by ${whoSetRetention(lease.pool, request, terms)}`
  const { state, until } = releasedLease(lease, terms)
  const span = until === null ? undefined : formatDuration(until - terms.now)
  if (state === 'cooling')
    return `${rule}: after DEL it cools down for ${span ?? '0s'}, and until then only a pod that asks for it by name gets it`
  const kept = `${rule}: after DEL it is kept for ${describeHolder(lease.holder)}`
  if (span !== undefined) return `${kept} for ${span}`
  if (lease.retain !== 'while-owner-exists') return `${kept} without an end`
  return lease.workload && lease.workload.apiVersion !== null
    ? `${kept} while ${describeWorkload(lease.workload)} exists`
    : `${kept} without an end, since its owner is not known`
}
