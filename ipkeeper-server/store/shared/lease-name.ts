import { formatAddress, parseAddress } from '../../../shared/net/address.ts'
import type { LeaseKey } from '../../ipam/records/records.ts'

/**
 * What the record of an address is called where records have names: "default-010-022-000-050", or
 * "default-fd00-0022-0000-0000-0000-0000-0000-0050". Names are those of Kubernetes objects (DNS-1123 subdomains), two keys
 * never share one, and they sort as addresses do.
 */

/** Of an object of Kubernetes. */
const longestName = 253
/** How much of what is in no such name as it is goes into it all the same, for people. */
const longestStem = 63

const safe = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

/** "010-022-000-050", or eight groups of four digits; undefined for what is no address in canonical text. */
function expanded(text: string): string | undefined {
  const address = parseAddress(text)
  if (!address || formatAddress(address) !== text) return undefined
  const { family, value } = address
  const [groups, bits, radix, digits] = family === 4 ? [4, 8, 10, 3] : [8, 16, 16, 4]
  const mask = (1n << BigInt(bits)) - 1n
  return Array.from({ length: groups }, (_, index) =>
    ((value >> BigInt(bits * (groups - 1 - index))) & mask).toString(radix).padStart(digits, '0'),
  ).join('-')
}

/** FNV-1a with 64 bits, as 16 digits. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text))
    value = ((value ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn
  return value.toString(16).padStart(16, '0')
}

/**
 * A key that fits no name gets a readable beginning and a hash, whose length no other name has at its end:
 * "rack-7-010-022-000-050-7a51f0c2be9d3a44" for the segment "Rack_7".
 */
export function leaseName(key: LeaseKey): string {
  const { segment, address } = key
  const end = expanded(address)
  const name = `${segment}-${end ?? ''}`
  if (end !== undefined && safe.test(segment) && name.length <= longestName) return name
  const stem = (text: string): string =>
    text
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, longestStem)
      .replaceAll(/^-|-$/g, '')
  const parts = [stem(segment), end ?? stem(address), hash(JSON.stringify([segment, address]))]
  return parts.filter(part => part !== '').join('-')
}

const endOfName = /^(.+)-(?:(\d{3}(?:-\d{3}){3})|([0-9a-f]{4}(?:-[0-9a-f]{4}){7}))$/

/** The key whose name it is; undefined for one with a hash, and for what is no such name. */
export function leaseOfName(name: string): LeaseKey | undefined {
  const [, segment, v4, v6] = endOfName.exec(name) ?? []
  if (segment === undefined) return undefined
  const address = parseAddress(
    v4 === undefined ? (v6 ?? '').replaceAll('-', ':') : v4.split('-').map(Number).join('.'),
  )
  const key = address && { segment, address: formatAddress(address) }
  return key && leaseName(key) === name ? key : undefined
}
