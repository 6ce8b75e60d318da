import type { TenureItem } from '../../../shared/api/address.schema.ts'
import type { Filters, historyTerms, ListingQuery } from '../../../shared/api/listing-query.schema.ts'
import type { LeaseKey } from '../../ipam/records/records.ts'
import { besidePresent, tenureOf, type HistoryEntry, type Tenure } from '../../ipam/records/history-entry.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { isoTime } from '../../ipam/records/times.ts'
import type { LeaseService } from '../verbs/service.ts'
import { podOf } from './listing.ts'
import { notKnown } from './history-coverage.ts'
import {
  clusterHistory,
  listedEntry,
  ownHistory,
  type Coverage,
  type HistorySource,
} from './history-source.ts'
import { readFilter } from './listing-filter.ts'
import { cut, type Sorts } from './select-listed.ts'

function tenureItem({ entry, state, to, ended }: Tenure): TenureItem {
  const { id, segment, address, at, pool, holder, node, source, until, since } = entry
  const containerId = holder.kind === 'container' ? holder.containerId : entry.containerId
  return {
    ...{ id, segment, address, from: isoTime(at), to: to === null ? null : isoTime(to), state, pool },
    ...{ network: holder.network, pod: podOf(entry), containerId, ifname: holder.ifname, node, source },
    ...{ until: until === null ? null : isoTime(until), holderSince: isoTime(since), ended },
  }
}

type HistorySort = (typeof historyTerms.sorts)[number]

const sorts: Sorts<TenureItem, HistorySort> = {
  newest: 'as they are',
  oldest: ({ from, id }) => `${from} ${String(id).padStart(16, '0')}`,
  pod: ({ pod }) => pod && `${pod.namespace}/${pod.name}`,
  node: ({ node }) => node,
}

/** What is asked of the history. Moments are milliseconds since the epoch. */
export interface HistoryTerms {
  /** At most so many tenures, the newest ones. */
  readonly limit: number
  /** Of one address: ID of the oldest tenure of the page before this one. */
  readonly before?: number | undefined
  readonly sort?: HistorySort | undefined
  readonly filters?: Filters
  /** Only what lasted at some moment of this time. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

/** Entries that are read at a time where filters leave most of them out. */
const entriesAtOnce = 1001

export interface ListedHistory {
  readonly history: TenureItem[]
  readonly coverage: Coverage
  /** Of which node and time that was asked for there is no history, in one line each. */
  readonly notKnown: string[]
}

/**
 * Who had an address from when to when, or which ones the pods had that the filters choose; newest first unless the page is to be
 * sorted otherwise. On all nodes, where they share a store.
 *
 * @param key null: of all addresses
 * @throws Problem IPK_REQUEST_INVALID
 */
export async function listHistory(
  service: LeaseService,
  key: LeaseKey | null,
  terms: HistoryTerms,
): Promise<ListedHistory> {
  const { limit, since, filters = {} } = terms
  const source = await sourceOf(service, key, filters)
  const history = await listTenures(service, source, terms)
  const { coverage, lacks } = source
  const lines = notKnown(coverage, { since, isCut: history.length >= limit })
  return { history, coverage: [...coverage], notKnown: lacks === undefined ? lines : [lacks, ...lines] }
}

/** The same of one address, as far as this node has recorded it. */
export async function listOwnHistory(
  service: LeaseService,
  key: LeaseKey,
  terms: HistoryTerms,
): Promise<TenureItem[]> {
  return await listTenures(service, await ownHistory(service, key, {}), terms)
}

async function sourceOf(
  service: LeaseService,
  key: LeaseKey | null,
  filters: Filters,
): Promise<HistorySource> {
  const { history } = service
  if (!history) return await ownHistory(service, key, filters)
  try {
    return await clusterHistory(service, history, key, filters)
  } catch (error) {
    if (error instanceof Problem && error.code === 'IPK_REQUEST_INVALID') throw error
    const reason = error instanceof Error ? error.message : String(error)
    const own = await ownHistory(service, key, filters)
    return { ...own, lacks: `not known of other nodes: what they have recorded cannot be read (${reason})` }
  }
}

async function listTenures(
  service: LeaseService,
  source: HistorySource,
  terms: HistoryTerms,
): Promise<TenureItem[]> {
  const { limit, sort = 'newest', filters = {} } = terms
  const isAsked = readFilter(filters)
  const lasts = during(terms)
  const found: Tenure[] = []
  for (const key of source.keys) {
    let left = limit
    for await (const tenure of tenures(service, source, key, terms)) {
      const { entry, state } = tenure
      if (!lasts(tenure) || !isAsked({ ...listedEntry(entry), state })) continue
      found.push(tenure)
      if (--left === 0) break
    }
  }
  if (source.keys.length > 1) found.sort((a, b) => b.entry.at - a.entry.at || b.entry.id - a.entry.id)
  return [...cut(found.slice(0, limit).map(tenureItem), sorts, sort, undefined).shown]
}

/** One whose end is not known may have lasted. */
function during({ since = -Infinity, until = Infinity }: HistoryTerms): (tenure: Tenure) => boolean {
  return ({ entry, to }) => entry.at <= until && (to === null || to > since)
}

/** The tenures of an address, newest first; of a page those before it. */
async function* tenures(
  { ledger, now }: LeaseService,
  source: HistorySource,
  key: LeaseKey,
  { limit, before, filters = {} }: HistoryTerms,
): AsyncGenerator<Tenure> {
  // An entry that begins no tenure ends one, so there are at most as many again. The entry before the page tells how its
  // first tenure ended.
  const atOnce = Object.keys(filters).length === 0 ? 2 * limit + 1 : Math.max(2 * limit + 1, entriesAtOnce)
  let next: HistoryEntry | undefined
  for await (const entry of source.entries(key, { atOnce, before })) {
    const tenure = tenureOf(entry, next, now())
    next = entry
    if (tenure && entry.id !== before)
      yield ledger.isShared && ledger.isHeard() ? besidePresent(tenure, ledger.lease(entry)) : tenure
  }
}

export type HistoryListingQuery = ListingQuery<HistorySort> & {
  readonly address?: string
  readonly segment?: string
  readonly before?: string
  readonly at?: string
  readonly since?: string
  readonly until?: string
}
