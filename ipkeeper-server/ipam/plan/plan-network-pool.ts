import { formatAddress } from '../../../shared/net/address.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import { formatCidr, parseCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { AddressBook } from '../pools/address-book.ts'
import {
  canonicalPool,
  formatRangeSet,
  poolsOverlap,
  type Pool,
  type RangeDefinition,
} from '../pools/pool.ts'
import type { Change, PoolRange, PoolRecord, Write } from '../records/records.ts'

/** A pool as it is remembered. Exclusions are kept as the gaps between usable runs, network and gateway included. */
export function toPoolRecord(pool: Pool, generation: number, origin?: PoolRecord['origin']): PoolRecord {
  return {
    generation,
    name: pool.name,
    segment: pool.segment,
    ...(origin && { origin }),
    ranges: pool.rangeSets.map(set =>
      set.map(range => {
        const text = (value: bigint): string => formatAddress({ family: range.family, value })
        const exclude: [string, string][] = []
        let next = range.first.value
        for (const run of range.usable) {
          if (run.first > next) exclude.push([text(next), text(run.first - 1n)])
          next = run.last + 1n
        }
        if (next <= range.last.value) exclude.push([text(next), text(range.last.value)])
        return {
          subnet: formatCidr(range.subnet),
          rangeStart: formatAddress(range.first),
          rangeEnd: formatAddress(range.last),
          gateway: formatAddress(range.gateway),
          exclude,
        }
      }),
    ),
  }
}

function toDefinition(range: PoolRange): RangeDefinition {
  const subnet = parseCidr(range.subnet)
  const address = (text: string): NonNullable<ReturnType<typeof parseAddress>> => {
    const parsed = parseAddress(text)
    if (!parsed) throw new Problem('IPK_INTERNAL', `pool record with address ${text}`)
    return parsed
  }
  if (!subnet) throw new Problem('IPK_INTERNAL', `pool record with subnet ${range.subnet}`)
  return {
    subnet,
    rangeStart: address(range.rangeStart),
    rangeEnd: address(range.rangeEnd),
    gateway: address(range.gateway),
    exclude: range.exclude.map(([first, last]) => ({ first: address(first), last: address(last) })),
  }
}

/** The pool that a record remembers. */
export function poolOf(record: PoolRecord): Pool {
  return canonicalPool(
    record.name,
    record.segment,
    record.ranges.map(set => set.map(toDefinition)),
  )
}

/** Whether two records are of the same segment and ranges, whoever says so. */
export function sameRanges(a: PoolRecord, b: PoolRecord): boolean {
  return a.segment === b.segment && JSON.stringify(a.ranges) === JSON.stringify(b.ranges)
}

/** The ranges of a pool in a message. */
export function describeRanges(pool: Pool): string {
  return pool.rangeSets.map(formatRangeSet).join(' and ')
}

/** Where pools are said by name. */
const whoHas = { config: "the daemon's configuration", api: 'the Kubernetes API' } as const

/**
 * Writes that make the store remember an inline pool. Another pool of the segment that overlaps it is IPK_POOL_OVERLAP
 * while any of its addresses is bound or held, and makes room otherwise (DESIGN.md, rule 3). A pool of the daemon's
 * configuration makes no room; one of the same name has to be the same (IPK_CONFIG_INVALID).
 */
export function planPool(book: AddressBook, pool: Pool): Change {
  const writes: Write[] = []
  const before = book.pool(pool.name)
  const record = toPoolRecord(pool, (before?.generation ?? 0) + 1)
  if (before && sameRanges(before, record)) return writes
  if (before?.origin !== undefined) {
    throw new Problem(
      'IPK_CONFIG_INVALID',
      `network ${pool.name} has ranges of its own (${describeRanges(pool)}), but ${whoHas[before.origin]} has a pool of that name with other ones (${describeRanges(poolOf(before))})`,
      {
        hint: `name the pool in the conflist, "ipam": {"type": "ipkeeper", "pool": "${pool.name}"}, or rename the network or the pool`,
      },
    )
  }
  for (const other of book.pools()) {
    if (other.name === pool.name || !poolsOverlap(poolOf(other), pool)) continue
    const ranges = describeRanges(poolOf(other))
    const inTheWay =
      other.origin !== undefined
        ? `pool ${other.name} of ${whoHas[other.origin]} (${ranges})`
        : book.hasLiveLease(other)
          ? `network ${other.name} (${ranges}), which has leases`
          : undefined
    if (inTheWay !== undefined) {
      throw new Problem(
        'IPK_POOL_OVERLAP',
        `the ranges of network ${pool.name} (${describeRanges(pool)}) overlap those of ${inTheWay}`,
      )
    }
    writes.push({ kind: 'pool', key: other.name, expect: other.generation, record: null })
  }
  writes.push({ kind: 'pool', key: pool.name, expect: before?.generation ?? null, record })
  return writes
}
