import { withoutPrefix } from '../../../shared/net/address-text.ts'
import { cidrContains, parseCidr } from '../../../shared/net/cidr.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import type { Command } from './command.ts'
import type { BridgeFacts } from './wiring-job.ts'

/** What is known of gateways. */
export interface GatewayFacts {
  /** Whether an address, without prefix, is the gateway of a pool that is known. */
  readonly isGateway: (address: string) => boolean
  /** Pods of this node on a bridge whose gateway is this one, in CIDR notation: "shop/web-0". */
  readonly podsBehind: (cidr: string, bridge: string) => readonly string[]
}

interface JudgedAddresses {
  /** ipkeeper put them there, and nobody uses them any more. */
  readonly stale: readonly string[]
  /** What is nobody's gateway, or stands in the subnet that another gateway is to have. */
  readonly inTheWay: readonly string[]
}

/**
 * What is to become of the addresses that a bridge has besides its new gateways. Those of other pools stay, and those that
 * pods here have for their gateway, whose pool may be gone by now.
 *
 * @param wanted the new gateways; all in CIDR notation
 */
export function judgeAddresses(
  { bridge }: Pick<MainConfig, 'bridge'>,
  { addresses, ours }: Pick<BridgeFacts & { readonly state: 'bridge' }, 'addresses' | 'ours'>,
  wanted: readonly string[],
  { isGateway, podsBehind }: GatewayFacts,
): JudgedAddresses {
  const isUsed = (address: string): boolean => podsBehind(address, bridge).length > 0
  const odd = addresses.filter(
    address =>
      !wanted.includes(address) &&
      (wanted.some(gateway => overlap(gateway, address)) ||
        !(isGateway(withoutPrefix(address)) || isUsed(address))),
  )
  const unused = odd.filter(address => ours.includes(address) && !isUsed(address))
  const others = addresses.filter(address => !unused.includes(address))
  // With an IPv4 address the kernel takes away the later ones of its subnet.
  const stale = unused.filter(address => !others.some(other => overlap(other, address)))
  return { stale, inTheWay: odd.filter(address => !stale.includes(address)) }
}

/** Whether one of two networks has the address of the other. */
function overlap(a: string, b: string): boolean {
  const [left, right] = [parseCidr(a), parseCidr(b)]
  return (
    left !== undefined &&
    right !== undefined &&
    (cidrContains(left, right.address) || cidrContains(right, left.address))
  )
}

/** Takes addresses from a bridge that are stale. */
export function removeAddresses(stale: readonly string[], bridge: string): Command[] {
  return stale.map(address => ({
    place: 'host',
    words: ['address', 'delete', address, 'dev', bridge],
    about: `take the address ${address}, which no pod uses any more, from bridge ${bridge}`,
    missing: 'fine',
  }))
}
