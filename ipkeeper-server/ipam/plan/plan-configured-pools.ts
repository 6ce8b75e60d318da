import { parseAddress } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { Liveness } from '../records/standing.ts'
import type { AddressBook } from '../pools/address-book.ts'
import { emptied } from '../pools/emptied.ts'
import { describeRanges, isUsable, type Pool } from '../pools/pool.ts'
import { poolOf, sameRanges, toPoolRecord } from '../pools/pool-record.ts'
import type { PoolSettings } from '../pools/pool-settings.ts'
import { RangeIndex, type PlacedRange } from '../pools/range-index.ts'
import { inAddressOrder } from '../records/address-order.ts'
import {
  describeHolder,
  describeReservation,
  isTimeOver,
  type AttachmentRecord,
  type Change,
  type LeaseKey,
  type LeaseRecord,
  type PoolRecord,
  type ReservationRecord,
  type Write,
} from '../records/records.ts'

/** As much of the records as a change of the pools has to do with. */
export interface ConfiguredPoolsBook {
  /** Whether other nodes have the same records. */
  readonly isShared?: boolean
  pools(): Iterable<PoolRecord>
  leases(): Iterable<LeaseRecord>
  reservations(): Iterable<ReservationRecord>
}

/** What becomes of the records of pools when the daemon's configuration changes. */
export interface ConfiguredPoolsPlan {
  readonly change: Change
  readonly added: readonly string[]
  /** With other ranges or another segment than before; what else a pool says is not recorded. */
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** Networks whose own ranges were remembered and made room. */
  readonly displaced: readonly string[]
  /** Reservations that lead nowhere from now on, and pools that do not count; one sentence each. */
  readonly notes: readonly string[]
}

/** How many addresses a refusal names. */
const shownLeases = 5

function placedRanges(pool: Pool): PlacedRange<Pool>[] {
  return pool.rangeSets.flat().map(range => ({ segment: pool.segment, range, owner: pool }))
}

/** The range that an address may be given from. */
function usableRange(index: RangeIndex<Pool>, key: LeaseKey): PlacedRange<Pool> | undefined {
  const address = parseAddress(key.address)
  const placed = address && index.around(key.segment, address)
  return address && placed && isUsable(placed.range, address) ? placed : undefined
}

/**
 * Whether somebody still relies on an address: it is kept and its time is not over, or it is bound and its sandbox is not
 * proved dead.
 *
 * @param now milliseconds since the epoch
 */
export function isInUse(
  book: Pick<AddressBook, 'attachment'>,
  lease: LeaseRecord,
  now: number,
  liveness: (attachment: AttachmentRecord) => Liveness,
): boolean {
  if (lease.state !== 'bound') return lease.state === 'held' && !isTimeOver(lease, now)
  const attachment = lease.attachment ? book.attachment(lease.attachment) : undefined
  return !attachment || liveness(attachment) !== 'dead'
}

/** "pool prod shrinks to ...", for a pool that addresses in use would fall out of. */
function whatHappens(before: PoolRecord, after: Pool | undefined): string {
  if (!after) return `pool ${before.name} goes`
  if (after.segment !== before.segment)
    return `pool ${before.name} moves from segment ${before.segment} to ${after.segment}`
  return `pool ${before.name} changes to ${describeRanges(after)}`
}

function describeOrphans(what: string, leases: readonly LeaseRecord[]): string {
  // The ledger has another order after a restart, and the text should be the same.
  const shown = inAddressOrder(leases)
    .slice(0, shownLeases)
    .map(
      ({ address, state, holder }) =>
        `${address} (${state === 'held' ? 'kept for ' : ''}${describeHolder(holder)})`,
    )
  const more = leases.length - shown.length
  const count = leases.length === 1 ? '1 address' : `${leases.length} addresses`
  return `${what}, which would leave out ${count} in use: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Pools whose leases a change concerns, by name. */
type Affected = {
  readonly before: PoolRecord
  readonly inUse: LeaseRecord[]
} & (
  | {
      /** "spare": the file of another node may have it, since records are shared; it goes when nobody uses it. */
      readonly as: 'changed' | 'removed' | 'spare'
    }
  | {
      /** Ranges of a network that a new pool overlaps; nobody may be using them. */
      readonly as: 'room'
      readonly by: Pool
    }
)

/**
 * Leases that would be left without their pool, sorted into the pools that they are of. Every lease is looked at once, and
 * whether it is in use is asked only of those that would be.
 */
function collectOrphans(
  book: Pick<ConfiguredPoolsBook, 'leases'>,
  affected: ReadonlyMap<string, Affected>,
  index: RangeIndex<Pool>,
  isLive: (lease: LeaseRecord) => boolean,
): void {
  if (affected.size === 0) return
  for (const lease of book.leases()) {
    const pool = affected.get(lease.pool)
    if (!pool || (pool.as === 'spare' && pool.inUse.length > 0)) continue
    const stays = pool.as !== 'room' && usableRange(index, lease)?.owner.name === lease.pool
    if (!stays && isLive(lease)) pool.inUse.push(lease)
  }
}

function refuseOrphans(affected: readonly Affected[], next: ReadonlyMap<string, Pool>): void {
  const refused = affected.filter(({ as, inUse }) => as !== 'room' && as !== 'spare' && inUse.length > 0)
  const [first, ...others] = refused.map(({ before, inUse }) =>
    describeOrphans(whatHappens(before, next.get(before.name)), inUse),
  )
  if (first === undefined) return
  throw new Problem('IPK_POOLS_ORPHAN', first, {
    details: others.join('\n'),
    hint: `keep these addresses in the ranges of their pool; or ${refused.map(({ before }) => emptied(before.name)).join('; ')}; then: systemctl reload-or-restart ipkeeper`,
  })
}

function refuseOverlap(affected: readonly Affected[]): void {
  for (const one of affected) {
    const { before, inUse } = one
    const [lease] = inAddressOrder(inUse)
    if (one.as !== 'room' || !lease) continue
    const own = poolOf(before)
    throw new Problem(
      'IPK_POOL_OVERLAP',
      `the ranges of pool ${one.by.name} (${describeRanges(one.by)}) overlap those of network ${before.name} (${describeRanges(own)}), which has leases, such as ${lease.address} of ${describeHolder(lease.holder)}`,
      {
        hint: `name the pool ${before.name}, which keeps its addresses; or use disjoint ranges`,
      },
    )
  }
}

/** Why a pool cannot become another one of its name: addresses in use that would be left out. undefined when it can. */
export function describeLeftOut(
  book: Pick<ConfiguredPoolsBook, 'leases'>,
  before: Pool,
  after: Pool,
  isLive: (lease: LeaseRecord) => boolean,
): string | undefined {
  const affected: Affected = { before: toPoolRecord(before, 1), as: 'changed', inUse: [] }
  // Asked often, and every lease would be looked at.
  if (sameRanges(affected.before, toPoolRecord(after, 1))) return undefined
  collectOrphans(book, new Map([[before.name, affected]]), new RangeIndex(placedRanges(after)), isLive)
  return affected.inUse.length === 0
    ? undefined
    : describeOrphans(whatHappens(affected.before, after), affected.inUse)
}

function overlapping(index: RangeIndex<Pool>, { segment, rangeSets }: Pool): Pool | undefined {
  for (const { family, first, last } of rangeSets.flat()) {
    const met = index.meeting(segment, family, { first: first.value, last: last.value })
    if (met) return met.owner
  }
  return undefined
}

/** A pool that people made in the API, and one of the configuration that it cannot be beside; that one counts. */
function describeTwice(ofApi: PoolRecord, { name }: Pool): string {
  return name === ofApi.name
    ? `pool ${name} is in the configuration and, as an IPPool, in the Kubernetes API: the configuration counts`
    : `IPPool ${ofApi.name} of the Kubernetes API overlaps pool ${name} of the configuration, which counts`
}

function noteReservations(
  book: ConfiguredPoolsBook,
  affected: readonly Affected[],
  index: RangeIndex<Pool>,
): string[] {
  if (affected.length === 0) return []
  const old = new RangeIndex(affected.flatMap(({ before }) => placedRanges(poolOf(before))))
  return [...book.reservations()]
    .filter(reservation => usableRange(old, reservation) && !usableRange(index, reservation))
    .map(
      reservation =>
        `${reservation.address}, reserved for ${describeReservation(reservation)}, is in no pool any more`,
    )
}

interface KnownPool {
  readonly before: PoolRecord
  /** Whether the configuration has a pool of its name, with other ranges. */
  readonly isKept: boolean
  /** Of the configuration's pools. */
  readonly index: RangeIndex<Pool>
  readonly mayRemove: (pool: string) => boolean
}

/** What becomes of a pool that the configuration does not have as it is; undefined: nothing. */
function whatBecomes(
  book: Pick<ConfiguredPoolsBook, 'isShared'>,
  { before, isKept, index, mayRemove }: KnownPool,
): Affected | undefined {
  if (isKept) return { before, as: 'changed', inUse: [] }
  const by = overlapping(index, poolOf(before))
  if (before.origin === 'config' && mayRemove(before.name)) {
    // No daemon has two pools with one address, so that this one's file cannot leave it to another's.
    const isSpare = book.isShared === true && !by
    return { before, as: isSpare ? 'spare' : 'removed', inUse: [] }
  }
  return by && { before, as: 'room', by, inUse: [] }
}

export interface OwnPools {
  /**
   * Whether a pool of a configuration is this daemon's to remove. Where nodes share the store, one that its configuration does not have may
   * be of another node's, which would be without it; it makes room as those of networks do.
   */
  readonly mayRemove?: (pool: string) => boolean
  /** The pools that its configuration had until now: where nodes share the store, it may have other ones from another node's. */
  readonly inForce?: readonly Pick<PoolSettings, 'pool'>[]
}

/**
 * Writes that make the store remember the pools of the daemon's configuration in place of the earlier ones. Ranges of
 * networks that overlap them and are not in use make room, as in planPool. Where nodes share the records, a pool that is
 * not in this daemon's file may be in another one's: it is left as it is while it is in use, whoever uses it. When it is
 * not, it goes, or pools of old would be in the way for ever; a node that has it remembers it anew at its next start.
 *
 * @param next names and ranges differ, as parseConfig has made sure
 * @param isLive whether somebody relies on the address of a lease: see isInUse. It is asked as seldom as possible, since it
 *   may look at the machine
 * @param own what is this daemon's; undefined: all that the store has
 * @throws IPK_POOLS_ORPHAN when a pool that goes, moves or shrinks would leave addresses in use outside; IPK_POOL_OVERLAP
 *   when ranges of a network are in the way that are in use
 */
export function planConfiguredPools(
  book: ConfiguredPoolsBook,
  next: readonly Pick<PoolSettings, 'pool'>[],
  isLive: (lease: LeaseRecord) => boolean,
  { mayRemove = () => true, inForce = [] }: OwnPools = {},
): ConfiguredPoolsPlan {
  const pools = new Map(next.map(({ pool }) => [pool.name, pool]))
  const index = new RangeIndex(next.flatMap(({ pool }) => placedRanges(pool)))
  const change: Write[] = []
  const affected = new Map<string, Affected>()
  const known = new Set<string>()
  const added: string[] = []
  const twice: string[] = []
  for (const before of book.pools()) {
    known.add(before.name)
    if (before.origin === 'api') {
      const other = pools.get(before.name) ?? overlapping(index, poolOf(before))
      if (other) twice.push(describeTwice(before, other))
      continue
    }
    const pool = pools.get(before.name)
    const record = pool ? toPoolRecord(pool, before.generation + 1, 'config') : null
    if (record && sameRanges(before, record)) {
      if (before.origin === 'config') continue
      added.push(before.name)
    } else {
      const one = whatBecomes(book, { before, isKept: record !== null, index, mayRemove })
      if (!one) continue
      affected.set(before.name, one)
    }
    change.push({ kind: 'pool', key: before.name, expect: before.generation, record })
  }
  for (const { pool: former } of inForce) {
    const pool = pools.get(former.name)
    const before = toPoolRecord(former, 1, 'config')
    if (pool && !affected.has(former.name) && !sameRanges(before, toPoolRecord(pool, 1, 'config')))
      affected.set(former.name, { before, as: 'changed', inUse: [] })
  }
  for (const [name, pool] of pools) {
    if (known.has(name)) continue
    added.push(name)
    change.push({ kind: 'pool', key: name, expect: null, record: toPoolRecord(pool, 1, 'config') })
  }
  collectOrphans(book, affected, index, isLive)
  const stays = (name: string): boolean => {
    const one = affected.get(name)
    return one?.as === 'spare' && one.inUse.length > 0
  }
  const all = [...affected.values()].filter(({ before }) => !stays(before.name))
  refuseOrphans(all, pools)
  refuseOverlap(all)
  const named = (as: Affected['as']): string[] =>
    all.filter(one => one.as === as).map(({ before }) => before.name)
  return {
    change: change.filter(({ key }) => !stays(key)),
    added,
    changed: named('changed'),
    removed: [...named('removed'), ...named('spare')],
    displaced: named('room'),
    notes: [...twice, ...noteReservations(book, all, index)],
  }
}
