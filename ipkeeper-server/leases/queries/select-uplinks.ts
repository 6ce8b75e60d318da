import type { ListingQuery, uplinkTerms } from '../../../shared/api/listing-query.schema.ts'
import type { UplinkItem, UplinksReply } from '../../../shared/api/uplink.schema.ts'
import { readFilter } from './listing-filter.ts'
import { cut, type Sorts } from './select-listed.ts'

type UplinkSort = (typeof uplinkTerms.sorts)[number]

const sorts: Sorts<UplinkItem, UplinkSort> = {
  bridge: ({ bridge }) => bridge,
  uplink: ({ uplink }) => uplink,
  since: ({ since }) => since,
  // Unfinished ones want to be looked at: they come first.
  state: ({ state }) => (state === 'unfinished' ? 0 : 1),
}

/** By bridge unless something else is asked for. */
export function selectUplinks(
  uplinks: readonly UplinkItem[],
  { sort = 'bridge', limit, ...filters }: ListingQuery<UplinkSort>,
): UplinksReply {
  const isAsked = readFilter(filters)
  const found = uplinks.filter(({ bridge, uplink }) => isAsked({ bridge, uplink }))
  const { shown, rest } = cut(found, sorts, sort, limit)
  return { uplinks: [...shown], ...rest }
}
