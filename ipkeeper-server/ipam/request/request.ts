import type { Address, Family } from '../../../shared/net/address.ts'
import type { Retention } from '../records/retention.ts'

/** One address that was asked for by name, with the channel that asked. */
export interface AddressRequest {
  readonly address: Address
  /** Given as "/prefix"; has to agree with the subnet. */
  readonly prefixLength?: number
  /** Names the channel in errors and records, e.g. "annotation ipkeeper.io/ip". */
  readonly source: string
  /** CNI's own channels keep host-local's error texts. */
  readonly channel: 'annotation' | 'cni'
}

/** A run of candidates as it was written; both ends included, a single address is a run of one. */
export interface CandidateRun {
  readonly first: bigint
  readonly last: bigint
  /** An address given as "/prefix"; has to agree with the subnet. */
  readonly prefixLength?: number
}

/** Ordered addresses of one family, of which each pod of a workload gets one. */
export interface CandidateList {
  readonly family: Family
  readonly runs: readonly CandidateRun[]
  /** Names the channel in errors and records, e.g. "annotation ipkeeper.io/ips". */
  readonly source: string
}

/** A pool that was asked for by name. */
export interface PoolRequest {
  readonly name: string
  readonly source: string
}

/** A gateway that a compatibility dialect names: it has to be the pool's own. */
export interface GatewayClaim {
  readonly address: Address
  readonly source: string
}

/** A MAC address that a pod is to have. */
export interface MacRequest {
  /** Lower case. */
  readonly mac: string
  /** Names the channel in errors, such as "annotation ipkeeper.io/mac" or "runtimeConfig.mac". */
  readonly source: string
}

/** All that a pod asks for on one interface. */
export interface PodRequest {
  /** At most one per family from annotations; CNI channels may name several. */
  readonly addresses: readonly AddressRequest[]
  /** At most one list per family, and none of a family that `addresses` has. */
  readonly candidates: readonly CandidateList[]
  /** In their order; empty means those of the network. */
  readonly pools: readonly PoolRequest[]
  readonly gateways: readonly GatewayClaim[]
  readonly retain?: Retention
  /** What said so, e.g. "annotation ipkeeper.io/retain of namespace shop". */
  readonly retainSource?: string
  readonly mac?: string
  /** What said so, e.g. "annotation ovn.kubernetes.io/mac_address". */
  readonly macSource?: string
  /** Requests of lower channels that were not used, for the log. */
  readonly ignored: readonly string[]
  /** Annotations by which other projects' pods ask, of dialects that are not switched on; absent where there is none. */
  readonly unread?: readonly UnreadAnnotation[]
}

/** An annotation that would ask for something if its dialect were switched on. */
export interface UnreadAnnotation {
  readonly key: string
  /** As the daemon's "annotations" calls it. */
  readonly dialect: string
}

/** A pod that asks for nothing. */
export const noRequest: PodRequest = { addresses: [], candidates: [], pools: [], gateways: [], ignored: [] }
