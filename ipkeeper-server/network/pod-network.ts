import type { PreviousInterface } from '../ipam/request/network-config.ts'
import { Problem } from '../../shared/problem/problem.ts'
import type { SeenMac } from '../ipam/request/add-request.ts'
import type { AttachmentKey, AttachmentRecord, LeaseRecord } from '../ipam/records/records.ts'
import type { MainConfig } from '../ipam/request/main-config.ts'
import type { Survey, WiringJob } from './plan/wiring-job.ts'
import type { UplinkItem } from '../../shared/api/uplink.schema.ts'

/** Somebody else on the network has addresses of the pod. `mac`: undefined where it cannot be learnt. */
export class AddressTaken extends Problem {
  readonly addresses: readonly string[]

  constructor(duplicates: readonly { readonly address: string; readonly mac: string | undefined }[]) {
    const each = duplicates.map(({ address, mac }) =>
      mac === undefined
        ? `another machine on the network has ${address}`
        : `${mac} on the network has ${address}`,
    )
    super('IPK_ADDRESS_DUPLICATE', each.join('; '))
    this.addresses = duplicates.map(({ address }) => address)
  }
}

/** What a pod is wired with besides its job. */
export interface WiringOrder extends WiringJob {
  readonly netns: string
  readonly netnsInode: string | null
  readonly leases: readonly LeaseRecord[]
  /** Older attachments whose addresses this one takes over. */
  readonly superseded: readonly AttachmentRecord[]
}

/** The kernel's side of attachments, of the main role but for `cutOff`. */
export interface PodNetwork {
  /** Whether the programs are there that this network needs. Throws IPK_TOOL_MISSING. */
  checkTools(config: MainConfig): void
  /**
   * Looks at the host and the pod's namespace, and changes nothing.
   *
   * @throws what the ADD is to be refused with, such as IPK_LINK_CONFLICT or IPK_NETNS_INVALID
   */
  survey(config: MainConfig, key: AttachmentKey, netns: string): Promise<Survey>
  /** Who has a MAC, as far as the node knows; absent where there is no kernel to look at. */
  seeMac?(mac: string): Promise<SeenMac>
  /**
   * Makes the kernel as the record says; resolves to what the host was found to be like in the end. When it throws, `unwire`
   * takes back what was done.
   */
  wire(order: WiringOrder): Promise<Survey>
  /** Takes back whatever is there of the record. Repeatable; what is not there is no fault. */
  unwire(attachment: AttachmentRecord, leases: readonly LeaseRecord[]): Promise<void>
  /** The same for an attachment that nobody knows: by its names alone. */
  unwireUnknown(key: AttachmentKey, netns: string): Promise<void>
  /**
   * Lets nothing answer for the addresses of an attachment any more, since somebody else has them: takes its links away, or,
   * where they are another plugin's (the IPAM role), down. Resolves to whether there was something that could have answered.
   *
   * @throws IPK_WIRING_FAILED, IPK_TOOL_MISSING
   */
  cutOff(attachment: AttachmentRecord): Promise<boolean>
  /** Each difference between what ADD made and the kernel, in one line; changes nothing. */
  differences(
    attachment: AttachmentRecord,
    leases: readonly LeaseRecord[],
    previous: PreviousInterface | undefined,
  ): Promise<readonly string[]>
}

/** The uplinks of the host that the daemon made ports of bridges, for operators. */
export interface HostUplinks {
  list(): Promise<readonly UplinkItem[]>
  /**
   * Gives the uplink of a bridge back to the host, with the addresses and routes that it had.
   *
   * @param bridge its name, unchecked
   * @throws IPK_UPLINK_UNKNOWN; IPK_UPLINK_IN_USE while pods are ports of the bridge; IPK_WIRING_FAILED
   */
  restore(bridge: string): Promise<UplinkItem>
}
