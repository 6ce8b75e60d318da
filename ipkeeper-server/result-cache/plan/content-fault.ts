import type { CacheReason } from '../../../shared/cache-reasons.ts'
import { isJsonObject, jsonTypeName } from '../../../shared/json/fold.ts'
import { locateSyntaxError } from '../../../shared/json/locate-syntax-error.ts'

/** What is wrong with what stands in a file. */
export interface ContentFault {
  readonly reason: Extract<CacheReason, 'zero-byte' | 'truncated' | 'non-json' | 'wrong-kind'>
  readonly detail: string
}

export type Decoded =
  | { readonly fault: ContentFault; readonly value?: undefined }
  | { readonly fault?: undefined; readonly value: unknown }

/** The beginning of a word, of a number or of an escape, with nothing after it. */
const cutScalar =
  /^(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-|-?(?:0|[1-9][0-9]*)(?:\.|(?:\.[0-9]+)?[eE][+-]?)|\\(?:u[0-9a-fA-F]{0,3})?)$/

export const wrongKind = (detail: string): ContentFault => ({ reason: 'wrong-kind', detail })

/** A text as JSON, or why it is none: empty, the beginning of a document, or something else. */
export function decodeJson(text: string): Decoded {
  if (text === '') return { fault: { reason: 'zero-byte', detail: 'empty' } }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    const found = locateSyntaxError(text)
    const detail = found ? `${found.what} (at character ${found.offset + 1})` : 'no JSON'
    const cut =
      found !== undefined &&
      (found.what.startsWith('unexpected end of JSON input') || cutScalar.test(text.slice(found.offset)))
    return { fault: { reason: cut ? 'truncated' : 'non-json', detail } }
  }
}

type Shape = 'text' | 'base64' | 'object' | 'pairs'

/** Keys of a cniCacheV1 and what libcni decodes them into; another type makes it give the file up (libcni/api.go, cachedInfo). */
const cacheKeys: Readonly<Record<string, Shape>> = {
  containerId: 'text',
  config: 'base64',
  ifName: 'text',
  networkName: 'text',
  netns: 'text',
  cniArgs: 'pairs',
  capabilityArgs: 'object',
  result: 'object',
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

const fits: Readonly<Record<Shape, (value: unknown) => boolean>> = {
  text: value => typeof value === 'string',
  base64: value => typeof value === 'string' && isBase64(value),
  object: isJsonObject,
  pairs: value =>
    Array.isArray(value) &&
    value.every(pair => Array.isArray(pair) && pair.every(word => typeof word === 'string')),
}

/** Keys of which a Result has at least one, in any version: libcni before 0.8 kept the bare Result. */
const resultKeys = ['cniVersion', 'ips', 'ip4', 'ip6', 'interfaces']

/** What libcni cannot take for one of its results: a document of kind cniCacheV1, or a bare Result. */
export function cachedResultFault(value: unknown): ContentFault | undefined {
  if (!isJsonObject(value)) return wrongKind(`${jsonTypeName(value)}, not an object`)
  const kind = value['kind']
  if (kind === undefined || kind === '') {
    return resultKeys.some(key => value[key] !== undefined && value[key] !== null)
      ? undefined
      : wrongKind('an object that is neither a cniCacheV1 nor a Result')
  }
  if (kind !== 'cniCacheV1')
    return wrongKind(`its "kind" is ${typeof kind === 'string' ? 'another' : jsonTypeName(kind)}`)
  for (const [key, shape] of Object.entries(cacheKeys)) {
    const present = value[key]
    // null is as good as absent to Go's decoder.
    if (present !== undefined && present !== null && !fits[shape](present))
      return wrongKind(`its "${key}" is ${jsonTypeName(present)} that libcni cannot read`)
  }
  return undefined
}
