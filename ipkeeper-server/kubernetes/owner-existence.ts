import type { Owner } from '../ipam/records/pod-facts.ts'
import { metadataOnly, type ApiClient } from './api-client.ts'
import { ApiError } from './api-error.ts'
import { resourcePath } from './api-path.ts'
import type { KindDiscovery } from './kind-discovery.ts'
import { readMeta } from './kube-object.ts'
import { ownerKind } from './owner-kinds.ts'

/**
 * Whether an owner, by UID, still exists. "gone" hands addresses to others, so it needs proof: the API says NotFound of
 * that very name, or shows another object there. No right to look, a server that is away, a path that does not exist, or
 * a kind that nobody knows is "unknown".
 */
export async function ownerExists(
  client: ApiClient,
  discovery: KindDiscovery,
  namespace: string,
  owner: Owner,
): Promise<'exists' | 'gone' | 'unknown'> {
  try {
    const known = ownerKind(owner)
    const kind = known
      ? { resource: known.resource, namespaced: true }
      : await discovery.find(owner.apiVersion, owner.kind)
    if (!kind) return 'unknown'
    const path = resourcePath(owner.apiVersion, kind.resource, {
      namespace: kind.namespaced ? namespace : undefined,
      name: owner.name,
    })
    const meta = readMeta(await client.get(path, { accept: metadataOnly }), () => false)
    if (meta?.name !== owner.name) return 'unknown'
    return meta.uid === owner.uid ? 'exists' : 'gone'
  } catch (error) {
    if (error instanceof RangeError) return 'unknown'
    if (!(error instanceof ApiError)) throw error
    const proved = error.status === 404 && error.reason === 'NotFound' && error.about === owner.name
    return proved ? 'gone' : 'unknown'
  }
}
