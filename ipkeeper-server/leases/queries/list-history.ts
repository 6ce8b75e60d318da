import type { TenureItem } from '../../../shared/api/address.schema.ts'
import type { LeaseKey } from '../../ipam/records/records.ts'
import { tenuresOf, type Tenure } from '../../ipam/records/history-entry.ts'
import { isoTime } from '../../ipam/records/times.ts'
import { podOf } from './listing.ts'
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

/**
 * Who had an address from when to when, newest first.
 *
 * @param before ID of the last tenure of the page before this one
 */
export async function listHistory(
  { ledger, now }: LeaseService,
  { segment, address }: LeaseKey,
  limit: number,
  before?: number,
): Promise<TenureItem[]> {
  // An entry that begins no tenure ends one, so there are at most as many again. The entry before the page tells how its
  // first tenure ended.
  const entries = await ledger.history({
    ...{ segment, address, limit: 2 * limit + 1 },
    ...(before !== undefined && { before: before + 1 }),
  })
  return tenuresOf(entries, now())
    .filter(({ entry }) => entry.id !== before)
    .slice(0, limit)
    .map(tenureItem)
}
