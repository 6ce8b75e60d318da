import { setImmediate as breathe } from 'node:timers/promises'
import type { TenureItem } from '../../../shared/api/address.schema.ts'
import type { Filters, historyTerms, ListingQuery } from '../../../shared/api/listing-query.schema.ts'
import { leaseKey, type LeaseKey } from '../../ipam/records/records.ts'
import { besidePresent, tenureOf, type HistoryEntry, type Tenure } from '../../ipam/records/history-entry.ts'
import { isoTime } from '../../ipam/records/times.ts'
import type { LeaseService } from '../verbs/service.ts'
import { podOf } from './listing.ts'
import { podOfHolder, readFilter, type Listed } from './listing-filter.ts'
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

/**
 * Who had an address from when to when, or which ones the pods had that the filters choose; newest first unless the page is to be
 * sorted otherwise.
 *
 * @param key null: of all addresses
 * @throws Problem IPK_REQUEST_INVALID
 */
export async function listHistory(
  service: LeaseService,
  key: LeaseKey | null,
  terms: HistoryTerms,
): Promise<TenureItem[]> {
  const { limit, sort = 'newest', filters = {} } = terms
  const isAsked = readFilter(filters)
  const lasts = during(terms)
  const found: Tenure[] = []
  for (const one of key ? [key] : await addressesOf(service, filters)) {
    let left = limit
    for await (const tenure of tenures(service, one, terms)) {
      const { entry, state } = tenure
      if (!lasts(tenure) || !isAsked({ ...listedEntry(entry), state })) continue
      found.push(tenure)
      if (--left === 0) break
    }
  }
  if (!key) found.sort((a, b) => b.entry.at - a.entry.at || b.entry.id - a.entry.id)
  return [...cut(found.slice(0, limit).map(tenureItem), sorts, sort, undefined).shown]
}

const listedEntry = ({ holder, node, pool, workload }: HistoryEntry): Listed => ({
  ...{ ...podOfHolder(holder), node, pool: () => pool, owner: workload },
})

/** One whose end is not known may have lasted. */
function during({ since = -Infinity, until = Infinity }: HistoryTerms): (tenure: Tenure) => boolean {
  return ({ entry, to }) => entry.at <= until && (to === null || to > since)
}

/** Addresses that were ever had by what the filters choose, whatever its state was. */
async function addressesOf({ ledger }: LeaseService, filters: Filters): Promise<readonly LeaseKey[]> {
  const isAsked = readFilter({ ...filters, state: undefined })
  const found = new Map<string, LeaseKey>()
  for (let before: number | undefined; ;) {
    const entries = await ledger.history({
      limit: entriesAtOnce,
      ...(before !== undefined && { before }),
    })
    for (const entry of entries) if (isAsked(listedEntry(entry))) found.set(leaseKey(entry), entry)
    before = entries.at(-1)?.id
    if (entries.length < entriesAtOnce) return [...found.values()]
    await breathe()
  }
}

/** The tenures of an address, newest first; of a page those before it. */
async function* tenures(
  { ledger, now }: LeaseService,
  { segment, address }: LeaseKey,
  { limit, before, filters = {} }: HistoryTerms,
): AsyncGenerator<Tenure> {
  // An entry that begins no tenure ends one, so there are at most as many again. The entry before the page tells how its
  // first tenure ended.
  const atOnce = Object.keys(filters).length === 0 ? 2 * limit + 1 : Math.max(2 * limit + 1, entriesAtOnce)
  let next: HistoryEntry | undefined
  for (let end = before === undefined ? undefined : before + 1; ;) {
    const entries = await ledger.history({
      ...{ segment, address, limit: atOnce },
      ...(end !== undefined && { before: end }),
    })
    for (const entry of entries) {
      const tenure = tenureOf(entry, next, now())
      next = entry
      if (tenure && entry.id !== before)
        yield ledger.isShared && ledger.isHeard() ? besidePresent(tenure, ledger.lease(entry)) : tenure
    }
    end = entries.at(-1)?.id
    if (entries.length < atOnce) return
    await breathe()
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
