import type { RunTool } from './run-tool.ts'
import { showJson } from './ip-commands.ts'
import { readAddressing } from './plan/host-addressing.ts'

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
  const [link] = await showJson(run, ['-details', 'address', 'show', 'dev', name], inside)
  return link === undefined ? undefined : readLink(link)
}

/** Links of a kind, or the ports of a bridge: `words` are those of `ip address show`. */
export async function listLinks(
  run: RunTool,
  words: readonly string[],
  inside?: number,
): Promise<readonly LinkState[]> {
  const shown = await showJson(run, ['-details', 'address', 'show', ...words], inside)
  return shown.map(readLink).filter(({ name }) => name !== '')
}

/** What a link has of addresses and routes that could move to another one. */
export async function findAddressing(run: RunTool, name: string): Promise<ReturnType<typeof readAddressing>> {
  const show = (...words: readonly string[]): Promise<readonly unknown[]> =>
    showJson(run, ['-N', '-details', ...words])
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
  const routes = (await showJson(run, [family, 'route', 'show', 'default', ...words])) as readonly {
    readonly dev?: string
    readonly nexthops?: readonly { readonly dev?: string }[]
  }[]
  return routes.flatMap(({ dev, nexthops = [] }) => dev ?? nexthops.flatMap(hop => hop.dev ?? []))
}

/** The links that default routes lead to, those of IPv4 before those of IPv6. */
export async function defaultUplinks(run: RunTool): Promise<readonly string[]> {
  return [...(await defaultRouteLinks(run, '-4')), ...(await defaultRouteLinks(run, '-6'))]
}
