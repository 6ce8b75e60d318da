import type { RunTool } from './run-tool.ts'
import { ipJson } from './ip-commands.ts'
import { readAddressing } from './plan/host-addressing.ts'
import type { SeenRoute } from './plan/compare-wiring.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { isIpv6, withoutPrefix } from '../../shared/net/address-text.ts'

/** A link as `ip -json -details address show` tells of it. */
export interface LinkState {
  /** Of its namespace; no other link there will have it. */
  readonly index: number
  readonly name: string
  /** "veth", "bridge", "macvlan", ...; "" for a plain one. */
  readonly kind: string
  readonly mac: string
  readonly mtu: number
  readonly up: boolean
  /** Whether it is up and has a carrier; that of a veth is the other side being up. */
  readonly carrier: boolean
  readonly alias: string
  /** The bridge that it is a port of, or another link that it is a part of. */
  readonly master: string | undefined
  /** Kind of the master: "bridge", "bond", "vrf". */
  readonly portKind: string
  /** Whether it carries Ethernet frames. */
  readonly ethernet: boolean
  /** Whether it is a bridge that knows VLANs. */
  readonly filtersVlans: boolean
  /** CIDR notation. */
  readonly addresses: readonly { readonly address: string; readonly scope: string }[]
}

/** The parts of the output of ip that are used; what is of another shape counts as not there. */
interface LinkJson {
  readonly ifindex?: number
  readonly ifname?: string
  readonly mtu?: number
  readonly address?: string
  readonly flags?: readonly string[]
  readonly ifalias?: string
  readonly master?: string
  readonly link_type?: string
  readonly linkinfo?: {
    readonly info_kind?: string
    readonly info_slave_kind?: string
    readonly info_data?: { readonly vlan_filtering?: number }
  }
  readonly addr_info?: readonly {
    readonly local?: string
    readonly prefixlen?: number
    readonly scope?: string
  }[]
}

function readLink(value: unknown): LinkState {
  const link = value as LinkJson
  return {
    index: link.ifindex ?? 0,
    name: link.ifname ?? '',
    kind: link.linkinfo?.info_kind ?? '',
    mac: link.address ?? '',
    mtu: link.mtu ?? 0,
    up: link.flags?.includes('UP') === true,
    carrier: link.flags?.includes('LOWER_UP') === true,
    alias: link.ifalias ?? '',
    master: link.master,
    portKind: link.linkinfo?.info_slave_kind ?? '',
    ethernet: link.link_type === 'ether',
    filtersVlans: link.linkinfo?.info_data?.vlan_filtering === 1,
    addresses: (link.addr_info ?? []).flatMap(({ local, prefixlen, scope }) =>
      local === undefined || prefixlen === undefined
        ? []
        : [{ address: `${local}/${prefixlen}`, scope: scope ?? '' }],
    ),
  }
}

/** The link of that name; undefined when there is none. `inside`: in that namespace instead of the host's. */
export async function findLink(run: RunTool, name: string, inside?: number): Promise<LinkState | undefined> {
  const [link] = await ipJson(run, ['-details', 'address', 'show', 'dev', name], inside)
  return link === undefined ? undefined : readLink(link)
}

/** Links of a kind, or the ports of a bridge: `words` are those of `ip address show`. */
export async function listLinks(
  run: RunTool,
  words: readonly string[],
  inside?: number,
): Promise<readonly LinkState[]> {
  const shown = await ipJson(run, ['-details', 'address', 'show', ...words], inside)
  return shown.map(readLink).filter(({ name }) => name !== '')
}

/** What a link has of addresses and routes that could move to another one. */
export async function findAddressing(run: RunTool, name: string): Promise<ReturnType<typeof readAddressing>> {
  const show = (...words: readonly string[]): Promise<readonly unknown[]> =>
    ipJson(run, ['-N', '-details', ...words])
  return readAddressing(name, {
    addresses: await show('address', 'show', 'dev', name),
    routes4: await show('-4', 'route', 'show', 'table', 'all'),
    routes6: await show('-6', 'route', 'show', 'table', 'all'),
  })
}

/** The links that default routes of a family lead to; `words` narrow them down, such as "proto ra". */
export async function defaultRouteLinks(
  run: RunTool,
  family: '-4' | '-6',
  words: readonly string[] = [],
): Promise<readonly string[]> {
  const routes = (await ipJson(run, [family, 'route', 'show', 'default', ...words])) as readonly {
    readonly dev?: string
    readonly nexthops?: readonly { readonly dev?: string }[]
  }[]
  return routes.flatMap(({ dev, nexthops = [] }) => dev ?? nexthops.flatMap(hop => hop.dev ?? []))
}

/** The links that default routes lead to, those of IPv4 before those of IPv6. */
export async function defaultUplinks(run: RunTool): Promise<readonly string[]> {
  return [...(await defaultRouteLinks(run, '-4')), ...(await defaultRouteLinks(run, '-6'))]
}

const mainTable = 254

/** The parts of `ip -N -json route` that are used. */
interface RouteJson {
  readonly dst?: string
  readonly gateway?: string
  readonly dev?: string
  /** A number; not there for the main one. */
  readonly table?: string
  readonly metric?: number
}

/** "10.22.0.50/32" of what ip shortens to "10.22.0.50"; "default" of either family in full. */
function wholeDestination(dst: string, ipv6: boolean): string {
  if (dst === 'default') return ipv6 ? '::/0' : '0.0.0.0/0'
  return dst.includes('/') ? dst : `${dst}/${ipv6 ? '128' : '32'}`
}

/** The routes that `ip route show ARGS` shows, of both families. `inside`: in that namespace instead of the host's. */
export async function seeRoutes(
  run: RunTool,
  args: readonly string[],
  inside?: number,
): Promise<readonly SeenRoute[]> {
  const families = await Promise.all(
    ['-4', '-6'].map(async family => {
      // With numbers: people name tables (/etc/iproute2/rt_tables).
      const words = ['-N', family, 'route', 'show', ...args]
      const routes = (await ipJson(run, words, inside)) as readonly RouteJson[]
      return routes.map((route): SeenRoute => ({
        dst: wholeDestination(route.dst ?? '', family === '-6'),
        gw: route.gateway,
        dev: route.dev,
        table: Number(route.table ?? mainTable),
        priority: route.metric ?? 0,
      }))
    }),
  )
  return families.flat()
}

/** Addresses, without prefix, that the node knows its neighbours to have under a MAC; none where there is no `ip`. */
export async function neighboursWithMac(run: RunTool, mac: string): Promise<readonly string[]> {
  try {
    const known = (await ipJson(run, ['neighbour', 'show'])) as readonly {
      readonly dst?: string
      readonly lladdr?: string
    }[]
    return known.flatMap(({ dst, lladdr }) =>
      dst !== undefined && lladdr?.toLowerCase() === mac ? [dst] : [],
    )
  } catch (error) {
    if (error instanceof Problem && error.code === 'IPK_TOOL_MISSING') return []
    throw error
  }
}

/**
 * The addresses by which other nodes reach this one, as far as its links tell: those of the links that default routes lead
 * to, without those of scope link. One of each link and family: the first, which is the one that the kernel sends from.
 */
export async function findNodeAddresses(run: RunTool): Promise<readonly string[]> {
  const names = new Set(await defaultUplinks(run))
  const links = await Promise.all([...names].map(name => findLink(run, name)))
  return links.flatMap(link => {
    const own = (link?.addresses ?? [])
      .filter(({ scope }) => scope === 'global')
      .map(({ address }) => address)
    const first = [own.find(cidr => !isIpv6(cidr)), own.find(isIpv6)]
    return first.flatMap(cidr => (cidr === undefined ? [] : [withoutPrefix(cidr)]))
  })
}
