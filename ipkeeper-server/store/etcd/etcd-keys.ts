import { leaseName, leaseOfName } from '../shared/lease-name.ts'
import { leaseKey } from '../../ipam/records/records.ts'
import type { SharedKind } from '../shared/engine.ts'

/** Where records are in etcd: "/ipkeeper/v1/leases/default-010-022-000-050", "/ipkeeper/v1/holders/pod/net/shop/web-0/eth0". */

const folders = {
  lease: 'leases',
  holder: 'holders',
  reservation: 'reservations',
  pool: 'pools',
  quota: 'quotas',
  mac: 'macs',
  node: 'nodes',
  ending: 'endings',
} as const satisfies Record<SharedKind, string>

const kinds: ReadonlyMap<string, SharedKind> = new Map(
  Object.entries(folders).map(([kind, folder]) => [folder, kind as SharedKind]),
)

/** What follows the keys that begin with a prefix. It ends with a character of ASCII, so that the next one is one, too. */
export function endOfPrefix(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}

/** Numbers are told from texts by a sign that no encoded text has. */
const encodePart = (part: string | number): string =>
  typeof part === 'number' ? `#${part}` : encodeURIComponent(part)

const decodePart = (text: string): string | number =>
  text.startsWith('#') ? Number(text.slice(1)) : decodeURIComponent(text)

/** The parts of a key that is a JSON array of them (ipam/records.ts); undefined for another. */
function partsOf(key: string): readonly (string | number)[] | undefined {
  let parts: unknown
  try {
    parts = JSON.parse(key)
  } catch {
    return undefined
  }
  const sound =
    Array.isArray(parts) &&
    parts.length > 1 &&
    parts.every(part => (typeof part === 'string' ? part.isWellFormed() : typeof part === 'number')) &&
    JSON.stringify(parts) === key
  return sound ? (parts as (string | number)[]) : undefined
}

function nameOf(kind: SharedKind, key: string): string {
  if (kind === 'pool') return encodeURIComponent(key)
  const parts = partsOf(key)
  // What is no array is a key of no record of ours; it has its place all the same.
  if (!parts) return `=${encodeURIComponent(key)}`
  const [segment, address] = parts
  if (kind === 'lease' && typeof segment === 'string' && typeof address === 'string') {
    const name = leaseName({ segment, address })
    const named = leaseOfName(name)
    if (named && leaseKey(named) === key) return name
  }
  return parts.map(encodePart).join('/')
}

function keyOf(kind: SharedKind, name: string): string {
  if (kind === 'pool') return decodeURIComponent(name)
  if (name.startsWith('=')) return decodeURIComponent(name.slice(1))
  const named = kind === 'lease' ? leaseOfName(name) : undefined
  return named ? leaseKey(named) : JSON.stringify(name.split('/').map(decodePart))
}

/** @param prefix ends with "/" */
export function toEtcdKey(prefix: string, kind: SharedKind, key: string): string {
  return `${prefix}${folders[kind]}/${nameOf(kind, key)}`
}

/** Where a node's fence is (etcd-fence.ts): "/ipkeeper/v1/fences/worker-1". It is no record. */
export const fenceKey = (prefix: string, node: string): string =>
  `${prefix}fences/${encodeURIComponent(node)}`

/**
 * Parts of histories (etcd-history.ts) stand behind all records: "~" is behind every letter. So they can be left out where records are listed
 * and watched, and whoever may write below the prefix may write them.
 */
export const historyFolder = (prefix: string): string => `${prefix}~history/`

/** What follows the keys of all records. */
export const endOfRecords = (prefix: string): string => `${prefix}~`

/** undefined for what is no key that `toEtcdKey` makes. */
export function fromEtcdKey(
  prefix: string,
  etcdKey: string,
): { readonly kind: SharedKind; readonly key: string } | undefined {
  const slash = etcdKey.indexOf('/', prefix.length)
  const kind = etcdKey.startsWith(prefix) ? kinds.get(etcdKey.slice(prefix.length, slash)) : undefined
  if (kind === undefined) return undefined
  try {
    const key = keyOf(kind, etcdKey.slice(slash + 1))
    return toEtcdKey(prefix, kind, key) === etcdKey ? { kind, key } : undefined
  } catch {
    // A "%" that begins no encoded character.
    return undefined
  }
}
