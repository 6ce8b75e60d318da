/** By what the kernel objects of an attachment are known. */
export interface LinkNames {
  /** The host's side of the veth: at most 15 bytes. */
  readonly hostLink: string
  readonly hostMac: string
  /** Says whose link it is; for people and for recognising it later. */
  readonly alias: string
}

/** What stands under the name of a bridge. `addresses` in CIDR notation, without link-local ones. */
export type BridgeFacts =
  | { readonly state: 'absent'; readonly mac: string }
  | { readonly state: 'bridge'; readonly mac: string; readonly addresses: readonly string[] }
  | { readonly state: 'other'; readonly kind: string }

/** What was seen of the host before an ADD is planned. */
export interface Survey {
  readonly names: LinkNames
  /** Bytes: what the configuration says, else the MTU of the way outside. */
  readonly mtu: number
  /** The link of the host that leads outside; undefined where the mode needs none. */
  readonly uplink: string | undefined
  /** undefined in modes without a bridge. */
  readonly bridge: BridgeFacts | undefined
  /** Addresses of the node by which pods of an underlay reach it; CIDR notation. */
  readonly nodeAddresses: readonly string[]
}
