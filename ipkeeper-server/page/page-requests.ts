import type { IncomingHttpHeaders } from 'node:http'

/** What of the API the page asks for. All of it can be read only, and nothing else is to be had there. */
const readable = [
  /^\/v1\/pools$/,
  /^\/v1\/pools\/[^/]+\/(?:map|freeing)$/,
  /^\/v1\/addresses\/[^/]+\/[^/]+$/,
  /^\/v1\/history$/,
  /^\/v1\/audit$/,
]

/** A path as the API will see it, without dots that lead elsewhere, and what is asked of it; undefined for what is no path. */
export function readTarget(url: string): { readonly path: string; readonly query: string } | undefined {
  if (!URL.canParse(url, 'http://localhost')) return undefined
  const { pathname, search } = new URL(url, 'http://localhost')
  return { path: pathname, query: search }
}

/** @param path of readTarget */
export function isReadable(path: string): boolean {
  return readable.some(pattern => pattern.test(path))
}

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
