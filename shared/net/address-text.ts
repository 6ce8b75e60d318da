/** What an address as text tells without being parsed; for addresses that were checked where they came in. */

/** Whether an address, with or without prefix, is one of IPv6. */
export function isIpv6(address: string): boolean {
  return address.includes(':')
}

/** "10.22.0.50" of "10.22.0.50/16", and of "10.22.0.50". */
export function withoutPrefix(cidr: string): string {
  const slash = cidr.indexOf('/')
  return slash < 0 ? cidr : cidr.slice(0, slash)
}
