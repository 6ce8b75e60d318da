/** What of the API the page asks for. All of it can be read only, and nothing else is to be had there. */
const readable = [
  /^\/v1\/pools(?:\/use)?$/,
  /^\/v1\/pools\/[^/]+\/(?:map|freeing|description)$/,
  /^\/v1\/addresses\/[^/]+\/[^/]+$/,
  /^\/v1\/history$/,
  /^\/v1\/search$/,
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
