import { formatAddress, type Address } from '../../../shared/net/address.ts'
import type { AddressBook } from '../pools/address-book.ts'
import { formatTime } from '../records/times.ts'
import { noOwnAddresses, type OwnAddress, type OwnAddresses } from '../pools/own-addresses.ts'
import { usableIn, type Pool, type RangeSet } from '../pools/pool.ts'
import {
  describeHolder,
  describeReservation,
  isTimeOver,
  type LeaseKey,
  type LeaseRecord,
} from '../records/records.ts'

/** An address that dynamic choice passed over. */
export interface SkippedAddress {
  readonly address: string
  /** Who has it, keeps it or let it rest. */
  readonly text: string
}

export interface SkippedAddresses {
  /** The first ones, in the order in which they were looked at. */
  readonly shown: readonly SkippedAddress[]
  /** How many there are beside those. */
  readonly more: bigint
}

function describeLease(lease: LeaseRecord, now: number): string {
  const { holder, node, state, until } = lease
  const who = describeHolder(holder)
  const end = until === null ? '' : ` until ${formatTime(until)}`
  if (state === 'bound') return `held by ${who} on node ${node}`
  if (state === 'held' && !isTimeOver(lease, now))
    return `kept for ${who}${end === '' ? ' without an end' : end}`
  if (isTimeOver(lease, now)) return `used before, last by ${who}`
  return `cooling down${end}; it was released by ${who}${lease.named ? ', which had asked for it by name' : ''}`
}

function whyPassedOver(book: AddressBook, key: LeaseKey, own: OwnAddress | undefined, now: number): string {
  const lease = book.lease(key)
  const reservation = book.reservation(key)
  return [
    ...(own ? [`the node has it itself, on link ${own.link}`] : []),
    ...(lease ? [describeLease(lease, now)] : []),
    ...(reservation ? [`reserved for ${describeReservation(reservation)}`] : []),
  ].join('; ')
}

/** Which choice is explained, and how far. */
export interface SkipTerms {
  readonly chosen: Address
  readonly now: number
  /** So many addresses are looked at. */
  readonly most: number
  readonly own?: OwnAddresses
}

/**
 * What dynamic choice passed over in a range set on its way to `chosen`: all below it when nobody had that before, else all
 * others, since then none was left that nobody had had. Looks at no more than `most` addresses, however many there are.
 */
export function skippedAddresses(
  book: AddressBook,
  { segment }: Pick<Pool, 'segment'>,
  set: RangeSet,
  { chosen, now, most, own = noOwnAddresses }: SkipTerms,
): SkippedAddresses {
  const wasRecorded = book.lease({ segment, address: formatAddress(chosen) }) !== undefined
  const shown: SkippedAddress[] = []
  let passed = 0n
  for (const range of set) {
    for (const { first, last } of range.usable) {
      const reached = range.family === chosen.family && first <= chosen.value && chosen.value <= last
      passed += (reached && !wasRecorded ? chosen.value : last + 1n) - first
      for (let value = first; value <= last && shown.length < most; value++) {
        if (reached && value === chosen.value) {
          if (wasRecorded) continue
          break
        }
        const passedOver: Address = { family: range.family, value }
        const address = formatAddress(passedOver)
        const text = whyPassedOver(book, { segment, address }, own.find(passedOver), now)
        shown.push({ address, text })
      }
      if (!reached) continue
      if (!wasRecorded) return { shown, more: passed - BigInt(shown.length) }
      passed--
    }
  }
  return { shown, more: passed - BigInt(shown.length) }
}

/** The range set of a pool that can give a recorded address; undefined when none can. */
export function setOf({ rangeSets }: Pick<Pool, 'rangeSets'>, address: string): RangeSet | undefined {
  return rangeSets.find(set => usableIn(set, address) !== undefined)
}
