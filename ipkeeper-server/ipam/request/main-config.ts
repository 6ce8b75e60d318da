import type { Carriage, WiringMode } from '../records/records.ts'
import type { ResultDns } from '../../../shared/cni/result.ts'
import type { MacRequest } from './request.ts'

/** Which addresses leave the node under the node's own: none, all, or those that nobody asked for by name. */
export type Masquerade = 'none' | 'all' | 'unnamed'

/**
 * One setting of the kernel in the pod's namespace; `key` is the path below /proc/sys, such as "net/core/somaxconn". In
 * a MainConfig the part IFNAME of a key stands for the pod's interface (see sysctlsOf).
 */
export interface Sysctl {
  readonly key: string
  readonly value: string
}

/** How the links of one uplink see each other (linux:Documentation, macvlan; the reference plugin's `mode`). */
export const macvlanModes = ['bridge', 'private', 'vepa', 'passthru'] as const

export type MacvlanMode = (typeof macvlanModes)[number]

/** A netconf whose own `type` is ipkeeper, apart from its `ipam`: how the pod is wired. */
export interface MainConfig {
  readonly mode: WiringMode
  /** Name of the bridge (bridge, underlay). */
  readonly bridge: string
  /** Link of the host that leads outside: of underlay and macvlan; in ptp where the node answers for its pods. */
  readonly uplink: string | undefined
  /** Whether the bridge has the gateway's address, and the host forwards. */
  readonly isGateway: boolean
  /** Whether the pod gets a default route of each family that its routes have none of. */
  readonly defaultRoute: boolean
  readonly masquerade: Masquerade
  readonly hairpin: boolean
  /** VLAN of the pod's port of the bridge: 1-4094. */
  readonly vlan: number | undefined
  /** Bytes; undefined: that of the way outside. */
  readonly mtu: number | undefined
  /** What CNI's own channels ask for; an annotation goes before it. */
  readonly mac: MacRequest | undefined
  readonly sysctls: readonly Sysctl[]
  readonly dns: ResultDns
  /** Networks that the pod reaches through its node, such as that of the cluster's services. CIDR notation. */
  readonly serviceCidrs: readonly string[]
  /**
   * Whether it is asked first that nobody else has the address. among-others: only on a bridge with ports that are no pods
   * of ours.
   */
  readonly duplicateProbe: boolean | 'among-others'
  /** underlay: whether the addresses and routes of the uplink move to the bridge. */
  readonly moveHostAddresses: boolean
  readonly macvlanMode: MacvlanMode
}

/** Whether an ADD asks first; `foreignPorts` are those of its bridge. */
export function asksFirst(
  { duplicateProbe }: Pick<MainConfig, 'duplicateProbe'>,
  { foreignPorts }: { readonly foreignPorts: readonly string[] },
): boolean {
  return duplicateProbe === 'among-others' ? foreignPorts.length > 0 : duplicateProbe
}

/** How other nodes reach the pods of a network; undefined where nothing leads to them: the node is no router for them. */
export function carriage({ mode, isGateway }: Pick<MainConfig, 'mode' | 'isGateway'>): Carriage | undefined {
  if (leavesNode(mode)) return 'link'
  return mode === 'ptp' || isGateway ? 'routed' : undefined
}

/** Whether pods of a mode stand in a network that others than their node have a link to. */
export function leavesNode(mode: WiringMode): boolean {
  return mode === 'underlay' || mode === 'macvlan'
}
