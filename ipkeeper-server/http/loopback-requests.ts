import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a browser was sent here by the name of this node. A page of somebody else, whose name is made to lead to a
 * loopback address (DNS rebinding), says its own. The port may be another one, as at the end of a tunnel.
 */
export function isOurHost(host: string | undefined): boolean {
  const name = /^(\[[0-9a-f:]+\]|[^:[\]]+)(?::[0-9]{1,5})?$/i.exec(host ?? '')?.[1]?.toLowerCase()
  if (name === undefined) return false
  return name === 'localhost' || name === '[::1]' || /^127(?:\.[0-9]{1,3}){3}$/.test(name)
}

/**
 * Whether another site asks through somebody's browser. It could not read the answer, but make the daemon work. A person
 * may follow a link to the page itself.
 */
export function isOfOthers(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return false
  return headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document'
}
