import type { TenureItem } from '../../../shared/api/address.schema.ts'
import type { Filters, historyTerms, ListingQuery } from '../../../shared/api/listing-query.schema.ts'
import type { LeaseKey } from '../../ipam/records/records.ts'
import { besidePresent, tenuresOf, type Tenure } from '../../ipam/records/history-entry.ts'
import { isoTime } from '../../ipam/records/times.ts'
import { podOf } from './listing.ts'
import { podOfHolder, readFilter } from './listing-filter.ts'
import { cut, type Sorts } from './select-listed.ts'
import type { LeaseService } from '../verbs/service.ts'

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
  oldest: ({ id }) => id,
  pod: ({ pod }) => pod && `${pod.namespace}/${pod.name}`,
  node: ({ node }) => node,
}

/** Entries that are read at a time where filters leave most of them out. */
const entriesAtOnce = 1001

/**
 * Who had an address from when to when, newest first unless the page is to be sorted otherwise.
 *
 * @param before ID of the oldest tenure of the page before this one
 * @throws Problem IPK_REQUEST_INVALID
 */
export async function listHistory(
  { ledger, now }: LeaseService,
  { segment, address }: LeaseKey,
  limit: number,
  { before, sort = 'newest', filters = {} }: HistoryTerms = {},
): Promise<TenureItem[]> {
  const isAsked = readFilter(filters)
  // An entry that begins no tenure ends one, so there are at most as many again. The entry before the page tells how its
  // first tenure ended.
  const atOnce = Object.keys(filters).length === 0 ? 2 * limit + 1 : Math.max(2 * limit + 1, entriesAtOnce)
  const found: TenureItem[] = []
  for (let end = before; ;) {
    const entries = await ledger.history({
      ...{ segment, address, limit: atOnce },
      ...(end !== undefined && { before: end + 1 }),
    })
    for (const told of tenuresOf(entries, now())) {
      const { entry, state } = told
      const tenure = ledger.isShared && ledger.isHeard() ? besidePresent(told, ledger.lease(entry)) : told
      const { holder, node, pool } = entry
      if (entry.id !== end && isAsked({ ...podOfHolder(holder), node, state, pool: () => pool }))
        found.push(tenureItem(tenure))
    }
    end = entries.at(-1)?.id
    if (found.length >= limit || entries.length < atOnce) break
  }
  return [...cut(found.slice(0, limit), sorts, sort, undefined).shown]
}

interface HistoryTerms {
  readonly before?: number | undefined
  readonly sort?: HistorySort | undefined
  readonly filters?: Filters
}

export type HistoryListingQuery = ListingQuery<HistorySort> & {
  readonly address: string
  readonly segment?: string
  readonly before?: string
}
