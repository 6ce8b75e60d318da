import type { Address } from '../../shared/net/address.ts'
import type { Retention } from './retention.ts'

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

/** All that a pod asks for on one interface. */
export interface PodRequest {
  /** At most one per family from annotations; CNI channels may name several. */
  readonly addresses: readonly AddressRequest[]
  readonly retain?: Retention
  readonly mac?: string
  /** Requests of lower channels that were not used, for the log. */
  readonly ignored: readonly string[]
}
