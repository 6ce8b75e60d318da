import type { HistoryArchive, HistoryPart, PartName } from '../history-archive.ts'
import type { EtcdClient } from './etcd-client.ts'
import { endOfPrefix, historyFolder } from './etcd-keys.ts'
import type { KeyValue } from './etcd-messages.ts'

/** Keys of a page of parts, and of one of names. */
const partsOfPage = 20
const namesOfPage = 1000

/** Version of the form of a part. */
const schema = 1

type Value = Omit<HistoryPart, keyof PartName>

/** Parts of histories in etcd: "/ipkeeper/v1/~history/worker-1/5f1c9a/000000000000501-1764400000000". */
export class EtcdHistory implements HistoryArchive {
  readonly #client: Pick<EtcdClient, 'range' | 'repeat'>
  readonly #folder: string

  /** @param prefix of all keys; ends with "/" */
  constructor(client: Pick<EtcdClient, 'range' | 'repeat'>, prefix: string) {
    this.#client = client
    this.#folder = historyFolder(prefix)
  }

  async put({ last, to, entries, data, ...name }: HistoryPart): Promise<void> {
    const value = JSON.stringify({ v: schema, last, to, entries, data })
    await this.#client.repeat({ compare: [], success: [{ put: this.#key(name), value }], failure: [] })
  }

  async *list(node?: string): AsyncGenerator<readonly HistoryPart[]> {
    for await (const kvs of this.#pages(node, partsOfPage, false))
      yield kvs.flatMap(({ key, value }) => {
        const [name, rest] = [this.#nameOf(key), readValue(value)]
        return name && rest ? [{ ...name, ...rest }] : []
      })
  }

  async remove(name: PartName): Promise<void> {
    await this.#client.repeat({ compare: [], success: [{ delete: this.#key(name) }], failure: [] })
  }

  async removeBegunBefore(moment: number): Promise<number> {
    let removed = 0
    for await (const kvs of this.#pages(undefined, namesOfPage, true)) {
      const old = kvs.flatMap(({ key }) => this.#nameOf(key) ?? []).filter(({ from }) => from < moment)
      for (const name of old) await this.remove(name)
      removed += old.length
    }
    return removed
  }

  async *#pages(
    node: string | undefined,
    limit: number,
    keysOnly: boolean,
  ): AsyncGenerator<readonly KeyValue[]> {
    const folder = node === undefined ? this.#folder : `${this.#folder}${encodeURIComponent(node)}/`
    const rangeEnd = endOfPrefix(folder)
    for (let key = folder; ;) {
      const { kvs, more } = await this.#client.range({ key, rangeEnd, limit, keysOnly })
      yield kvs
      const last = kvs.at(-1)
      if (!more || !last) return
      key = `${last.key}\0`
    }
  }

  #key({ node, stretch, first, from }: PartName): string {
    return `${this.#folder}${encodeURIComponent(node)}/${stretch}/${String(first).padStart(15, '0')}-${from}`
  }

  #nameOf(key: string): PartName | undefined {
    const [, node, stretch, first, from] =
      /^([^/]+)\/([0-9a-f]+)\/(\d{15})-(\d+)$/.exec(key.slice(this.#folder.length)) ?? []
    if (node === undefined || stretch === undefined) return undefined
    try {
      return { node: decodeURIComponent(node), stretch, first: Number(first), from: Number(from) }
    } catch {
      return undefined
    }
  }
}

/** undefined for what is none, or of a newer version. */
function readValue(text: string): Value | undefined {
  try {
    const { v, last, to, entries, data } = JSON.parse(text) as Value & { readonly v: unknown }
    const sound = v === schema && [last, to, entries].every(Number.isSafeInteger) && typeof data === 'string'
    return sound ? { last, to, entries, data } : undefined
  } catch {
    return undefined
  }
}
