import { Problem } from '../../shared/problem/problem.ts'
import { defaultUplink, findLink, type LinkState } from './host-links.ts'
import { macOf } from './link-names.ts'
import type { BridgeFacts } from './plan/survey.ts'
import type { RunTool } from './run-tool.ts'

/** For how long what was seen is taken as true: a look costs a process, and each ADD would take several. */
const trustMs = 10_000

const ethernetMtu = 1500

/**
 * The links of the host as they were seen lately. Who finds that the kernel no longer agrees forgets all of it and looks
 * again.
 */
export class HostView {
  readonly #run: RunTool
  readonly #node: string
  readonly #monotonic: () => number
  readonly #seen = new Map<string, { readonly at: number; readonly value: Promise<unknown> }>()

  constructor(run: RunTool, node: string, monotonic: () => number) {
    this.#run = run
    this.#node = node
    this.#monotonic = monotonic
  }

  forget(): void {
    this.#seen.clear()
  }

  /** What stands under the name of a bridge; one that is absent has the MAC that it is to get. */
  async bridge(name: string): Promise<BridgeFacts> {
    const link = await this.#link(name)
    if (!link) return { state: 'absent', mac: macOf(`bridge ${this.#node} ${name}`) }
    if (link.kind !== 'bridge') return { state: 'other', kind: link.kind }
    const addresses = link.addresses.filter(({ scope }) => scope !== 'link').map(({ address }) => address)
    return { state: 'bridge', mac: link.mac, addresses }
  }

  /** A link that the configuration names. Throws IPK_LINK_CONFLICT when there is none. */
  async uplink(name: string, key: string): Promise<LinkState> {
    const link = await this.#link(name)
    if (link) return link
    throw new Problem('IPK_LINK_CONFLICT', `"${key}": the host has no link ${name}`, {
      hint: 'ip -brief link shows the links of the host; correct the conflist in /etc/cni/net.d',
    })
  }

  /** Name of the link that the default route leads to. */
  async defaultUplink(): Promise<string | undefined> {
    return await this.#look('default route', () => defaultUplink(this.#run))
  }

  /** Bytes: the MTU of the way outside; that of Ethernet where there is none. */
  async outsideMtu(): Promise<number> {
    const name = await this.defaultUplink()
    const link = name === undefined ? undefined : await this.#link(name)
    return link?.mtu ?? ethernetMtu
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
