import type { Owner } from '../ipam/records/pod-facts.ts'
import { metadataOnly, type ApiClient } from './api-client.ts'
import { ApiError } from './api-error.ts'
import { resourcePath, groupPath } from './api-path.ts'
import { readMeta } from './kube-object.ts'
import { ownerKind } from './owner-kinds.ts'
import { isJsonObject } from '../../shared/json/fold.ts'
import type { ClientClock } from './client-context.ts'

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

interface DiscoveredKind {
  readonly resource: string
  readonly namespaced: boolean
}

/** Milliseconds: kinds come and go with their CustomResourceDefinitions, which is rare. */
const trustedFor = 3_600_000
const absentFor = 60_000
/** Versions of groups; there are about a hundred in a large cluster. */
const remembered = 200

/** How a kind is called in paths, as the API itself tells (API concepts, "Discovery API"). */
export class KindDiscovery {
  readonly #client: ApiClient
  readonly #clock: ClientClock
  readonly #known = new Map<
    string,
    { readonly until: number; readonly kinds: ReadonlyMap<string, DiscoveredKind> }
  >()

  constructor(client: ApiClient, clock: ClientClock) {
    this.#client = client
    this.#clock = clock
  }

  /** undefined when the API has no such kind. Rejects with ApiError, or RangeError for what is no apiVersion. */
  async find(apiVersion: string, kind: string): Promise<DiscoveredKind | undefined> {
    const known = this.#known.get(apiVersion)
    const kinds =
      known && this.#clock.monotonic() < known.until ? known.kinds : await this.#discover(apiVersion)
    return kinds.get(kind)
  }

  async #discover(apiVersion: string): Promise<ReadonlyMap<string, DiscoveredKind>> {
    const kinds = new Map<string, DiscoveredKind>()
    try {
      const { resources } = await this.#client.get(groupPath(apiVersion))
      for (const row of Array.isArray(resources) ? resources.filter(isJsonObject) : []) {
        const { name, kind, namespaced } = row
        // "deployments/scale" has a kind as well, but is no object.
        if (typeof name !== 'string' || name.includes('/') || typeof kind !== 'string') continue
        kinds.set(kind, { resource: name, namespaced: namespaced === true })
      }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
    }
    const until = this.#clock.monotonic() + (kinds.size > 0 ? trustedFor : absentFor)
    this.#known.delete(apiVersion)
    this.#known.set(apiVersion, { until, kinds })
    const [oldest] = this.#known.keys()
    if (this.#known.size > remembered && oldest !== undefined) this.#known.delete(oldest)
    return kinds
  }
}
