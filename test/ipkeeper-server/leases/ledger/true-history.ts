import {
  endOfEvent,
  type HistoryEntry,
  tenuresOf,
} from '../../../../ipkeeper-server/ipam/records/history-entry.ts'
import { holderKey, isTimeOver, leaseKey } from '../../../../ipkeeper-server/ipam/records/records.ts'
import type { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'

/** The newest entry of every address tells what its lease is now, and no tenure reaches into the next. Throws what does not hold. */
export async function assertTrueHistory(ledger: Ledger, now: number, when: string): Promise<void> {
  const entries = await ledger.history({ limit: Number.MAX_SAFE_INTEGER })
  const newest = new Map<string, HistoryEntry>()
  for (const entry of entries.toReversed()) newest.set(leaseKey(entry), entry)
  for (const lease of ledger.leases()) {
    if (isTimeOver(lease, now)) continue
    const entry = newest.get(leaseKey(lease))
    const told = entry && [
      entry.event === 'moved' ? 'bound' : entry.event,
      holderKey(entry.holder),
      entry.containerId,
      entry.until,
    ]
    const is = [lease.state, holderKey(lease.holder), lease.attachment?.containerId ?? null, lease.until]
    if (JSON.stringify(told) !== JSON.stringify(is))
      throw new Error(
        `${when}: ${lease.address} is ${is.join(' ')}, history says ${told?.join(' ') ?? 'nothing'}`,
      )
  }
  for (const [key, entry] of newest) {
    const end = endOfEvent(entry)
    if ((end === null || end > now) && !ledger.lease(entry))
      throw new Error(`${when}: history says that ${key} is ${entry.event}, and there is no lease`)
  }
  const begun = new Map<string, number>()
  for (const { entry, to } of tenuresOf(entries, now)) {
    if (entry.since > entry.at || (to ?? now) < entry.at)
      throw new Error(`${when}: ${entry.address} ends too early`)
    if ((to ?? now) > (begun.get(leaseKey(entry)) ?? Infinity))
      throw new Error(`${when}: two had ${entry.address} at a time`)
    begun.set(leaseKey(entry), entry.at)
  }
}
