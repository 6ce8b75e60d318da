import {
  addressBits,
  formatAddress,
  parseAddress,
  type Address,
  type Family,
} from '../../shared/net/address.ts'
import { cidrContains, firstOf, formatCidr, lastOf, type Cidr } from '../../shared/net/cidr.ts'
import { Problem } from '../../shared/problem/problem.ts'

/** First and last address of a run, both included. */
export interface Interval {
  readonly first: bigint
  readonly last: bigint
}

/** A range as configured; the keys are host-local's. `exclude` holds runs that are never given. */
export interface RangeDefinition {
  readonly subnet: Cidr
  readonly rangeStart?: Address
  readonly rangeEnd?: Address
  readonly gateway?: Address
  readonly exclude?: readonly { readonly first: Address; readonly last: Address }[]
}

/** A range in canonical form. `usable` are the runs of addresses that may be given, in order. */
export interface Range {
  readonly family: Family
  readonly subnet: Cidr
  readonly first: Address
  readonly last: Address
  readonly gateway: Address
  readonly usable: readonly Interval[]
}

/** Every range set gives one address to a pod; the ranges of a set are tried in order. */
export type RangeSet = readonly Range[]

/** A named set of range sets. Addresses are unique within the segment. */
export interface Pool {
  readonly name: string
  readonly segment: string
  readonly rangeSets: readonly RangeSet[]
}

/** Segment names reach keys and listings: one DNS label. */
export function isSegmentName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
}

/** Pool names reach keys and listings, and are annotation values: letters, digits, "-" and "." in lower case. */
export function isPoolName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(text)
}

const invalid = (message: string, hint?: string): Problem =>
  new Problem('IPK_CONFIG_INVALID', message, hint === undefined ? {} : { hint })

/** Takes a run out of runs; both ends of every run are included. */
function without(runs: readonly Interval[], gap: Interval): Interval[] {
  return runs.flatMap(run => {
    if (gap.last < run.first || gap.first > run.last) return [run]
    const pieces: Interval[] = []
    if (gap.first > run.first) pieces.push({ first: run.first, last: gap.first - 1n })
    if (gap.last < run.last) pieces.push({ first: gap.last + 1n, last: run.last })
    return pieces
  })
}

/**
 * Canonical form of a range, with host-local's defaults and texts: the gateway is the first address of the subnet
 * unless given, a range starts at the first and ends at the last host address. Network, IPv4 broadcast and gateway
 * address are never given (plugins:plugins/ipam/host-local/backend/allocator/range.go, Canonicalize).
 */
function canonicalRange(definition: RangeDefinition): Range {
  const { subnet } = definition
  const { family } = subnet.address
  if (subnet.prefixLength > addressBits[family] - 2) {
    throw invalid(`Network ${formatCidr(subnet)} too small to allocate from`)
  }
  const network = firstOf(subnet)
  if (network.value !== subnet.address.value) {
    throw invalid(
      `Network has host bits set. For a subnet mask of length ${subnet.prefixLength} the network address is ${formatAddress(network)}`,
    )
  }
  const highest = lastOf(subnet)
  const lastHost: Address = family === 4 ? { family, value: highest.value - 1n } : highest
  const inSubnet = (key: string, address: Address): Address => {
    if (cidrContains(subnet, address)) return address
    throw invalid(`${key} ${formatAddress(address)} not in network ${formatCidr(subnet)}`)
  }
  const first = definition.rangeStart
    ? inSubnet('RangeStart', definition.rangeStart)
    : { family, value: network.value + 1n }
  const last = definition.rangeEnd ? inSubnet('RangeEnd', definition.rangeEnd) : lastHost
  if (first.value > last.value) {
    throw invalid(`RangeStart ${formatAddress(first)} is above RangeEnd ${formatAddress(last)}`)
  }
  const gateway = definition.gateway ?? { family, value: network.value + 1n }
  if (gateway.family !== family) {
    throw invalid(`gateway ${formatAddress(gateway)} is not of the family of network ${formatCidr(subnet)}`)
  }
  const gaps: Interval[] = [
    { first: network.value, last: network.value },
    { first: gateway.value, last: gateway.value },
    ...(family === 4 ? [{ first: highest.value, last: highest.value }] : []),
    ...(definition.exclude ?? []).map(run => ({
      first: inSubnet('exclude', run.first).value,
      last: inSubnet('exclude', run.last).value,
    })),
  ]
  const usable = gaps.reduce<Interval[]>(without, [{ first: first.value, last: last.value }])
  if (usable.length === 0) {
    throw invalid(`range ${formatAddress(first)}-${formatAddress(last)} has no address to give`)
  }
  return { family, subnet, first, last, gateway, usable }
}

export function formatRange(range: Range): string {
  return `${formatAddress(range.first)}-${formatAddress(range.last)}`
}

/** "10.1.2.1-10.1.2.254,10.1.3.1-10.1.3.254", as host-local prints a range set. */
export function formatRangeSet(set: RangeSet): string {
  return set.map(formatRange).join(',')
}

function rangesOverlap(a: Range, b: Range): boolean {
  return a.family === b.family && a.first.value <= b.last.value && b.first.value <= a.last.value
}

function setsOverlap(a: RangeSet, b: RangeSet): boolean {
  return a.some(left => b.some(right => rangesOverlap(left, right)))
}

function canonicalSet(definitions: readonly RangeDefinition[]): RangeSet {
  const ranges = definitions.map(canonicalRange)
  const [head] = ranges
  if (!head) throw invalid('empty range set')
  if (ranges.some(range => range.family !== head.family)) throw invalid('mixed address families')
  ranges.forEach((range, index) => {
    const other = ranges.slice(index + 1).find(candidate => rangesOverlap(range, candidate))
    if (other) throw invalid(`subnets ${formatRange(range)} and ${formatRange(other)} overlap`)
  })
  return ranges
}

/**
 * A pool from configured ranges. Throws IPK_CONFIG_INVALID with host-local's text, which names the range set.
 */
export function canonicalPool(
  name: string,
  segment: string,
  definitions: readonly (readonly RangeDefinition[])[],
): Pool {
  if (definitions.length === 0) throw invalid('no IP ranges specified', 'give "ipam" a "subnet" or "ranges"')
  const rangeSets = definitions.map((set, index) => {
    try {
      return canonicalSet(set)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      throw invalid(`invalid range set ${index}: ${error.message}`)
    }
  })
  rangeSets.forEach((set, index) => {
    const other = rangeSets.findIndex(
      (candidate, position) => position > index && setsOverlap(set, candidate),
    )
    if (other >= 0) throw invalid(`range set ${index} overlaps with ${other}`)
  })
  return { name, segment, rangeSets }
}

/** Whether two pools could give the same address: same segment, overlapping ranges. */
export function poolsOverlap(a: Pool, b: Pool): boolean {
  return (
    a.segment === b.segment && a.rangeSets.some(left => b.rangeSets.some(right => setsOverlap(left, right)))
  )
}

/** Whether two pools give the same addresses from the same ranges. */
export function samePool(a: Pool, b: Pool): boolean {
  const text = ({ segment, rangeSets }: Pool): string =>
    JSON.stringify([segment, rangeSets], (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
  return text(a) === text(b)
}

/** The range of a set whose first..last holds the address, usable or not. */
export function rangeOf(set: RangeSet, address: Address): Range | undefined {
  return set.find(
    range =>
      range.family === address.family &&
      range.first.value <= address.value &&
      address.value <= range.last.value,
  )
}

/** Whether the address may be given: inside the range and neither network, broadcast, gateway nor excluded. */
export function isUsable(range: Range, address: Address): boolean {
  return range.usable.some(run => run.first <= address.value && address.value <= run.last)
}

/** Where a recorded address stands in a range set; undefined when it is outside, or may not be given from it. */
export function usableIn(
  set: RangeSet,
  text: string,
): { readonly address: Address; readonly range: Range } | undefined {
  const address = parseAddress(text)
  const range = address && rangeOf(set, address)
  return address && range && isUsable(range, address) ? { address, range } : undefined
}

/** Why an address of the subnet may not be given; undefined when it may. */
export function unusableReason(range: Range, address: Address): string | undefined {
  if (isUsable(range, address)) return undefined
  if (address.value === firstOf(range.subnet).value) return 'the network address'
  if (address.value === range.gateway.value) return 'the gateway'
  if (address.family === 4 && address.value === lastOf(range.subnet).value) return 'the broadcast address'
  return rangeOf([range], address) ? 'excluded' : 'outside the range'
}

/** How many addresses the pool can give. */
export function capacityOf(pool: Pool): bigint {
  let capacity = 0n
  for (const range of pool.rangeSets.flat()) {
    for (const run of range.usable) capacity += run.last - run.first + 1n
  }
  return capacity
}
