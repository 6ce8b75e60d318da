import { isIpv6, withoutPrefix } from '../../../shared/net/address-text.ts'
import type { ResultRoute } from '../../../shared/cni/result.ts'
import type { WiringRecord } from '../../ipam/records/records.ts'

/** A link as the kernel has it now. */
export interface KernelLink {
  /** "veth", "bridge", "macvlan", ... */
  readonly kind: string
  readonly mac: string
  readonly up: boolean
  /** The bridge that it is a port of. */
  readonly master: string | undefined
  /** CIDR notation. */
  readonly addresses: readonly string[]
}

/** A route as the kernel has it now; numbers are those of rtnetlink, 254 is the main table. */
export interface SeenRoute {
  readonly dst: string
  readonly gw: string | undefined
  /** undefined where routes of one link only were asked for. */
  readonly dev: string | undefined
  readonly table: number
  readonly priority: number
}

/** What the kernel has of an attachment. undefined: there is no such link. */
export interface SeenWiring {
  readonly podLink: KernelLink | undefined
  readonly podRoutes: readonly SeenRoute[]
  readonly hostLink: KernelLink | undefined
  /** Of the host, by its side of the veth (ptp). */
  readonly hostRoutes: readonly SeenRoute[]
}

/** What ADD made, as the last plugin of the chain has left it where prevResult tells. */
export interface ExpectedWiring {
  readonly ifname: string
  readonly wiring: WiringRecord
  /** CIDR notation. */
  readonly addresses: readonly string[]
  readonly mac: string
}

const mainTable = 254

/** The kernel takes 0 for "not said". */
const tableOf = ({ table = 0 }: ResultRoute): number => (table === 0 ? mainTable : table)

/** What the kernel gives a route whose metric nobody asked for (IP6_RT_PRIO_USER). */
const standardPriority = ({ dst }: ResultRoute): number => (isIpv6(dst) ? 1024 : 0)

const kindOf = ({ mode }: WiringRecord): string => (mode === 'macvlan' ? 'macvlan' : 'veth')

/** "default via 10.22.0.1", for people. */
function describeRoute({ dst, gw, table, priority }: ResultRoute): string {
  const parts = [
    dst,
    ...(gw === undefined ? [] : ['via', gw]),
    ...(table === undefined ? [] : ['table', String(table)]),
    ...(priority === undefined ? [] : ['metric', String(priority)]),
  ]
  return parts.join(' ')
}

/** Whether the kernel's route is the wanted one. A metric that nobody asked for is the kernel's choice. */
function isRoute(wanted: ResultRoute, seen: SeenRoute): boolean {
  return (
    seen.dst === wanted.dst &&
    seen.gw === wanted.gw &&
    seen.table === tableOf(wanted) &&
    (wanted.priority === undefined || seen.priority === wanted.priority)
  )
}

/**
 * Whether another interface of the pod had a route to the same place first: that one won at ADD. Only one of the same
 * metric can: with another one the kernel takes both.
 */
function servesInstead(wanted: ResultRoute, seen: SeenRoute, ifname: string): boolean {
  return (
    seen.dst === wanted.dst &&
    seen.table === tableOf(wanted) &&
    seen.priority === (wanted.priority ?? standardPriority(wanted)) &&
    seen.dev !== ifname
  )
}

/**
 * Each way in which the kernel differs from what an ADD made, one line each. What is there besides (addresses, routes,
 * queues of later plugins) is nobody's fault, nor is another MTU, which a later plugin may set without telling (CNI SPEC,
 * CHECK: tolerate what later plugins do).
 */
export function compareWiring(expected: ExpectedWiring, seen: SeenWiring): string[] {
  const { ifname, wiring } = expected
  const { podLink, hostLink } = seen
  return [
    ...(podLink ? comparePod(expected, podLink, seen.podRoutes) : [`the pod has no interface ${ifname}`]),
    ...compareHost(wiring, hostLink),
    ...(wiring.mode === 'ptp' ? compareHostRoutes(expected, seen.hostRoutes) : []),
  ]
}

function comparePod(
  { ifname, wiring, addresses, mac }: ExpectedWiring,
  link: KernelLink,
  routes: readonly SeenRoute[],
): string[] {
  const kind = kindOf(wiring)
  if (link.kind !== kind) return [`${ifname} of the pod is ${link.kind || 'a plain link'}, not ${kind}`]
  return [
    ...(link.mac === mac ? [] : [`${ifname} has MAC ${link.mac}, not ${mac}`]),
    ...(link.up ? [] : [`${ifname} is down`]),
    ...addresses
      .filter(address => !link.addresses.includes(address))
      .map(address => `${ifname} has no address ${address}`),
    ...wiring.routes
      .filter(wanted => !routes.some(route => isRoute(wanted, route) || servesInstead(wanted, route, ifname)))
      .map(wanted => `the pod has no route ${describeRoute(wanted)}`),
  ]
}

function compareHost({ hostLink, master }: WiringRecord, link: KernelLink | undefined): string[] {
  if (!hostLink) return []
  const { name } = hostLink
  if (!link) return [`the host has no link ${name}`]
  return [
    ...(link.up ? [] : [`${name} of the host is down`]),
    ...(master === null || link.master === master
      ? []
      : [
          link.master === undefined
            ? `${name} is no port of bridge ${master}`
            : `${name} is a port of ${link.master}, not of bridge ${master}`,
        ]),
  ]
}

function compareHostRoutes({ wiring, addresses }: ExpectedWiring, routes: readonly SeenRoute[]): string[] {
  const name = wiring.hostLink?.name ?? ''
  return addresses.map(withoutPrefix).flatMap(address => {
    const bits = isIpv6(address) ? '128' : '32'
    const found = routes.some(({ dst }) => dst === `${address}/${bits}`)
    return found ? [] : [`the host has no route to ${address} by ${name}`]
  })
}
