import type { ResultAddress } from '../../../shared/cni/result.ts'
import type { AttachmentKey, WiringRecord } from '../../ipam/records/records.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import type { Command } from './command.ts'

/** By what the kernel objects of an attachment are known. */
export interface LinkNames {
  /** The host's side of the veth: at most 15 bytes. */
  readonly hostLink: string
  readonly hostMac: string
  /** Of the pod's link, while it is asked whether others have its addresses. */
  readonly probeMac: string
  /** Says whose link it is; for people and for recognising it later. */
  readonly alias: string
}

/** What stands under the name of a bridge. `addresses` in CIDR notation, without link-local ones. */
export type BridgeFacts =
  | { readonly state: 'absent'; readonly mac: string }
  | {
      readonly state: 'bridge'
      readonly mac: string
      readonly addresses: readonly string[]
      /** Those that ipkeeper put there itself, in this boot. */
      readonly ours: readonly string[]
      readonly filtersVlans: boolean
    }
  | { readonly state: 'other'; readonly kind: string }

/** The link of the host that leads outside. */
export interface UplinkFacts {
  readonly name: string
  /** "veth", "bridge", "vlan", ...; "" for a plain one. */
  readonly kind: string
  readonly mac: string
  /** Bytes. */
  readonly mtu: number
  /** Whether it carries Ethernet frames; the loopback and tunnels do not. */
  readonly ethernet: boolean
  /** What it is a part of, and how: "bridge", "bond", "vrf". */
  readonly master: string | undefined
  readonly portKind: string
  /** CIDR notation, without link-local ones. */
  readonly addresses: readonly string[]
  readonly carriesDefaultRoute: boolean
}

/** What was seen of the host before an ADD is planned. */
export interface Survey {
  readonly names: LinkNames
  /** Bytes: what the configuration says, else the MTU of the way outside. */
  readonly mtu: number
  /** undefined where the mode needs none. */
  readonly uplink: UplinkFacts | undefined
  /** undefined in modes without a bridge. */
  readonly bridge: BridgeFacts | undefined
  /** Ports of the bridge that are neither the uplink nor ours; of an underlay, while the uplink is no port of it. */
  readonly foreignPorts: readonly string[]
  /** Addresses of the node by which pods of an underlay reach it; CIDR notation. */
  readonly nodeAddresses: readonly string[]
}

/** All that the commands of one ADD are made from. */
export interface WiringJob {
  readonly config: MainConfig
  readonly survey: Survey
  readonly key: AttachmentKey
  readonly wiring: WiringRecord
  /** Addresses of the pod in CIDR notation, with their gateways. */
  readonly ips: readonly ResultAddress[]
}

/** The commands that wire a pod, in their order. Between `link` and `addresses` it is asked whether others have them. */
export interface WiringCommands {
  /** Makes the links of both namespaces: in the host's, up to the name of one that is the pod's alone. */
  readonly host: readonly Command[]
  /** In the pod's: its link comes up. */
  readonly link: readonly Command[]
  readonly addresses: readonly Command[]
  /** What leads to others: routes, and the MAC of a gateway that nobody needs to ask for. */
  readonly routes: readonly Command[]
}
