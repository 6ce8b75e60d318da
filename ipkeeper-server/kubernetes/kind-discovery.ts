import { isJsonObject } from '../../shared/json/fold.ts'
import type { ApiClient } from './api-client.ts'
import { ApiError } from './api-error.ts'
import { groupPath } from './api-path.ts'
import type { Clock } from './clock.ts'

export interface DiscoveredKind {
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
  readonly #clock: Clock
  readonly #known = new Map<
    string,
    { readonly until: number; readonly kinds: ReadonlyMap<string, DiscoveredKind> }
  >()

  constructor(client: ApiClient, clock: Clock) {
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
