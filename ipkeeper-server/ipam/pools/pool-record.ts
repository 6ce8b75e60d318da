import { formatAddress, parseAddress, type Address } from '../../../shared/net/address.ts'
import { cidrContains, formatCidr, parseCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { PoolRange, PoolRecord } from '../records/records.ts'
import type { AddressBook } from './address-book.ts'
import { canonicalPool, isUsable, unusableReason, type Pool, type RangeDefinition } from './pool.ts'

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
          ...(range.draining && { draining: range.draining }),
        }
      }),
    ),
  }
}

function toDefinition(range: PoolRange): RangeDefinition {
  const subnet = parseCidr(range.subnet)
  const address = (text: string): Address => {
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
    ...(range.draining && { draining: range.draining }),
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

/** Where an address stands among the pools of its segment that are known so far. */
export type AddressPlace =
  | { readonly kind: 'usable'; readonly pool: string }
  /** No pool can give it, and `why` says what it is: "the gateway of 10.22.0.0/16". */
  | { readonly kind: 'unusable'; readonly pool: string; readonly why: string }
  /** A pool that has it may come with the first ADD of its network. */
  | { readonly kind: 'outside' }

/** What one pool cannot give another one may: gateways and exclusions are a pool's own. */
export function locateAddress(
  book: Pick<AddressBook, 'pools'>,
  segment: string,
  address: Address,
): AddressPlace {
  let unusable: AddressPlace | undefined
  for (const record of book.pools()) {
    if (record.segment !== segment) continue
    for (const range of poolOf(record).rangeSets.flat()) {
      if (!cidrContains(range.subnet, address)) continue
      if (isUsable(range, address)) return { kind: 'usable', pool: record.name }
      const reason = unusableReason(range, address)
      if (reason === undefined || reason === 'outside the range') continue
      const why = reason === 'excluded' ? reason : `${reason} of ${formatCidr(range.subnet)}`
      unusable ??= { kind: 'unusable', pool: record.name, why }
    }
  }
  return unusable ?? { kind: 'outside' }
}
