import { parseAddress } from '../../../shared/net/address.ts'

const hex = (value: bigint, bytes: number): string => value.toString(16).padStart(bytes * 2, '0')

const withColons = (digits: string): string => digits.match(/../g)?.join(':') ?? ''

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
  if (chosen.family === 4) return withColons(`0a58${hex(chosen.value, 4)}`)
  let folded = 0n
  for (let rest = chosen.value; rest > 0n; rest >>= 40n) folded ^= rest & 0xff_ffff_ffffn
  return withColons(`0e${hex(folded, 5)}`)
}
