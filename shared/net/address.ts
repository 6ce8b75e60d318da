/** 4 or 6. */
export type Family = 4 | 6

/** An IP address as a number: 32 bits for family 4, 128 for family 6. */
export interface Address {
  readonly family: Family
  readonly value: bigint
}

export const addressBits = { 4: 32, 6: 128 } as const satisfies Record<Family, number>

const decimalOctet = /^(?:0|[1-9][0-9]{0,2})$/
const hexGroup = /^[0-9a-fA-F]{1,4}$/

function parseV4(text: string): bigint | undefined {
  const octets = text.split('.')
  if (octets.length !== 4) return undefined
  let value = 0
  for (const octet of octets) {
    if (!decimalOctet.test(octet) || Number(octet) > 255) return undefined
    value = value * 256 + Number(octet)
  }
  return BigInt(value)
}

/** Groups of one side of "::"; the last may be dotted IPv4 when it ends the address. */
function parseGroups(text: string, mayEndDotted: boolean): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (mayEndDotted && index === parts.length - 1 && part.includes('.')) {
      const v4 = parseV4(part)
      if (v4 === undefined) return undefined
      groups.push(Number(v4 >> 16n), Number(v4 & 0xffffn))
    } else {
      if (!hexGroup.test(part)) return undefined
      groups.push(Number.parseInt(part, 16))
    }
  }
  return groups
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const compressed = halves.length === 2
  const head = parseGroups(halves[0] ?? '', !compressed)
  const tail = compressed ? parseGroups(halves[1] ?? '', true) : []
  if (!head || !tail) return undefined
  const missing = 8 - head.length - tail.length
  if (compressed ? missing < 1 : missing !== 0) return undefined
  let value = 0n
  for (const group of [...head, ...Array<number>(missing).fill(0), ...tail])
    value = (value << 16n) | BigInt(group)
  return value
}

const mappedPrefix = 0xffffn << 32n

/**
 * Strict parse: no leading zeros ("10.22.1.050" is no address), no zone, no white space. An IPv4-mapped IPv6 address
 * is the IPv4 address, as everywhere in the CNI libraries. undefined when the text is no address.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > 45) return undefined
  if (!text.includes(':')) {
    const value = parseV4(text)
    return value === undefined ? undefined : { family: 4, value }
  }
  const value = parseV6(text)
  if (value === undefined) return undefined
  return value >> 32n === mappedPrefix >> 32n
    ? { family: 4, value: value & 0xffffffffn }
    : { family: 6, value }
}

function formatV6(value: bigint): string {
  const groups: number[] = []
  for (let shift = 112n; shift >= 0n; shift -= 16n) groups.push(Number((value >> shift) & 0xffffn))
  // RFC 5952: the longest run of two or more zero groups is compressed, the first one of equals.
  let best = { start: -1, length: 1 }
  for (let start = 0; start < 8; start++) {
    let length = 0
    while (start + length < 8 && groups[start + length] === 0) length++
    if (length > best.length) best = { start, length }
    start += length
  }
  const hex = groups.map(group => group.toString(16))
  if (best.start < 0) return hex.join(':')
  return `${hex.slice(0, best.start).join(':')}::${hex.slice(best.start + best.length).join(':')}`
}

/** Canonical text: dotted decimal, or RFC 5952. */
export function formatAddress(address: Address): string {
  if (address.family === 6) return formatV6(address.value)
  const value = Number(address.value)
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

export function sameAddress(a: Address, b: Address): boolean {
  return a.family === b.family && a.value === b.value
}

const linkName = /^[^\s%/]{1,15}$/

/** Whether a resolver takes a text for the address of a server; a link-local one may name its link: "fe80::1%eth0". */
export function isNameserver(text: string): boolean {
  const zone = text.indexOf('%')
  if (zone < 0) return parseAddress(text) !== undefined
  return parseAddress(text.slice(0, zone))?.family === 6 && linkName.test(text.slice(zone + 1))
}
