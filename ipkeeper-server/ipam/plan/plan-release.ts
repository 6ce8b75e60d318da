import type { AddressBook } from '../pools/address-book.ts'
import { releasedLease, withdrawFromHolder, writeLease } from './plan-del.ts'
import { forgetOldest } from './remembered-addresses.ts'
import type { PoolBook } from '../pools/pool-settings.ts'
import type { Change, LeaseRecord } from '../records/records.ts'

/** Ends the keeping of an address before its time: it rests as after a DEL, and its holder no longer has it. */
export function planRelease(book: AddressBook, kept: LeaseRecord, pools: PoolBook, now: number): Change {
  const released = releasedLease({ ...kept, retain: 'release' }, pools, now)
  return [
    writeLease(book, released),
    ...withdrawFromHolder(book, kept.holder, [kept]),
    ...forgetOldest(book, [released]),
  ]
}
