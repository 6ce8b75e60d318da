import type { RunTool } from './run-tool.ts'
import { showJson } from './ip-commands.ts'

/** A link as `ip -json -details address show` tells of it. */
export interface LinkState {
  readonly name: string
  /** "veth", "bridge", "macvlan", ...; "" for a plain one. */
  readonly kind: string
  readonly mac: string
  readonly mtu: number
  readonly up: boolean
  readonly alias: string
  /** The bridge that it is a port of. */
  readonly master: string | undefined
  /** CIDR notation. */
  readonly addresses: readonly { readonly address: string; readonly scope: string }[]
}

/** The parts of the output of ip that are used; what is of another shape counts as not there. */
interface LinkJson {
  readonly ifname?: string
  readonly mtu?: number
  readonly address?: string
  readonly flags?: readonly string[]
  readonly ifalias?: string
  readonly master?: string
  readonly linkinfo?: { readonly info_kind?: string }
  readonly addr_info?: readonly {
    readonly local?: string
    readonly prefixlen?: number
    readonly scope?: string
  }[]
}

function readLink(value: unknown): LinkState {
  const link = value as LinkJson
  return {
    name: link.ifname ?? '',
    kind: link.linkinfo?.info_kind ?? '',
    mac: link.address ?? '',
    mtu: link.mtu ?? 0,
    up: link.flags?.includes('UP') === true,
    alias: link.ifalias ?? '',
    master: link.master,
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

/** The link that the default route leads to, IPv4 before IPv6; undefined when there is none. */
export async function defaultUplink(run: RunTool): Promise<string | undefined> {
  for (const family of ['-4', '-6']) {
    const routes = (await showJson(run, [family, 'route', 'show', 'default'])) as readonly {
      readonly dev?: string
      readonly nexthops?: readonly { readonly dev?: string }[]
    }[]
    const found = routes.flatMap(({ dev, nexthops }) => dev ?? nexthops?.[0]?.dev ?? [])[0]
    if (found !== undefined) return found
  }
  return undefined
}
