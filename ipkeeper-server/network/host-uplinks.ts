import type { UplinkItem } from '../../shared/api/uplink.schema.ts'

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
