import type { AddressBook } from '../pools/address-book.ts'
import { forgetOldest } from './remembered-addresses.ts'
import { policyOf, type PoolBook } from '../pools/pool-settings.ts'
import { holderKey, leaseKey, type Change, type LeaseRecord, type Write } from '../records/records.ts'

/**
 * Tidies up one kept address whose time is over: its record goes, and its holder's when that keeps nothing else. A pool that
 * gives the least recently used address remembers when this one was.
 */
export function planExpiry(book: AddressBook, lease: LeaseRecord, pools: PoolBook): Change {
  const key = leaseKey(lease)
  const writes = endOf(book, lease, pools)
  const holder = book.holder(lease.holder)
  const keeps = holder?.leases.some(own => leaseKey(own) === key)
  if (!holder || !keeps || holder.attachment) return writes
  const leases = holder.leases.filter(own => leaseKey(own) !== key)
  const record = leases.length === 0 ? null : { ...holder, generation: holder.generation + 1, leases }
  return [...writes, { kind: 'holder', key: holderKey(lease.holder), expect: holder.generation, record }]
}

function endOf(book: AddressBook, lease: LeaseRecord, pools: PoolBook): Write[] {
  const key = leaseKey(lease)
  const expect = lease.generation
  if (policyOf(pools, lease.pool).strategy !== 'least-recently-used')
    return [{ kind: 'lease', key, expect, record: null }]
  const record: LeaseRecord = { ...lease, generation: expect + 1, state: 'cooling', remembered: true }
  return [{ kind: 'lease', key, expect, record }, ...forgetOldest(book, [record])]
}
