import { Problem } from '../../../shared/problem/problem.ts'
import { defaultUplinks, findLink, listLinks, type LinkState } from '../ip-show.ts'
import { aliasPrefix, macOf } from '../link-names.ts'
import { isHostLinkName } from '../plan/interface-name.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import type { BridgeFacts, Survey } from '../plan/wiring-job.ts'
import type { RunTool } from '../run-tool.ts'

/** For how long what was seen is taken as true: a look costs a process, and each ADD would take several. */
const trustMs = 10_000

const ethernetMtu = 1500

/** Addresses by which a link is reached from elsewhere, in CIDR notation. */
function beyondTheLink({ addresses }: LinkState): readonly string[] {
  return addresses.filter(({ scope }) => scope !== 'link').map(({ address }) => address)
}

/** What others know of a bridge. */
interface BridgeKnowledge {
  /** Which ports it has at this moment; default: as they were seen lately. */
  readonly portsOf?: (bridge: string) => Promise<readonly string[]>
  /** Which addresses ipkeeper put there itself (GatewayRecords); default: none. */
  readonly gatewaysOf?: (bridge: string) => readonly string[]
}

/**
 * The links of the host as they were seen lately. Who finds that the kernel no longer agrees forgets all of it and looks
 * again.
 */
export class HostView {
  readonly #run: RunTool
  readonly #node: string
  readonly #monotonic: () => number
  readonly #portsOf: (bridge: string) => Promise<readonly string[]>
  readonly #gatewaysOf: (bridge: string) => readonly string[]
  readonly #seen = new Map<string, { readonly at: number; readonly value: Promise<unknown> }>()

  constructor(
    run: RunTool,
    node: string,
    monotonic: () => number,
    { portsOf, gatewaysOf }: BridgeKnowledge = {},
  ) {
    this.#run = run
    this.#node = node
    this.#monotonic = monotonic
    this.#portsOf = portsOf ?? (bridge => this.#foreignPorts(bridge))
    this.#gatewaysOf = gatewaysOf ?? (() => [])
  }

  /** @param link its name; default: everything */
  forget(link?: string): void {
    if (link === undefined) this.#seen.clear()
    else this.#seen.delete(`link ${link}`)
  }

  /** What stands under the name of a bridge; one that is absent has the MAC that it is to get. */
  async bridge(name: string): Promise<BridgeFacts> {
    // Before the look: one that is taken away meanwhile is either not seen any more, or still known to be ours.
    const recorded = this.#gatewaysOf(name)
    const link = await this.#link(name)
    if (!link) return { state: 'absent', mac: macOf(`bridge ${this.#node} ${name}`) }
    if (link.kind !== 'bridge') return { state: 'other', kind: link.kind }
    const { mac, filtersVlans } = link
    const addresses = beyondTheLink(link)
    const ours = addresses.filter(address => recorded.includes(address))
    return { state: 'bridge', mac, addresses, ours, filtersVlans }
  }

  /** A link that the configuration names. Throws IPK_LINK_CONFLICT when there is none. */
  async uplink(name: string, key: string): Promise<LinkState> {
    const link = await this.#link(name)
    if (link) return link
    throw new Problem('IPK_LINK_CONFLICT', `"${key}": the host has no link ${name}`, {
      hint: 'name a link of the host in the conflist in /etc/cni/net.d; ip -brief link shows them',
    })
  }

  /** Name of the link that the default route leads to. */
  async defaultUplink(): Promise<string | undefined> {
    return (await this.#defaultUplinks())[0]
  }

  /** All that a network's configuration makes of interest. Throws IPK_LINK_CONFLICT when its uplink is not there. */
  async survey(config: MainConfig): Promise<Omit<Survey, 'names'>> {
    const { mode } = config
    const name = config.uplink ?? (mode === 'macvlan' ? await this.defaultUplink() : undefined)
    const link = name === undefined ? undefined : await this.uplink(name, 'uplink')
    const bridge = mode === 'bridge' || mode === 'underlay' ? await this.bridge(config.bridge) : undefined
    const mtu = config.mtu ?? link?.mtu ?? (await this.outsideMtu())
    const nothing = { bridge, mtu, foreignPorts: [], nodeAddresses: [] }
    // Of another machine on the bridge nothing may be believed that was seen some seconds ago.
    if (config.duplicateProbe === 'among-others') {
      const foreignPorts = (await this.#portsOf(config.bridge)).filter(name => !isHostLinkName(name))
      return { ...nothing, foreignPorts, uplink: undefined }
    }
    if (!link) return { ...nothing, uplink: undefined }
    const addresses = beyondTheLink(link)
    const uplink = { ...link, addresses, carriesDefaultRoute: false }
    if (mode !== 'underlay') return { ...nothing, uplink }
    const onBridge = bridge?.state === 'bridge' ? bridge.addresses : []
    if (link.master === config.bridge) return { ...nothing, uplink, nodeAddresses: onBridge }
    const carriesDefaultRoute = (await this.#defaultUplinks()).includes(link.name)
    const moves = config.moveHostAddresses && (addresses.length > 0 || carriesDefaultRoute)
    return {
      mtu,
      uplink: { ...uplink, carriesDefaultRoute },
      // Others remember the addresses that move with the MAC of the uplink.
      bridge: moves && bridge?.state === 'absent' ? { ...bridge, mac: link.mac } : bridge,
      foreignPorts: bridge?.state === 'bridge' ? await this.#foreignPorts(config.bridge) : [],
      nodeAddresses: [...onBridge, ...(moves ? addresses : [])],
    }
  }

  /** Bytes: the MTU of the way outside; that of Ethernet where there is none. */
  async outsideMtu(): Promise<number> {
    const name = await this.defaultUplink()
    const link = name === undefined ? undefined : await this.#link(name)
    return link?.mtu ?? ethernetMtu
  }

  async #defaultUplinks(): Promise<readonly string[]> {
    return await this.#look('default routes', () => defaultUplinks(this.#run))
  }

  async #foreignPorts(bridge: string): Promise<readonly string[]> {
    const ports = await this.#look(`ports of ${bridge}`, () => listLinks(this.#run, ['master', bridge]))
    return ports.filter(({ alias }) => !alias.startsWith(`${aliasPrefix} `)).map(({ name }) => name)
  }

  async #link(name: string): Promise<LinkState | undefined> {
    return await this.#look(`link ${name}`, () => findLink(this.#run, name))
  }

  async #look<T>(what: string, look: () => Promise<T>): Promise<T> {
    const now = this.#monotonic()
    const known = this.#seen.get(what)
    if (known && now - known.at < trustMs) return (await known.value) as T
    const value = look()
    this.#seen.set(what, { at: now, value })
    value.catch(() => this.#seen.delete(what))
    return await value
  }
}
