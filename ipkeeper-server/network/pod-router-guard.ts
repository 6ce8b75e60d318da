import { existsSync } from 'node:fs'
import type { Sysctl } from '../ipam/records/main-config.ts'
import { leastOfIpv6 } from './plan/mtu-limits.ts'

/**
 * What keeps a pod without IPv6 addresses of ours from taking some of a router of its network, and a way out with them.
 * Nothing where the interface has no IPv6 that could be set.
 *
 * @param mtu of the interface, in bytes
 */
export function routerGuardSysctls(ifname: string, mtu: number): Sysctl[] {
  // A kernel has IPv6 in every namespace or in none.
  if (mtu < leastOfIpv6 || !existsSync('/proc/sys/net/ipv6/conf')) return []
  return [{ key: `net/ipv6/conf/${ifname}/accept_ra`, value: '0' }]
}
