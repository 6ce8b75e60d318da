import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { type ApiClient, metadataListOnly } from '../../kubernetes/api-client.ts'
import { ApiError } from '../../kubernetes/api-error.ts'
import { resourcePath } from '../../kubernetes/api-path.ts'
import type { HistoryArchive, HistoryPart, PartName } from '../history-archive.ts'
import type { IPHistorySpec } from './ip-history.schema.ts'
import { objectSchema } from './layout-version.ts'
import { apiVersion, historyResource } from './resources.ts'

/** Objects of a page of parts, and of one of names. */
const partsOfPage = '20'
const namesOfPage = '500'

/** What tells the node of a part, whose name may be longer than a value of a label. */
const nodeLabel = 'ipkeeper.io/history-of'
const nodeHash = (node: string): string => createHash('sha256').update(node).digest('hex').slice(0, 20)

/** Parts of histories as IPHistory objects, whose names are made of the node's hash, the stretch and the first entry. */
export class KubernetesHistory implements HistoryArchive {
  readonly #client: Pick<ApiClient, 'get' | 'post' | 'patch' | 'delete'>

  constructor(client: Pick<ApiClient, 'get' | 'post' | 'patch' | 'delete'>) {
    this.#client = client
  }

  async put(part: HistoryPart): Promise<void> {
    const spec = specOf(part)
    const name = objectName(part)
    const metadata = { name, labels: { [nodeLabel]: nodeHash(part.node) } }
    // A part is written many times, and made once.
    try {
      await this.#client.patch(path(name), { spec })
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error
      await this.#client.post(path(), { apiVersion, kind: historyResource.kind, metadata, spec })
    }
  }

  async *list(node?: string): AsyncGenerator<readonly HistoryPart[]> {
    const query = {
      limit: partsOfPage,
      ...(node !== undefined && { labelSelector: `${nodeLabel}=${nodeHash(node)}` }),
    }
    for await (const items of this.#pages({ query }))
      yield items
        .flatMap(item => readPart(item) ?? [])
        .filter(part => node === undefined || part.node === node)
  }

  async remove(name: PartName): Promise<void> {
    await this.#delete(objectName(name))
  }

  /** A part is made when its first entry is sent, soon after that was written. */
  async removeBegunBefore(moment: number): Promise<number> {
    let removed = 0
    for await (const items of this.#pages({ query: { limit: namesOfPage }, accept: metadataListOnly })) {
      for (const { metadata } of items) {
        if (!isJsonObject(metadata) || typeof metadata['name'] !== 'string') continue
        if (!(Date.parse(String(metadata['creationTimestamp'])) < moment)) continue
        try {
          await this.#delete(metadata['name'])
        } catch (error) {
          // Those of other nodes may be for the elected daemon alone to remove (deploy/kubernetes/components/node-policy).
          if (error instanceof ApiError && (error.status === 403 || error.status === 422)) continue
          throw error
        }
        removed++
      }
    }
    return removed
  }

  async #delete(name: string): Promise<void> {
    try {
      await this.#client.delete(path(name), {})
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error
    }
  }

  async *#pages({
    query,
    accept,
  }: {
    readonly query: Readonly<Record<string, string>>
    readonly accept?: string
  }): AsyncGenerator<readonly JsonObject[]> {
    for (let token = ''; ;) {
      const list = await this.#client.get(path(), {
        query: { ...query, ...(token !== '' && { continue: token }) },
        ...(accept !== undefined && { accept }),
      })
      yield Array.isArray(list['items']) ? list['items'].filter(isJsonObject) : []
      const { metadata } = list
      const next = isJsonObject(metadata) ? metadata['continue'] : undefined
      if (typeof next !== 'string' || next === '') return
      token = next
    }
  }
}

const path = (name?: string): string =>
  resourcePath(apiVersion, historyResource.plural, name === undefined ? {} : { name })

const objectName = ({ node, stretch, first }: PartName): string => `${nodeHash(node)}-${stretch}-${first}`

const specOf = ({ node, stretch, first, last, from, to, entries, data }: HistoryPart): IPHistorySpec => ({
  ...{ schema: objectSchema, node, stretch, first, last, entries, data },
  ...{ from: new Date(from).toISOString(), to: new Date(to).toISOString() },
})

/** undefined for what is none, or of a newer version. The API server has checked the rest. */
function readPart({ spec }: JsonObject): HistoryPart | undefined {
  if (!isJsonObject(spec)) return undefined
  const { schema, from, to, ...part } = spec as unknown as IPHistorySpec
  return schema === objectSchema ? { ...part, from: Date.parse(from), to: Date.parse(to) } : undefined
}
