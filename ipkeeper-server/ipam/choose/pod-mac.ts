import { withColons } from '../../../shared/net/mac.ts'
import { addressBits, parseAddress, type Address } from '../../../shared/net/address.ts'
import { firstOf, type Cidr } from '../../../shared/net/cidr.ts'

/** What pods' default MACs begin with. */
const prefixes = { 4: '0a58', 6: '0e' } as const

const hex = (value: bigint, bytes: number): string => value.toString(16).padStart(bytes * 2, '0')

/**
 * The MAC of a pod that asked for none: always the same for an address, so that what others remember of the address
 * stays true when its pod comes back. Locally administered: "0a:58" and the IPv4 address, or "0e" and a fold of the
 * IPv6 address, in which neighbours of one subnet differ.
 *
 * @param addresses of the pod, canonical, at least one; the first IPv4 address counts, else the first
 */
export function podMac(addresses: readonly string[]): string {
  const parsed = addresses.flatMap(text => parseAddress(text) ?? [])
  const chosen = parsed.find(({ family }) => family === 4) ?? parsed[0]
  if (!chosen) throw new Error('a pod without an address has no MAC')
  if (chosen.family === 4) return withColons(`${prefixes[4]}${hex(chosen.value, 4)}`)
  return withColons(`${prefixes[6]}${hex(fold(chosen.value), 5)}`)
}

/** In place of that one, where somebody has chosen it for himself: as locally administered, and as constant. */
export function sparePodMac(addresses: readonly string[]): string {
  return podMac(addresses).replace(/^0[ae]/, '06')
}

/**
 * The address whose pod has a MAC by default, if it is in one of the subnets; "many" where several of one subnet have it,
 * which is so of each such MAC in a subnet of IPv6 that has 40 bits for its hosts.
 */
export function defaultMacOwner(mac: string, subnets: readonly Cidr[]): Address | 'many' | undefined {
  const digits = mac.replaceAll(':', '')
  for (const family of [4, 6] as const) {
    if (!digits.startsWith(prefixes[family])) continue
    const told = BigInt(`0x${digits.slice(prefixes[family].length)}`)
    for (const subnet of subnets) {
      if (subnet.address.family !== family) continue
      const { value: network } = firstOf(subnet)
      const hostBits = addressBits[family] - subnet.prefixLength
      if (family === 6 && hostBits >= 40) return 'many'
      // Below 40 bits the host's part is in the lowest of the parts that are folded, where the network's is 0.
      const host = family === 4 ? told - network : told ^ fold(network)
      if (host >= 0n && host < 1n << BigInt(hostBits)) return { family, value: network + host }
    }
  }
  return undefined
}

/** 40 bits, in which neighbours differ. */
function fold(value: bigint): bigint {
  let folded = 0n
  for (let rest = value; rest > 0n; rest >>= 40n) folded ^= rest & 0xff_ffff_ffffn
  return folded
}
