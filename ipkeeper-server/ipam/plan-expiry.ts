import type { AddressBook } from './address-book.ts'
import { holderKey, leaseKey, type Change, type LeaseRecord, type Write } from './records.ts'

/** Tidies up one kept address whose time is over: its record goes, and its holder's when that keeps nothing else. */
export function planExpiry(book: AddressBook, lease: LeaseRecord): Change {
  const key = leaseKey(lease)
  const writes: Write[] = [{ kind: 'lease', key, expect: lease.generation, record: null }]
  const holder = book.holder(lease.holder)
  const keeps = holder?.leases.some(own => leaseKey(own) === key)
  if (!holder || !keeps || holder.attachment) return writes
  const leases = holder.leases.filter(own => leaseKey(own) !== key)
  const record = leases.length === 0 ? null : { ...holder, generation: holder.generation + 1, leases }
  return [...writes, { kind: 'holder', key: holderKey(lease.holder), expect: holder.generation, record }]
}
