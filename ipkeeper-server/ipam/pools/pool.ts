import {
  addressBits,
  formatAddress,
  parseAddress,
  type Address,
  type Family,
} from '../../../shared/net/address.ts'
import { cidrContains, firstOf, formatCidr, lastOf, type Cidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'

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
  readonly draining?: boolean
}

/** A range in canonical form. `usable` are the runs of addresses that may be given, in order. */
export interface Range {
  readonly family: Family
  readonly subnet: Cidr
  readonly first: Address
  readonly last: Address
  readonly gateway: Address
  readonly usable: readonly Interval[]
  /** No new address is given from it (draining.ts); what is somebody's stays his. */
  readonly draining?: true
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

const invalid = (message: string, hint?: string): Problem =>
  new Problem('IPK_CONFIG_INVALID', message, hint === undefined ? {} : { hint })

/** Tells of a key of a range that makes no sense; `index` is that of an exclusion. The text is host-local's. */
export type RangeFault = (key: keyof RangeDefinition, message: string, index?: number) => void

/** What gaps leave of a run; both ends of each are included, and gaps may overlap. */
export function without(run: Interval, gaps: readonly Interval[]): Interval[] {
  const left: Interval[] = []
  let next = run.first
  for (const gap of gaps.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
    if (gap.first > run.last) break
    if (gap.first > next) left.push({ first: next, last: gap.first - 1n })
    if (gap.last >= next) next = gap.last + 1n
  }
  if (next <= run.last) left.push({ first: next, last: run.last })
  return left
}

/**
 * Canonical form of a range, with host-local's defaults and texts: the gateway is the first address of the subnet
 * unless given, a range starts at the first and ends at the last host address. Network, IPv4 broadcast and gateway
 * address are never given (plugins:plugins/ipam/host-local/backend/allocator/range.go, Canonicalize).
 *
 * @param onFault is told of each fault, the most basic first; it may throw
 * @returns undefined when there was one
 */
export function canonicalRange(definition: RangeDefinition, onFault: RangeFault): Range | undefined {
  const { subnet } = definition
  const { family } = subnet.address
  if (subnet.prefixLength > addressBits[family] - 2) {
    onFault('subnet', `Network ${formatCidr(subnet)} too small to allocate from`)
    return undefined
  }
  const network = firstOf(subnet)
  if (network.value !== subnet.address.value) {
    onFault(
      'subnet',
      `Network has host bits set. For a subnet mask of length ${subnet.prefixLength} the network address is ${formatAddress(network)}`,
    )
    return undefined
  }
  let faults = 0
  const fault: RangeFault = (key, message, index) => {
    faults++
    onFault(key, message, index)
  }
  const expectInSubnet = (
    key: 'rangeStart' | 'rangeEnd' | 'exclude',
    address: Address | undefined,
    index?: number,
  ): void => {
    if (!address || cidrContains(subnet, address)) return
    const name = key === 'exclude' ? key : `R${key.slice(1)}`
    fault(key, `${name} ${formatAddress(address)} not in network ${formatCidr(subnet)}`, index)
  }
  const highest = lastOf(subnet)
  const first = definition.rangeStart ?? { family, value: network.value + 1n }
  const last = definition.rangeEnd ?? { family, value: family === 4 ? highest.value - 1n : highest.value }
  const gateway = definition.gateway ?? { family, value: network.value + 1n }
  expectInSubnet('rangeStart', definition.rangeStart)
  expectInSubnet('rangeEnd', definition.rangeEnd)
  if (faults === 0 && first.value > last.value)
    fault('rangeStart', `RangeStart ${formatAddress(first)} is above RangeEnd ${formatAddress(last)}`)
  if (gateway.family !== family) {
    fault(
      'gateway',
      `gateway ${formatAddress(gateway)} is not of the family of network ${formatCidr(subnet)}`,
    )
  }
  const exclude = definition.exclude ?? []
  for (const [index, run] of exclude.entries()) {
    expectInSubnet('exclude', cidrContains(subnet, run.first) ? run.last : run.first, index)
  }
  if (faults > 0) return undefined
  const usable = without({ first: first.value, last: last.value }, [
    { first: network.value, last: network.value },
    { first: gateway.value, last: gateway.value },
    ...(family === 4 ? [{ first: highest.value, last: highest.value }] : []),
    ...exclude.map(run => ({ first: run.first.value, last: run.last.value })),
  ])
  const draining = definition.draining === true && { draining: true as const }
  if (usable.length > 0) return { family, subnet, first, last, gateway, usable, ...draining }
  fault('subnet', `range ${formatAddress(first)}-${formatAddress(last)} has no address to give`)
  return undefined
}

export function formatRange(range: Range): string {
  return `${formatAddress(range.first)}-${formatAddress(range.last)}`
}

/** "10.1.2.1-10.1.2.254,10.1.3.1-10.1.3.254", as host-local prints a range set. */
export function formatRangeSet(set: RangeSet): string {
  return set.map(formatRange).join(',')
}

/** The ranges of a pool in a message. */
export function describeRanges(pool: Pool): string {
  return pool.rangeSets.map(formatRangeSet).join(' and ')
}

function rangesOverlap(a: Range, b: Range): boolean {
  return a.family === b.family && a.first.value <= b.last.value && b.first.value <= a.last.value
}

function setsOverlap(a: RangeSet, b: RangeSet): boolean {
  return a.some(left => b.some(right => rangesOverlap(left, right)))
}

function canonicalSet(definitions: readonly RangeDefinition[]): RangeSet {
  const ranges = definitions.flatMap(definition => {
    const range = canonicalRange(definition, (_, message) => {
      throw invalid(message)
    })
    return range ?? []
  })
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

/** Whether two pools have the same addresses in the same ranges, whether these drain or not. */
export function samePool(a: Pool, b: Pool): boolean {
  const text = ({ segment, rangeSets }: Pool): string =>
    JSON.stringify([segment, rangeSets], (key, value: unknown) =>
      key === 'draining' ? undefined : typeof value === 'bigint' ? value.toString() : value,
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

/** How many addresses the pool can give, where no range of it drains. */
export function capacityOf(pool: Pool): bigint {
  let capacity = 0n
  for (const range of pool.rangeSets.flat()) {
    for (const run of range.usable) capacity += run.last - run.first + 1n
  }
  return capacity
}

/** Pool names reach keys, listings and annotations: lower case, as names of Kubernetes objects (RFC 1123 subdomain). */
export function isPoolName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(text)
}
