import { formatAddress, parseAddress } from '../../../shared/net/address.ts'
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
  readonly #addresses: readonly OwnAddress[]
  readonly #links: readonly NodeLink[]

  constructor(addresses: Iterable<OwnAddress>, links: Iterable<NodeLink>) {
    this.#addresses = [...addresses]
    this.own = new OwnAddresses(this.#addresses)
    this.#links = [...links]
  }

  /** Addresses of a link in CIDR notation, without link-local ones. */
  addressesOf(link: string): readonly string[] {
    return this.#addresses.flatMap(own => (own.link === link ? [own.cidr] : []))
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

/** Another link: its name, or its index where no more was told. */
type LinkReference = string | number

/** What the kernel tells of a thing, as one of a list or as news of it. */
interface News {
  /** Names this very thing; the same in the list and in all news. */
  readonly key: string
  readonly gone: boolean
}

export interface LinkNews extends News {
  readonly kind: 'link'
  readonly name: string
  readonly master: LinkReference | undefined
  readonly mac: string
}

export interface AddressNews extends News {
  readonly kind: 'address'
  readonly cidr: string
  readonly link: LinkReference
}

export type KernelNews = LinkNews | AddressNews

/** In one spelling, whoever told of it; the prefix may be absent. */
export function canonicalCidr(text: string): string {
  const [address = '', ...prefix] = text.split('/')
  const parsed = parseAddress(address)
  return [parsed ? formatAddress(parsed) : address, ...prefix].join('/')
}

/** Each link has one of its own, no range has any, and each pod's link comes with one. */
export function isLinkLocalAddress(address: string): boolean {
  return /^fe[89ab][0-9a-f]:/.test(address)
}

/** What a line of `ip -oneline` says of a link or an address, be it of a list or of `ip monitor`. */
export function readNewsLine(line: string): KernelNews | undefined {
  return readAddressNews(line) ?? readLinkNews(line)
}

/** "3: eth0    inet 10.0.0.5/24 brd 10.0.0.255 scope global eth0\ ...", with "Deleted " before it when it is no more. */
const addressLine = /^(Deleted )?(\d+): (\S+)\s+inet6? (\S+)(?: peer (\S+))?.* scope /

/**
 * What a line of `ip -oneline address` or `ip -oneline monitor address` says; undefined where it says nothing of an address.
 * Of a link that is gone when it is told of, the name is "if" and its index.
 */
export function readAddressNews(text: string): AddressNews | undefined {
  const [, deleted, index, link, local, peer] = addressLine.exec(text) ?? []
  if (index === undefined || link === undefined || local === undefined) return undefined
  if (isLinkLocalAddress(local)) return undefined
  // One with a peer has no prefix there, nor does `ip` want one to take it away.
  const cidr = canonicalCidr(local)
  return {
    kind: 'address',
    key: `${index} ${cidr} ${canonicalCidr(peer ?? '')}`,
    cidr,
    link: link.replace(/@[^@]*$/, ''),
    gone: deleted !== undefined,
  }
}

/** "3: eth0@if4: <UP> mtu 1500 ... master br0 state UP ...\    link/ether 02:00:00:00:00:01 ...\    alias ..." */
const linkLine = /^(Deleted )?(\d+): ([^:]+): <[^>]*> ([^\\]*)(?:\\ *link\/\S+ ([0-9a-f:]+))?/

/**
 * What a line of `ip -oneline link` or `ip -oneline monitor link` says; undefined where it says nothing of a link. One that
 * leaves its bridge is told of as deleted, and then once more as it is now.
 */
export function readLinkNews(text: string): LinkNews | undefined {
  const [, deleted, index, name, settings = '', mac = ''] = linkLine.exec(text) ?? []
  if (index === undefined || name === undefined) return undefined
  return {
    kind: 'link',
    key: index,
    // Behind an @ stands the other end of a veth, or the link below.
    name: name.replace(/@[^@]*$/, ''),
    master: / master (\S+)/.exec(` ${settings}`)?.[1],
    mac,
    gone: deleted !== undefined,
  }
}
