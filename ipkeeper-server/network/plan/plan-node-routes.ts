import {
  addressBits,
  formatAddress,
  parseAddress,
  type Address,
  type Family,
} from '../../../shared/net/address.ts'
import { withoutPrefix } from '../../../shared/net/address-text.ts'
import { cidrContains, firstOf, lastOf, parseCidr, type Cidr } from '../../../shared/net/cidr.ts'
import type { PoolRange } from '../../ipam/records/records.ts'
import { blockOf, affinityBlockSize } from '../../ipam/pools/block-affinity.ts'

/** A bound address, of any node. */
export interface BoundAddress {
  readonly segment: string
  readonly address: string
  readonly node: string
  /** Whether its node is the way to it. */
  readonly isRouted: boolean
}

/** A link of this node. */
export interface OwnLink {
  readonly name: string
  readonly up: boolean
  /** By which it is reached from elsewhere: in CIDR notation, without those of scope link. */
  readonly addresses: readonly string[]
}

/** What routes to other nodes' pods are planned from. */
export interface NodeRoutesView {
  /** Name of this node. */
  readonly node: string
  readonly bound: Iterable<BoundAddress>
  /** Addresses of nodes by their names, the preferred one of each family first. */
  readonly nodes: ReadonlyMap<string, readonly string[]>
  readonly links: readonly OwnLink[]
  /** Bridges of this node's own pods. */
  readonly podBridges: ReadonlySet<string>
  readonly ranges: readonly (PoolRange & { readonly segment: string })[]
}

export interface NodeRoute {
  readonly family: Family
  /** Canonical CIDR notation. */
  readonly dst: string
  readonly via: string
  readonly dev: string
}

/** A bridge whose pods take pods of other nodes for neighbours, since the subnet of both is on their link. */
export interface AnsweringBridge {
  readonly bridge: string
  /** Whether there are such neighbours of IPv4: for those one setting of the bridge serves. */
  readonly ipv4: boolean
  /** Such neighbours of IPv6, of which the kernel has to be told one by one. */
  readonly ipv6: readonly string[]
}

/** Pods of another node to which no way leads. */
export interface Unreached {
  readonly node: string
  readonly family: Family
  readonly addresses: number
  readonly why: 'no address of the node is known' | 'no link is shared with the node'
}

interface NodeRoutesPlan {
  /** In the order of their destinations' families and values. */
  readonly routes: readonly NodeRoute[]
  readonly answering: readonly AnsweringBridge[]
  readonly unreached: readonly Unreached[]
}

interface Entry {
  readonly address: Address
  readonly node: string
}

interface Stripe {
  readonly family: Family
  readonly first: bigint
  /** undefined where addresses of several segments meet. */
  segment: string | undefined
  /** Whether addresses stand in it that must not be drawn away: of own pods, or not routed. */
  isMixed: boolean
  readonly entries: Map<bigint, Entry | null>
}

/** A single address gains nothing by having its stripe routed, and may be a stray in that of another node. */
const fewestForStripe = 2

type Hop = Pick<NodeRoute, 'via' | 'dev'>

/**
 * The routes by which this node's pods reach those of other nodes: to a stripe of which one node has more than any other
 * one route, and one to each stray. Own pods win: a stripe with one of them in it is never routed as a whole, nor one that
 * has addresses which are nobody's pods. Where an address is bound in two segments at once, none is routed.
 *
 * Two nodes never route a stripe to each other, since neither does with one in which it has a pod.
 */
export function planNodeRoutes(view: NodeRoutesView): NodeRoutesPlan {
  const hops = new Map<string, Hop | undefined>()
  const hopTo = (node: string, family: Family): Hop | undefined => {
    const key = `${family} ${node}`
    if (!hops.has(key)) hops.set(key, findHop(view, node, family))
    return hops.get(key)
  }
  const foreign = foreignAddresses(view)
  const routes: NodeRoute[] = []
  const reached: Address[] = []
  const missed = new Map<string, Unreached>()
  for (const stripe of stripesOf(view)) {
    const { family, first, entries } = stripe
    const others = [...entries.values()].filter(
      entry => entry !== null && entry.node !== view.node,
    ) as Entry[]
    const byNode = Map.groupBy(others, ({ node }) => node)
    for (const [node, own] of byNode) {
      if (hopTo(node, family)) reached.push(...own.map(({ address }) => address))
      else miss(missed, view, node, family, own.length)
    }
    const leader = isWhole(stripe, view.ranges, foreign)
      ? leaderOf(byNode, node => hopTo(node, family))
      : undefined
    const whole = leader === undefined ? undefined : hopTo(leader, family)
    const length = addressBits[family]
    if (whole) {
      const dst = `${formatAddress({ family, value: first })}/${length - stripeBits}`
      routes.push({ family, dst, ...whole })
    }
    for (const { address, node } of others.sort(byValue)) {
      const hop = node === leader ? undefined : hopTo(node, family)
      if (hop) routes.push({ family, dst: `${formatAddress(address)}/${length}`, ...hop })
    }
  }
  return { routes, answering: answeringBridges(view, reached), unreached: [...missed.values()] }
}

const stripeBits = affinityBlockSize.toString(2).length - 1

const byValue = ({ address: a }: Entry, { address: b }: Entry): number => (a.value < b.value ? -1 : 1)

/** Bound addresses by the stripes they are in, in the order of those. */
function stripesOf({ bound, node: here }: NodeRoutesView): readonly Stripe[] {
  const stripes = new Map<string, Stripe>()
  for (const { segment, address: text, node, isRouted } of bound) {
    const address = parseAddress(text)
    if (!address) continue
    const { family, value } = address
    const first = blockOf(value)
    const key = `${family} ${first}`
    let stripe = stripes.get(key)
    if (!stripe) stripes.set(key, (stripe = { family, first, segment, isMixed: false, entries: new Map() }))
    if (stripe.segment !== segment) stripe.segment = undefined
    if (!isRouted || node === here) stripe.isMixed = true
    const twice = stripe.entries.has(value)
    stripe.entries.set(value, isRouted && !twice ? { address, node } : null)
  }
  return [...stripes.values()].sort((a, b) => a.family - b.family || (a.first < b.first ? -1 : 1))
}

/** The node's address on a link that this node has too. */
function findHop(
  { nodes, links, podBridges }: NodeRoutesView,
  node: string,
  family: Family,
): Hop | undefined {
  for (const text of nodes.get(node) ?? []) {
    const address = parseAddress(text)
    if (address?.family !== family) continue
    const link = links.find(
      ({ name, up, addresses }) =>
        up && !podBridges.has(name) && addresses.some(cidr => isNeighbour(parseCidr(cidr), address)),
    )
    if (link) return { via: formatAddress(address), dev: link.name }
  }
  return undefined
}

/** Whether the address is another one of the subnet. */
function isNeighbour(own: Cidr | undefined, address: Address): boolean {
  return own !== undefined && cidrContains(own, address) && own.address.value !== address.value
}

function miss(
  missed: Map<string, Unreached>,
  { nodes }: NodeRoutesView,
  node: string,
  family: Family,
  count: number,
): void {
  const key = `${family} ${node}`
  const known = nodes.get(node)?.some(text => parseAddress(text)?.family === family) === true
  const why = known ? 'no link is shared with the node' : 'no address of the node is known'
  missed.set(key, { node, family, addresses: (missed.get(key)?.addresses ?? 0) + count, why })
}

/**
 * Addresses of the nodes and of this one's links, which no stripe may draw away. That of a pool's gateway is none: each node
 * has it, for its own pods.
 */
function foreignAddresses({ nodes, links, podBridges, ranges }: NodeRoutesView): readonly Address[] {
  const gateways = new Set(ranges.map(({ gateway }) => gateway))
  const own = links.flatMap(({ name, addresses }) =>
    podBridges.has(name)
      ? []
      : addresses.flatMap(cidr =>
          gateways.has(withoutPrefix(cidr)) ? [] : (parseCidr(cidr)?.address ?? []),
        ),
  )
  return [...own, ...[...nodes.values()].flat().flatMap(text => parseAddress(text) ?? [])]
}

/** Whether nothing but pods of other nodes can be in a stripe. */
function isWhole(
  { family, first, segment, isMixed }: Stripe,
  ranges: NodeRoutesView['ranges'],
  foreign: readonly Address[],
): boolean {
  const last = first + affinityBlockSize - 1n
  const isIn = ({ family: its, value }: Address): boolean => its === family && first <= value && value <= last
  if (isMixed || segment === undefined || foreign.some(isIn)) return false
  return ranges.some(range => range.segment === segment && givesAll(range, family, first, last))
}

/** Whether a pool may give all addresses from first to last, but for those that no host can have, and its gateway. */
function givesAll(range: PoolRange, family: Family, first: bigint, last: bigint): boolean {
  const subnet = parseCidr(range.subnet)
  if (subnet?.address.family !== family) return false
  const value = (text: string): bigint => parseAddress(text)?.value ?? -1n
  const isNobodys = (address: bigint): boolean =>
    address === firstOf(subnet).value ||
    (family === 4 && address === lastOf(subnet).value) ||
    address === value(range.gateway)
  let [from, to] = [first, last]
  while (from < to && isNobodys(from)) from++
  while (to > from && isNobodys(to)) to--
  const isInside =
    cidrContains(subnet, { family, value: first }) && cidrContains(subnet, { family, value: last })
  const meets = ([a, b]: readonly [string, string]): boolean => value(a) <= last && value(b) >= first
  return (
    isInside && value(range.rangeStart) <= from && to <= value(range.rangeEnd) && !range.exclude.some(meets)
  )
}

/** The node with most addresses, among those that can be reached; of several the first by name. */
function leaderOf(
  byNode: ReadonlyMap<string, readonly Entry[]>,
  hopTo: (node: string) => Hop | undefined,
): string | undefined {
  const [leader] = [...byNode]
    .filter(([node, { length }]) => length >= fewestForStripe && hopTo(node))
    .sort(([a, { length: some }], [b, { length: more }]) => more - some || (a < b ? -1 : 1))
  return leader?.[0]
}

function answeringBridges(
  { links, podBridges }: NodeRoutesView,
  reached: readonly Address[],
): AnsweringBridge[] {
  return links
    .filter(({ name }) => podBridges.has(name))
    .flatMap(({ name, addresses }) => {
      const subnets = addresses.flatMap(cidr => parseCidr(cidr) ?? [])
      const near = reached.filter(address => subnets.some(subnet => cidrContains(subnet, address)))
      const ipv6 = near.filter(({ family }) => family === 6).map(formatAddress)
      return near.length > 0 ? [{ bridge: name, ipv4: near.length > ipv6.length, ipv6 }] : []
    })
}

/**
 * What tells our routes from those of others: a routing protocol number that nobody has registered (iproute2,
 * etc/rt_protos), and a metric by which any other route to the same destination goes before ours.
 */
export const routeProtocol = '147'
export const routeMetric = '1470'
