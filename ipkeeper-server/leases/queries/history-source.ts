import { setImmediate as breathe } from 'node:timers/promises'
import type { HistoryReply } from '../../../shared/api/address.schema.ts'
import type { Filters } from '../../../shared/api/listing-query.schema.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import { mergeHistories, type RecordedEntry } from '../../ipam/records/merge-histories.ts'
import { leaseKey, type LeaseKey } from '../../ipam/records/records.ts'
import { isoTime } from '../../ipam/records/times.ts'
import {
  toldAtLeastEvery,
  unpackEntries,
  type HistoryArchive,
  type HistoryPart,
} from '../../store/history-archive.ts'
import type { LeaseService } from '../verbs/service.ts'
import { podOfHolder, readFilter, type Listed } from './listing-filter.ts'

/** Entries that are read at a time. */
const entriesAtOnce = 1001

/** Of which time the history of which node is whole. */
export type Coverage = HistoryReply['coverage']

/** Where entries come from: this node's own ledger, or what all nodes have sent to the engine. */
export interface HistorySource {
  /** Addresses that were asked for. */
  readonly keys: readonly LeaseKey[]
  readonly coverage: Coverage
  /** Why other nodes are not in it. */
  readonly lacks?: string
  /** Of one address, newest first; with `before` from the entry of that ID on. */
  entries(
    key: LeaseKey,
    page: { readonly atOnce: number; readonly before?: number | undefined },
  ): AsyncIterable<HistoryEntry>
}

export const listedEntry = ({ holder, node, pool, workload }: HistoryEntry): Listed => ({
  ...{ ...podOfHolder(holder), node, pool: () => pool, owner: workload },
})

/** An address may have been had by what the filters choose in whatever state. */
const entryFilter = (filters: Filters): ((entry: HistoryEntry) => boolean) => {
  const isAsked = readFilter({ ...filters, state: undefined })
  return entry => isAsked(listedEntry(entry))
}

// ---- This node's own

/** @param key null: what was ever had by what the filters choose */
export async function ownHistory(
  service: Pick<LeaseService, 'ledger' | 'node'>,
  key: LeaseKey | null,
  filters: Filters,
): Promise<HistorySource> {
  const { ledger, node } = service
  const begins = await ledger.historyBegins()
  return {
    keys: key ? [key] : [...(await ownKeys(service, filters)).values()],
    coverage: [{ node, from: begins ? isoTime(begins.at) : null, to: null }],
    entries: (one, page) => ownEntries(service, one, page),
  }
}

async function* ownEntries(
  { ledger }: Pick<LeaseService, 'ledger'>,
  { segment, address }: LeaseKey,
  { atOnce, before }: { readonly atOnce: number; readonly before?: number | undefined },
): AsyncGenerator<HistoryEntry> {
  for (let end = before === undefined ? undefined : before + 1; ;) {
    const query = { segment, address, limit: atOnce, ...(end !== undefined && { before: end }) }
    const entries = await ledger.history(query)
    yield* entries
    end = entries.at(-1)?.id
    if (entries.length < atOnce) return
    await breathe()
  }
}

async function ownKeys(
  { ledger }: Pick<LeaseService, 'ledger'>,
  filters: Filters,
): Promise<Map<string, LeaseKey>> {
  const isAsked = entryFilter(filters)
  const found = new Map<string, LeaseKey>()
  for (let before: number | undefined; ;) {
    const entries = await ledger.history({ limit: entriesAtOnce, ...(before !== undefined && { before }) })
    for (const entry of entries) if (isAsked(entry)) found.set(leaseKey(entry), entry)
    before = entries.at(-1)?.id
    if (entries.length < entriesAtOnce) return found
    await breathe()
  }
}

// ---- That of all nodes

/** As ownHistory, of all nodes; what the engine does not have of this node's yet is taken from its ledger. */
export async function clusterHistory(
  service: Pick<LeaseService, 'ledger' | 'node' | 'now'>,
  archive: HistoryArchive,
  key: LeaseKey | null,
  filters: Filters,
): Promise<HistorySource> {
  const { ledger, node, now } = service
  const keys = key
    ? new Map([[leaseKey(key), key]])
    : new Map([...(await ownKeys(service, filters)), ...(await sentKeys(archive, filters))])
  const parts: Omit<HistoryPart, 'data'>[] = []
  const found = new Map<string, RecordedEntry[]>([...keys.keys()].map(one => [one, []]))
  const isMeant = anyOf([...keys.values()])
  for await (const page of archive.list())
    for (const { data, ...part } of page) {
      parts.push(part)
      for (const entry of await unpackEntries(data, isMeant))
        found.get(leaseKey(entry))?.push({ ...entry, recordedBy: part.node })
    }
  for (const [one, entries] of found) {
    const own = ownEntries(service, keys.get(one) ?? { segment: '', address: '' }, { atOnce: entriesAtOnce })
    for await (const entry of own) entries.push({ ...entry, recordedBy: node })
  }
  const begins = await ledger.historyBegins()
  const others = [...ledger.nodes()].map(({ name }) => name)
  return {
    keys: [...keys.values()],
    coverage: coverageOf(parts, { node, begins: begins?.at, others, now: now() }),
    entries: async function* (one, { before = Infinity }) {
      const merged = mergeHistories(found.get(leaseKey(one)) ?? [])
      yield* await Promise.resolve(merged.filter(({ id }) => id <= before))
    },
  }
}

/** Addresses are few, and JSON has them as they are written: looking for the text saves reading most lines. */
function anyOf(keys: readonly LeaseKey[]): (line: string) => boolean {
  const texts = [...new Set(keys.map(({ address }) => `"${address}"`))]
  return texts.length > 50 ? () => true : line => texts.some(text => line.includes(text))
}

async function sentKeys(archive: HistoryArchive, filters: Filters): Promise<Map<string, LeaseKey>> {
  const isAsked = entryFilter(filters)
  const found = new Map<string, LeaseKey>()
  for await (const page of archive.list())
    for (const { data } of page)
      for (const entry of await unpackEntries(data))
        if (isAsked(entry)) found.set(leaseKey(entry), { segment: entry.segment, address: entry.address })
  return found
}

interface Known {
  /** This one. */
  readonly node: string
  readonly begins: number | undefined
  /** Nodes that the ledger knows. */
  readonly others: readonly string[]
  readonly now: number
}

/** Of this node its own ledger tells up to now; of another what it has sent, until it was heard of last. */
export function coverageOf(
  parts: readonly Pick<HistoryPart, 'node' | 'from' | 'to'>[],
  { node, begins, others, now }: Known,
): Coverage {
  const byNode = Map.groupBy(parts, part => part.node)
  return [...new Set([node, ...others, ...byNode.keys()])].sort().map(name => {
    const own = byNode.get(name) ?? []
    const from = Math.min(...own.map(part => part.from), name === node ? (begins ?? Infinity) : Infinity)
    const to = Math.max(...own.map(part => part.to))
    return {
      node: name,
      from: from === Infinity ? null : isoTime(from),
      to: name === node || from === Infinity || now - to < toldAtLeastEvery ? null : isoTime(to),
    }
  })
}
