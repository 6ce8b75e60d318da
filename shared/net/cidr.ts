import { addressBits, formatAddress, parseAddress, type Address, type Family } from './address.ts'

/** An address with a prefix length; the address may have host bits. */
export interface Cidr {
  readonly address: Address
  readonly prefixLength: number
}

/** "10.22.0.50/16"; undefined when it is not ADDRESS/LENGTH with a length the family has. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = parseAddress(text.slice(0, slash))
  const length = text.slice(slash + 1)
  if (!address || !/^(?:0|[1-9][0-9]{0,2})$/.test(length)) return undefined
  const prefixLength = Number(length)
  return prefixLength <= addressBits[address.family] ? { address, prefixLength } : undefined
}

export function formatCidr(cidr: Cidr): string {
  return `${formatAddress(cidr.address)}/${cidr.prefixLength}`
}

/** How many low bits of the family are outside the prefix. */
function hostBits(family: Family, prefixLength: number): bigint {
  return BigInt(addressBits[family] - prefixLength)
}

/** Lowest address of the network, all host bits zero. */
export function firstOf(cidr: Cidr): Address {
  const bits = hostBits(cidr.address.family, cidr.prefixLength)
  return { family: cidr.address.family, value: (cidr.address.value >> bits) << bits }
}

/** Highest address of the network, all host bits one. */
export function lastOf(cidr: Cidr): Address {
  const bits = hostBits(cidr.address.family, cidr.prefixLength)
  return { family: cidr.address.family, value: firstOf(cidr).value + (1n << bits) - 1n }
}

export function cidrContains(cidr: Cidr, address: Address): boolean {
  if (cidr.address.family !== address.family) return false
  const bits = hostBits(address.family, cidr.prefixLength)
  return cidr.address.value >> bits === address.value >> bits
}
