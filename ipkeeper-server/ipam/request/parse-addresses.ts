import { showJson } from '../../../shared/json/fold.ts'
import {
  addressBits,
  formatAddress,
  parseAddress,
  type Address,
  type Family,
} from '../../../shared/net/address.ts'
import { firstOf, lastOf, parseCidr, type Cidr } from '../../../shared/net/cidr.ts'
import type { CandidateRun, AddressRequest } from './request.ts'

/** What one item of a list names. */
export interface AddressRun extends CandidateRun {
  readonly family: Family
  /** The item as it was written, for errors. */
  readonly text: string
}

/**
 * Why a text is refused. `item`: a part of it is neither address nor range nor CIDR; `list`: its parts are, but they make
 * no sense. `reason` names the part: '"10.22.0.9-10.22.0.3" runs backwards'.
 */
export interface ListFault {
  readonly fault: 'item' | 'list'
  readonly reason: string
}

/** Far more than anybody lists by hand; ranges and blocks are one item. As many items fit into the characters. */
const mostItems = 1024
const longestList = 65_536

/** How peers write a range: a-b (spiderpool), a..b (kube-ovn), a~b (galaxy). No address has one of these in it. */
const rangeSign = /-|\.\.|~/

const lastOctet = /^(?:0|[1-9][0-9]{0,2})$/

/** The end of a range; "52" is the last octet of an IPv4 range, as in "10.22.0.50-52". */
function parseEnd(text: string, first: Address, firstText: string): Address | undefined {
  if (!lastOctet.test(text) || firstText.includes(':')) return parseAddress(text)
  return Number(text) > 255
    ? undefined
    : { family: 4, value: first.value - (first.value & 0xffn) + BigInt(text) }
}

/**
 * The addresses of a block that a pod can have: IPv4 without network and broadcast address up to /30, IPv6 without the
 * lowest, which routers answer to (RFC 4291 section 2.6.1), up to /126. Smaller blocks have no such (RFC 3021, RFC 6164).
 */
function hostsOf(block: Cidr): [first: Address, last: Address] {
  const { family } = block.address
  const [first, last] = [firstOf(block), lastOf(block)]
  if (block.prefixLength > addressBits[family] - 2) return [first, last]
  return [
    { family, value: first.value + 1n },
    { family, value: family === 4 ? last.value - 1n : last.value },
  ]
}

/** IPv6 addresses that are IPv4 to everybody who reads addresses: ::ffff:0.0.0.0/96. */
const mapped = { first: 0xffffn << 32n, last: (0xffffn << 32n) | 0xffffffffn }

/** What two ends name, or why they cannot be meant. */
function runBetween(first: Address, last: Address, text: string): AddressRun | ListFault {
  const refuse = (what: string): ListFault => ({ fault: 'list', reason: `${showJson(text)} ${what}` })
  if (first.family !== last.family)
    return refuse(`begins in IPv${first.family} and ends in IPv${last.family}`)
  if (first.value > last.value) {
    return refuse(`runs backwards: ${formatAddress(first)} is above ${formatAddress(last)}`)
  }
  if (first.family === 6 && first.value <= mapped.last && last.value >= mapped.first) {
    return refuse('has IPv4 addresses written as IPv6 (::ffff:0.0.0.0/96) within it')
  }
  return { family: first.family, first: first.value, last: last.value, text }
}

/**
 * One item of a list, blanks around it and around the sign of a range allowed:
 *
 * - "10.22.0.50", "fd00:22::50": an address;
 * - "10.22.0.50/16": with host bits, an address with the prefix length of its subnet;
 * - "10.22.0.48/29": without host bits, the host addresses of the block;
 * - "10.22.0.50-10.22.0.52", with "-", ".." or "~"; "10.22.0.50-52" by its last octet, IPv4 only.
 */
export function parseAddressRun(item: string): AddressRun | ListFault {
  const text = item.trim()
  const address = parseAddress(text)
  if (address) return runBetween(address, address, text)
  const cidr = parseCidr(text)
  if (cidr) {
    const { address: named, prefixLength } = cidr
    if (named.value !== firstOf(cidr).value) return { ...runBetween(named, named, text), prefixLength }
    return runBetween(...hostsOf(cidr), text)
  }
  const [from = '', to = '', ...more] = text.split(rangeSign).map(part => part.trim())
  const first = parseAddress(from)
  const last = first && parseEnd(to, first, from)
  return first && last && more.length === 0
    ? runBetween(first, last, text)
    : { fault: 'item', reason: `${showJson(text)} is no IP address, range (FIRST-LAST) or CIDR` }
}

/** Says so when a list is longer than is read. Some dialects join items by ";". */
export function tooLong(value: string): ListFault | undefined {
  if (value.length > longestList) {
    return {
      fault: 'list',
      reason: `has ${value.length} characters, of which at most ${longestList} are read`,
    }
  }
  const items = value.split(/[,;]/).length
  return items > mostItems
    ? { fault: 'list', reason: `has ${items} items, of which at most ${mostItems} are read` }
    : undefined
}

/** Says so when two runs have an address in common, naming both items in the order in which they stand. */
export function overlapOf(runs: readonly AddressRun[]): ListFault | undefined {
  const ordered = runs
    .map((run, index) => ({ ...run, index }))
    .sort(
      (a, b) => a.family - b.family || (a.first < b.first ? -1 : a.first > b.first ? 1 : a.index - b.index),
    )
  for (const [place, run] of ordered.entries()) {
    const before = ordered[place - 1]
    // Runs before this one are disjoint, so only the nearest can reach into it.
    if (!before || before.family !== run.family || before.last < run.first) continue
    const [one, other] = before.index < run.index ? [before, run] : [run, before]
    const shared = formatAddress({ family: run.family, value: run.first })
    return { fault: 'list', reason: `${showJson(one.text)} and ${showJson(other.text)} both name ${shared}` }
  }
  return undefined
}

/**
 * A comma-separated list of such items, families mixed, in the written order. Runs are kept as runs: a /48 costs no more
 * than an address. An address that two items name is a fault, and so is a list that is longer than anybody writes.
 */
export function parseAddressList(value: string): readonly AddressRun[] | ListFault {
  const long = tooLong(value)
  if (long) return long
  const runs: AddressRun[] = []
  for (const item of value.split(',')) {
    const run = parseAddressRun(item)
    if ('fault' in run) return run
    runs.push(run)
  }
  return overlapOf(runs) ?? runs
}

/** "10.22.0.50" or "10.22.0.50/16" as a request; undefined when it is neither. */
export function parseAddressRequest(
  text: string,
  source: string,
  channel: AddressRequest['channel'],
): AddressRequest | undefined {
  const address = parseAddress(text)
  if (address) return { address, source, channel }
  const cidr = parseCidr(text)
  return cidr && { address: cidr.address, prefixLength: cidr.prefixLength, source, channel }
}

/** Addresses of one family that follow each other; both ends are included. */
export interface AddressRange {
  readonly first: Address
  readonly last: Address
}

/** "10.22.0.100", "10.22.0.100-10.22.0.120" or a CIDR, network and broadcast address included; undefined for anything else. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const cidr = parseCidr(text)
  if (cidr) return { first: firstOf(cidr), last: lastOf(cidr) }
  const [from = '', to = from, ...more] = text.split('-').map(part => part.trim())
  const first = parseAddress(from)
  const last = parseAddress(to)
  if (!first || !last || more.length > 0) return undefined
  return first.family === last.family && first.value <= last.value ? { first, last } : undefined
}
