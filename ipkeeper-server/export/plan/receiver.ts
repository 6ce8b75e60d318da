/** Where a syslog receiver is. */
export interface Receiver {
  readonly protocol: 'tcp' | 'tls' | 'udp'
  /** A name, or an IPv4 or IPv6 address without brackets. */
  readonly host: string
  readonly port: number
}

/** Where the history is sent, and by what both sides know each other with TLS. Absolute paths; a certificate has a key. */
export interface SyslogTerms {
  readonly receiver: Receiver
  readonly caFile?: string | undefined
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
}

const form =
  /^(tcp|tls|udp):\/\/(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?)):([0-9]{1,6})$/

/** "tcp://192.0.2.10:514", "tls://logs.example.org:6514" or "udp://[fd00::1]:514"; undefined for anything else. */
export function parseReceiver(text: string): Receiver | undefined {
  const match = form.exec(text)
  const [protocol, host, port] = [match?.[1], match?.[2] ?? match?.[3], Number(match?.[4])]
  if (host === undefined || !(port >= 1 && port <= 65_535)) return undefined
  return { protocol: protocol as Receiver['protocol'], host, port }
}

/** As it is written. */
export const formatReceiver = ({ protocol, host, port }: Receiver): string =>
  `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Why a text names no receiver, and what to write: ends a sentence that begins with its key. Says nothing of what may be secret. */
export function receiverFault(text: string): string {
  const [, scheme, rest] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/s.exec(text) ?? []
  if (scheme === undefined || rest === undefined)
    return `${JSON.stringify(text)} has no scheme; write tcp://HOST:PORT, tls://HOST:PORT or udp://HOST:PORT`
  if (rest.includes('@'))
    return 'has a user or a password, of which syslog knows nothing; write tls://HOST:PORT, and a client certificate in "certFile" and "keyFile"'
  if (scheme === 'unix')
    return `${JSON.stringify(text)}: sockets such as /dev/log take datagrams, which Node.js cannot send; let the receiver of this node listen on udp://127.0.0.1:514`
  if (!['tcp', 'tls', 'udp'].includes(scheme))
    return `${JSON.stringify(text)}: "${scheme}" is not one of tcp, tls, udp`
  const port = /:([0-9]+)$/.exec(rest)?.[1]
  if (port === undefined)
    return `${JSON.stringify(text)} has no port at its end; usual are tcp://HOST:514, udp://HOST:514 and tls://HOST:6514`
  if (Number(port) < 1 || Number(port) > 65_535)
    return `${JSON.stringify(text)}: port ${port} is not one from 1 to 65535`
  return `${JSON.stringify(text)} has no host such as logs.example.org, 192.0.2.10 or [fd00::1] before its port`
}
