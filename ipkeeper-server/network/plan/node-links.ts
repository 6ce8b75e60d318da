import { OwnAddresses, type OwnAddress } from '../../ipam/pools/own-addresses.ts'

/** A link of the node. */
export interface NodeLink {
  readonly name: string
  /** The bridge that it is a port of, or another link that it is a part of. */
  readonly master: string | undefined
  readonly mac: string
}

/** The links of the node and their addresses, at one moment. */
export class NodeLinks {
  readonly own: OwnAddresses
  readonly #links: readonly NodeLink[]

  constructor(addresses: Iterable<OwnAddress>, links: Iterable<NodeLink>) {
    this.own = new OwnAddresses(addresses)
    this.#links = [...links]
  }

  /** Names of the ports of a bridge. */
  portsOf(bridge: string): readonly string[] {
    return this.#links.flatMap(({ name, master }) => (master === bridge ? [name] : []))
  }

  /** Names of the links that have a MAC. */
  withMac(mac: string): readonly string[] {
    return this.#links.flatMap(link => (link.mac === mac ? [link.name] : []))
  }
}
