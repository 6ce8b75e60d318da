import type { LeaseItem } from '../../../shared/api/listing.schema.ts'
import type { FreeingReply, MapAddress, MapCounts, PoolMapReply } from '../../../shared/api/map.schema.ts'
import { formatAddress, parseAddress, type Address } from '../../../shared/net/address.ts'
import { cidrContains, firstOf, formatCidr, lastOf, parseCidr, type Cidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import {
  BlockTally,
  isFine,
  takenState,
  smallestView,
  type BlockCounts,
} from '../../ipam/pools/block-tally.ts'
import { poolOf } from '../../ipam/pools/pool-record.ts'
import { isUsable, unusableReason, usableIn, type Pool, type RangeSet } from '../../ipam/pools/pool.ts'
import { isSetAside, isTimeOver, type LeaseKey } from '../../ipam/records/records.ts'
import { inTurns, type Turn } from './in-turns.ts'
import { count, leaseItem, reservationItem } from './listing.ts'
import { isWithin } from '../ledger/ledger-reader.ts'
import type { LeaseService } from '../verbs/service.ts'

export function poolNamed({ ledger }: LeaseService, name: string): Pool {
  const record = ledger.pool(name)
  if (!record) throw new Problem('IPK_POOL_UNKNOWN', `there is no pool ${name}`)
  return poolOf(record)
}

/** Which part of a pool is asked for: a block of one of its subnets, or the small one around an address. */
export interface MapPart {
  /** In CIDR notation. */
  readonly within?: string
  readonly around?: string
}

/** That of the first range where nothing is asked for. Throws IPK_REQUEST_INVALID for what is in no subnet of the pool. */
function readBlock(pool: Pool, { within, around }: MapPart): Cidr {
  const ranges = pool.rangeSets.flat()
  const subnets = ranges.map(({ subnet }) => subnet)
  if (around !== undefined) {
    const address = parseAddress(around)
    const subnet = address && subnets.find(candidate => cidrContains(candidate, address))
    if (subnet) return smallestView(subnet, address, address)
  } else if (within !== undefined) {
    const cidr = parseCidr(within)
    const fits =
      cidr &&
      firstOf(cidr).value === cidr.address.value &&
      subnets.some(subnet => subnet.prefixLength <= cidr.prefixLength && cidrContains(subnet, cidr.address))
    if (fits) return cidr
  } else {
    const [range] = ranges
    if (range) return smallestView(range.subnet, range.first, range.last)
  }
  const what = around === undefined ? 'block' : 'address'
  throw new Problem(
    'IPK_REQUEST_INVALID',
    `"${around ?? within ?? ''}" is no ${what} of the subnets of pool ${pool.name}`,
    {
      hint: `name ${what === 'block' ? 'a network without host bits' : 'one'} within ${[...new Set(subnets.map(formatCidr))].join(' or ')}`,
    },
  )
}

const countsOf = (counts: BlockCounts): MapCounts => ({
  bound: count(counts.bound),
  held: count(counts.held),
  cooling: count(counts.cooling),
  aside: count(counts.aside),
  reserved: count(counts.reserved),
  free: count(counts.free),
  unusable: count(counts.unusable),
})

/** A block as far as walking through records needs it. */
function asRangeSet(cidr: Cidr): RangeSet {
  const [first, last] = [firstOf(cidr), lastOf(cidr)]
  return [{ family: first.family, subnet: cidr, first, last, gateway: first, usable: [] }]
}

function whyUnusable(pool: Pool, address: Address): string | null {
  const ranges = pool.rangeSets.flat().filter(({ subnet }) => cidrContains(subnet, address))
  if (ranges.some(range => isUsable(range, address))) return null
  const reasons = ranges.flatMap(range => unusableReason(range, address) ?? [])
  return reasons.find(reason => reason !== 'outside the range') ?? reasons[0] ?? 'outside the range'
}

/** Every address of a small block that is not simply free, by looking each of them up. */
function addressesOf(
  { ledger, now }: LeaseService,
  pool: Pool,
  within: Cidr,
  tally: BlockTally,
): MapAddress[] {
  const at = now()
  const found: MapAddress[] = []
  const { family } = within.address
  for (let value = firstOf(within).value; value <= lastOf(within).value; value++) {
    const address = { family, value }
    const key: LeaseKey = { segment: pool.segment, address: formatAddress(address) }
    const lease = ledger.lease(key)
    const reservation = ledger.reservation(key)
    const present = lease && !isTimeOver(lease, at) ? lease : undefined
    const taken = takenState(
      present && { ...present, aside: isSetAside(present) },
      reservation !== undefined,
      at,
    )
    if (taken) tally.add(address, taken)
    const why = whyUnusable(pool, address)
    if (!taken && why === null) continue
    found.push({
      address: key.address,
      state: taken ?? 'unusable',
      why,
      lease: present ? leaseItem(present) : null,
      reservation: reservation ? reservationItem(reservation) : null,
    })
  }
  return found
}

const isIn =
  (segment: string, set: RangeSet) =>
  (key: LeaseKey): boolean =>
    key.segment === segment && isWithin(set, key.address)

/** One walk through all records. */
async function walkThrough(
  { ledger, now }: LeaseService,
  pool: Pool,
  within: Cidr,
  tally: BlockTally,
  turn: Turn,
): Promise<void> {
  const at = now()
  const set = asRangeSet(within)
  for await (const key of inTurns(ledger.leaseKeys(), isIn(pool.segment, set), turn)) {
    const address = parseAddress(key.address)
    const lease = ledger.leaseOutline(key)
    const taken = takenState(lease, false, at)
    if (address && taken) tally.add(address, taken)
  }
  for await (const reservation of inTurns(ledger.reservations(), isIn(pool.segment, set), turn)) {
    const address = parseAddress(reservation.address)
    const lease = ledger.lease(reservation)
    if (address && (!lease || isTimeOver(lease, at))) tally.add(address, 'reserved')
  }
}

/**
 * A pool as a map: a block of it by single addresses or by smaller blocks. With many leases the figures are those of a
 * stretch of milliseconds, not of one moment.
 *
 * @throws IPK_POOL_UNKNOWN, IPK_REQUEST_INVALID
 */
export async function mapPool(
  service: LeaseService,
  name: string,
  part: MapPart,
  turn: Turn,
): Promise<PoolMapReply> {
  const pool = poolNamed(service, name)
  const ranges = pool.rangeSets.flat().map(range => ({
    subnet: formatCidr(range.subnet),
    first: formatAddress(range.first),
    last: formatAddress(range.last),
    gateway: formatAddress(range.gateway),
    view: formatCidr(smallestView(range.subnet, range.first, range.last)),
  }))
  const block = readBlock(pool, part)
  const tally = new BlockTally(pool, block)
  const fine = isFine(block)
  const addresses = fine ? addressesOf(service, pool, block, tally) : []
  if (!fine) await walkThrough(service, pool, block, tally, turn)
  return {
    pool: pool.name,
    segment: pool.segment,
    ranges,
    within: formatCidr(block),
    counts: countsOf(tally.counts()),
    detail: fine ? 'addresses' : 'blocks',
    whole: tally.whole,
    blocks: fine
      ? []
      : tally.blocks().map(({ cidr, counts }) => ({ cidr: formatCidr(cidr), counts: countsOf(counts) })),
    addresses,
  }
}

/**
 * Which kept and resting addresses of a pool come free by themselves, the next one first.
 *
 * @throws IPK_POOL_UNKNOWN
 */
export async function listFreeing(
  service: LeaseService,
  name: string,
  limit: number,
  turn: Turn,
): Promise<FreeingReply> {
  const pool = poolNamed(service, name)
  const { ledger, now } = service
  const at = now()
  const next: (LeaseKey & { readonly until: number })[] = []
  let all = 0
  for (const set of pool.rangeSets) {
    for await (const key of inTurns(ledger.leaseKeys(), isIn(pool.segment, set), turn)) {
      const { segment, address } = key
      const { until = null } = ledger.leaseOutline(key) ?? {}
      if (until === null || isTimeOver({ until }, at) || !usableIn(set, address)) continue
      if (ledger.reservation(key)) continue
      all++
      if (until >= (next[limit - 1]?.until ?? Infinity)) continue
      const place = next.findIndex(other => other.until > until)
      next.splice(place < 0 ? next.length : place, 0, { segment, address, until })
      next.length = Math.min(next.length, limit)
    }
  }
  const freeing = next.flatMap((key): LeaseItem[] => {
    const lease = ledger.lease(key)
    return lease && lease.until === key.until ? [leaseItem(lease)] : []
  })
  return { freeing, more: all - next.length }
}
