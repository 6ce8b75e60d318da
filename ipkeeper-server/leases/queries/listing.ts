import type {
  AttachmentItem,
  LeaseItem,
  PoolFamily,
  PoolItem,
  ReservationItem,
  ReserveReply,
} from '../../../shared/api/listing.schema.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import { locateAddress, poolOf } from '../../ipam/pools/pool-record.ts'
import { pendingSpec } from '../../ipam/pools/pending-spec.ts'
import { formatRange, type Pool } from '../../ipam/pools/pool.ts'
import { allDrain, byFamily, drainingOf, sumUsage, type RangeSetUsage } from '../../ipam/pools/usage.ts'
import { byPlace, inAddressOrder, keyed, type Keyed, type Located } from '../../ipam/records/address-order.ts'
import { formatRetention } from '../../ipam/records/retention.ts'
import {
  isTimeOver,
  type AttachmentRecord,
  type LeaseRecord,
  type ReservationRecord,
} from '../../ipam/records/records.ts'
import { formatReservationOwner } from '../../ipam/records/reservation-owner.ts'
import { describeWorkload, isKnown } from '../../ipam/records/workload.ts'
import { isoTime } from '../../ipam/records/times.ts'
import { forecastOf } from './forecast-of.ts'
import { measureUsage } from './measure-usage.ts'
import type { LeaseService } from '../verbs/service.ts'

/** Counts above 2^53 as decimal text: JSON numbers would lose digits. */
export function count(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value.toString()
}

/**
 * The first of them in order. No more than twice as many are sorted at a time, and only what comes before the last of
 * those so far is looked up.
 */
function firstInOrder<T extends Located>(
  keys: Iterable<Located>,
  limit: number,
  lookUp: (key: Located) => T | undefined,
): T[] {
  let first: Keyed<T>[] = []
  let last: Keyed<Located> | undefined
  const sort = (): void => {
    first = first.sort(byPlace).slice(0, limit)
    last = first[limit - 1]
  }
  for (const key of keys) {
    const place = keyed(key)
    if (last && byPlace(place, last) >= 0) continue
    const item = lookUp(key)
    if (item && first.push({ ...place, item }) >= 2 * limit) sort()
  }
  sort()
  return first.map(({ item }) => item)
}

export function podOf({ holder, podUid }: Pick<LeaseRecord, 'holder' | 'podUid'>): LeaseItem['pod'] {
  return holder.kind === 'pod' ? { namespace: holder.namespace, name: holder.name, uid: podUid } : null
}

export function leaseItem(lease: LeaseRecord): LeaseItem {
  return {
    address: lease.address,
    prefixLength: lease.prefixLength,
    segment: lease.segment,
    pool: lease.pool,
    network: lease.network,
    containerId: lease.attachment?.containerId ?? null,
    ifname: lease.holder.ifname,
    pod: podOf(lease),
    owner: lease.workload && isKnown(lease.workload) ? describeWorkload(lease.workload) : null,
    node: lease.node,
    state: lease.state,
    source: lease.source,
    retain: formatRetention(lease.retain),
    mac: lease.mac,
    since: isoTime(lease.since),
    until: lease.until === null ? null : isoTime(lease.until),
  }
}

/**
 * Leases in the order of their addresses, the first ones where there is a limit; those whose time is over are gone already.
 */
export function listLeases(service: LeaseService, limit?: number): LeaseItem[] {
  const { ledger } = service
  const now = service.now()
  const present =
    limit === undefined || limit >= ledger.counts().lease
      ? inAddressOrder([...ledger.leases()].filter(lease => !isTimeOver(lease, now)))
      : firstInOrder(ledger.leaseKeys(), limit, key => {
          const lease = ledger.lease(key)
          return lease && !isTimeOver(lease, now) ? lease : undefined
        })
  return present.map(leaseItem)
}

export function attachmentItem({ ledger }: LeaseService, attachment: AttachmentRecord): AttachmentItem {
  return {
    network: attachment.network,
    containerId: attachment.containerId,
    ifname: attachment.ifname,
    pod: podOf(attachment),
    node: attachment.node,
    netns: attachment.netns,
    addresses:
      attachment.given?.slice() ??
      ledger.leasesOf(attachment).map(lease => `${lease.address}/${lease.prefixLength}`),
    delegatedTo: attachment.delegatedTo ?? null,
    mode: attachment.wiring?.mode ?? null,
    hostLink: attachment.wiring?.hostLink?.name ?? null,
    since: isoTime(attachment.since),
    bootId: attachment.bootId,
  }
}

/** Of some range sets of a pool. */
function figuresOf({ rangeSets }: Pool, sets: readonly RangeSetUsage[]): Omit<PoolFamily, 'family'> {
  const { capacity, used, held, free, nextFreeAt } = sumUsage(sets)
  return {
    ranges: sets.map(({ rangeSet }) => (rangeSets[rangeSet] ?? []).map(formatRange)),
    ...{ capacity: count(capacity), used: count(used), held: count(held), free: count(free) },
    nextFreeAt: nextFreeAt === null ? null : isoTime(nextFreeAt),
  }
}

const drainingItem = ({
  whole,
  left,
  reserved,
}: NonNullable<ReturnType<typeof drainingOf>>): NonNullable<PoolItem['draining']> => ({
  ...{ whole, left: count(left) },
  ...(reserved !== undefined && { reserved: count(reserved) }),
})

/**
 * All pools by name. It gives the event loop back on its way, so that an ADD does not wait for a listing.
 *
 * @param turn resolves when others had theirs
 */
export async function listPools(service: LeaseService, turn: () => Promise<unknown>): Promise<PoolItem[]> {
  const { rangeSets } = await measureUsage(service, turn)
  const bySet = Map.groupBy(rangeSets, ({ pool }) => pool)
  return [...service.ledger.pools()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(record => {
      const pool = poolOf(record)
      const sets = bySet.get(pool.name)
      // One that came meanwhile is not measured.
      if (!sets) return []
      const pending = pendingSpec(record)
      const draining = drainingOf(sets)
      return {
        ...(draining && { draining: drainingItem(draining) }),
        ...(pending && { pending }),
        ...{ name: pool.name, segment: pool.segment, ...figuresOf(pool, sets) },
        families: byFamily(sets).map(group => ({
          family: `IPv${group.family}` as const,
          ...figuresOf(pool, group.sets),
          ...(allDrain(group.sets) && { drains: true as const }),
          ...(service.useSamples && { forecast: forecastOf(service, group.sets) }),
        })),
      }
    })
}

export function reservationItem(reservation: ReservationRecord): ReservationItem {
  return {
    segment: reservation.segment,
    address: reservation.address,
    owner: formatReservationOwner(reservation),
    note: reservation.note,
    since: isoTime(reservation.since),
  }
}

/** A reservation that was just made, with the pool that can give its address. */
export function reservedReply({ ledger }: LeaseService, reservation: ReservationRecord): ReserveReply {
  const address = parseAddress(reservation.address)
  const place = address && locateAddress(ledger, reservation.segment, address)
  return { ...reservationItem(reservation), pool: place?.kind === 'usable' ? place.pool : null }
}
