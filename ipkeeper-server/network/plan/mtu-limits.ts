import type { Family } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'

/** Bytes. RFC 791: every link carries 68; the kernel's links take no more than the longest IPv4 packet. */
export const mtuLimits = { least: 68, most: 65_535 } as const

/** Bytes. RFC 8200, section 5. The kernel takes IPv6 off a link with less. */
export const leastOfIpv6 = 1280

/**
 * Whether a pod with addresses of these families can have an interface of this MTU, in bytes.
 *
 * @throws Problem IPK_CONFIG_INVALID
 */
export function checkMtuCarries(mtu: number, families: Iterable<Family>): void {
  if (mtu >= leastOfIpv6 || ![...families].includes(6)) return
  throw new Problem(
    'IPK_CONFIG_INVALID',
    `an MTU of ${mtu} is too small for IPv6, which needs ${leastOfIpv6}`,
    {
      hint: `write "mtu": ${leastOfIpv6} or more, or take the IPv6 range out of "ipam"`,
    },
  )
}

/**
 * Whether frames of a pod fit its uplink.
 *
 * @param mtu bytes
 * @throws Problem IPK_CONFIG_INVALID
 */
export function checkMtuFits(mtu: number, uplink: { readonly name: string; readonly mtu: number }): void {
  if (mtu <= uplink.mtu) return
  const { name } = uplink
  throw new Problem('IPK_CONFIG_INVALID', `"mtu": ${mtu} is more than the ${uplink.mtu} of uplink ${name}`, {
    hint: `take "mtu" out, which means ${uplink.mtu}; or raise that of the uplink: ip link set dev ${name} mtu ${mtu}`,
  })
}
