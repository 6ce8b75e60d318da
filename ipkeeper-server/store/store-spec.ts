import { Problem } from '../../shared/problem/problem.ts'

/** What `--store` may name. */
export type StoreSpec =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'memory' }
  | { readonly kind: 'kubernetes' }
  | { readonly kind: 'etcd'; readonly endpoints: readonly string[] }

/** Who wrote a password there wants it in no log. */
const unnamed = (text: string): string => text.replace(/^.*@/s, '...@')

const usage = (spec: string, why: string): Problem =>
  new Problem('IPK_USAGE', `--store ${unnamed(spec)}: ${why}`, {
    hint: 'sqlite:PATH, memory:, kubernetes:, or etcd:URL[,URL...] such as etcd:https://10.0.0.1:2379,https://10.0.0.2:2379',
  })

/** "10.0.0.1:2379" and "http://10.0.0.1:2379/" to "http://10.0.0.1:2379". */
function endpoint(spec: string, text: string): string {
  // A password with a comma in it makes two of one.
  const shown = spec.includes('@') ? 'an endpoint' : `"${text}"`
  const withScheme = /^https?:\/\//.test(text) ? text : `http://${text}`
  let url: URL
  try {
    url = new URL(withScheme)
  } catch {
    throw usage(spec, `${shown} is no URL`)
  }
  if (url.username !== '' || url.password !== '')
    throw usage(spec, 'a user and password belong in the configuration ("store": { "etcd": ... })')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw usage(spec, `${shown} has more than scheme, host and port`)
  return `${url.protocol}//${url.hostname}:${url.port === '' ? '2379' : url.port}`
}

/** Reads `--store`. Throws IPK_USAGE. */
export function parseStoreSpec(spec: string): StoreSpec {
  const colon = spec.indexOf(':')
  const kind = spec.slice(0, Math.max(colon, 0))
  const rest = spec.slice(colon + 1)
  switch (kind) {
    case 'sqlite':
      if (rest === '') throw usage(spec, 'which file?')
      return { kind, path: rest }
    case 'memory':
    case 'kubernetes':
      if (rest !== '') throw usage(spec, `"${unnamed(rest)}" after ${kind}: means nothing`)
      return { kind }
    case 'etcd': {
      const endpoints = rest.split(',').filter(text => text !== '')
      if (endpoints.length === 0) throw usage(spec, 'which endpoints?')
      return { kind, endpoints: [...new Set(endpoints.map(text => endpoint(spec, text)))] }
    }
    default:
      throw usage(spec, 'no such store')
  }
}
