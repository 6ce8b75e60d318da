import { parseAddress } from '../../../shared/net/address.ts'
import type { HistoryEntry, HistoryEventName } from '../records/history-entry.ts'
import { poolOf } from '../pools/pool-record.ts'
import {
  holderKey,
  leaseKey,
  macGuardKey,
  quotaKey,
  type Holder,
  type HolderRecord,
  type LeaseRecord,
  type MacRecord,
  type NodeRecord,
  type PoolRecord,
  type QuotaRecord,
  type RecordKind,
  type ReservationRecord,
} from '../records/records.ts'

function isHolder(holder: Holder): boolean {
  const words =
    holder.kind === 'pod'
      ? [holder.network, holder.namespace, holder.name, holder.ifname]
      : [holder.kind, holder.network, holder.containerId, holder.ifname]
  return words.every(word => typeof word === 'string')
}

/** What a record would be found under. Throws, whatever it throws, when it is none. */
function keyOf(kind: Exclude<RecordKind, 'attachment'>, record: object): string | undefined {
  switch (kind) {
    case 'lease': {
      const lease = record as LeaseRecord
      const { state, address, holder, attachment, pool, node } = lease
      const sound =
        ['bound', 'held', 'cooling'].includes(state) &&
        parseAddress(address) !== undefined &&
        isHolder(holder) &&
        (state === 'bound') === (attachment !== null) &&
        [pool, node].every(word => typeof word === 'string')
      return sound ? leaseKey(lease) : undefined
    }
    case 'holder': {
      const { holder, leases } = record as HolderRecord
      return isHolder(holder) && leases.every(lease => parseAddress(lease.address))
        ? holderKey(holder)
        : undefined
    }
    case 'reservation': {
      const reservation = record as ReservationRecord
      return parseAddress(reservation.address) ? leaseKey(reservation) : undefined
    }
    case 'pool': {
      const pool = record as PoolRecord
      if (pool.ranges.length > 0) poolOf(pool)
      return pool.name
    }
    case 'quota':
      return quotaKey(record as QuotaRecord)
    case 'mac':
      return macGuardKey(record as MacRecord)
    case 'node':
      return (record as NodeRecord).name
  }
}

/**
 * Whether a record that other nodes wrote can be worked with: what nodes share, people can write to as well, and one bad
 * record must not end the daemons of all.
 */
export function isSoundRecord(kind: Exclude<RecordKind, 'attachment'>, key: string, value: unknown): boolean {
  try {
    const record = value as { readonly generation: number }
    return Number.isInteger(record.generation) && record.generation > 0 && keyOf(kind, record) === key
  } catch {
    return false
  }
}

const eventNames: readonly HistoryEventName[] = ['bound', 'moved', 'held', 'cooling', 'free', 'undone']

/** Whether an entry of the history can be worked with. Throws, whatever it throws, when it is none. */
export function isSoundEntry({ event, address, at, since, holder, until }: HistoryEntry): boolean {
  return (
    eventNames.includes(event) &&
    parseAddress(address) !== undefined &&
    isHolder(holder) &&
    [at, since].every(Number.isFinite) &&
    (until === null || Number.isFinite(until))
  )
}
