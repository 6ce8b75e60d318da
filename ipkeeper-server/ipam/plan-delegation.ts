import type { AddRequest } from './add-request.ts'
import type { AddressBook } from './address-book.ts'
import type { Takeover } from './plan-takeover.ts'
import { usableIn, type Pool } from './pool.ts'
import type { Holder } from './records.ts'

/** An ADD whose addresses another IPAM plugin is to give. */
export interface Delegation {
  /** Type of that plugin. */
  readonly type: string
  readonly reason: string
}

function isReservedFor(book: AddressBook, holder: Holder, pool: Pool): boolean {
  return (
    holder.kind === 'pod' &&
    book
      .reservationsFor(holder.namespace, holder.name)
      .some(
        reservation =>
          reservation.segment === pool.segment &&
          pool.rangeSets.some(set => usableIn(set, reservation.address) !== undefined),
      )
  )
}

/**
 * Whether an ADD goes to the plugin of `ipam.fallback`: there is one, the pod asks for nothing (no address, retention or
 * MAC), and nothing is kept or reserved for it. undefined when the address is ours to give.
 */
export function planDelegation(
  book: AddressBook,
  request: AddRequest,
  takeover: Takeover,
): Delegation | undefined {
  const { fallback, pod, holder, pool } = request
  if (fallback === null) return undefined
  const asks = pod.addresses.length > 0 || pod.retain !== undefined || pod.mac !== undefined
  if (asks || takeover.movable.length > 0 || isReservedFor(book, holder, pool)) return undefined
  return { type: fallback, reason: `the pod asks for nothing: left to the fallback ${fallback}` }
}
