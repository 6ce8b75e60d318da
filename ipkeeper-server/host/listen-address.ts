import { isIPv4, isIPv6 } from 'node:net'

/** An address of this node, or all of them, and a TCP port. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** "10.0.0.1:9443", "0.0.0.0:9443" or "[::]:9443"; undefined for anything else. */
export function parseTcpAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([0-9.]+)):([1-9][0-9]{0,4})$/.exec(text)
  const host = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3])
  const fits = match?.[1] === undefined ? isIPv4(host) : isIPv6(host)
  return fits && port <= 65_535 ? { host, port } : undefined
}

/**
 * "127.0.0.1:9478" or "[::1]:9478". undefined for anything else: what is served without a password stays on the node.
 */
export function parseListen(text: string): ListenAddress | undefined {
  const address = parseTcpAddress(text)
  const isLoopback = address && (address.host.startsWith('127.') || /^[0:]*:0*1$/.test(address.host))
  return isLoopback ? address : undefined
}
