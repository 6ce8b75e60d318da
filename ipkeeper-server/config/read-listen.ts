import { isIPv4, isIPv6 } from 'node:net'

/** A loopback address and a TCP port. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/**
 * "127.0.0.1:9478" or "[::1]:9478". undefined for anything else: what is served without a password stays on the node
 * (DESIGN section 10).
 */
export function parseListen(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([0-9.]+)):([1-9][0-9]{0,4})$/.exec(text)
  const host = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3])
  const loopback = (isIPv4(host) && host.startsWith('127.')) || (isIPv6(host) && /^[0:]*:0*1$/.test(host))
  return loopback && port <= 65_535 ? { host, port } : undefined
}
