import { formatAddress } from '../../../shared/net/address.ts'
import { parseCidr } from '../../../shared/net/cidr.ts'
import type { AddRequest, AddTerms } from '../request/add-request.ts'
import type { AddressBook } from '../pools/address-book.ts'
import type { Pool } from '../pools/pool.ts'
import type { PoolBook } from '../pools/pool-settings.ts'
import { inheritable, openReservations } from '../choose/choose-address.ts'
import type { AddContext } from '../choose/add-context.ts'
import { claimProblem } from '../choose/claim-problems.ts'
import { setOf } from '../choose/skipped-addresses.ts'
import { locateAddress } from '../pools/pool-record.ts'
import { canGive, type Offer } from '../choose/offers.ts'
import { describeHolder, describeReservation, isTimeOver, type LeaseKey } from '../records/records.ts'

/** An ADD whose addresses another IPAM plugin is to give. */
export interface Delegation {
  /** Type of that plugin. */
  readonly type: string
  readonly reason: string
}

/**
 * Whether an ADD goes to the plugin of `ipam.fallback`: there is one, the pod asks for nothing (no address, pool,
 * retention or MAC), and nothing is kept or reserved for it or its workload. undefined when the address is ours to give.
 */
export function planDelegation(context: AddContext, offers: readonly Offer[]): Delegation | undefined {
  const { fallback, pod } = context.request
  if (fallback === null) return undefined
  const asks =
    pod.addresses.length + pod.candidates.length + pod.pools.length > 0 ||
    pod.retain !== undefined ||
    pod.mac !== undefined
  if (asks || context.takeover.movable.length > 0) return undefined
  const promised = [...openReservations(context), ...inheritable(context)]
  if (offers.some(offer => canGive(offer, promised))) return undefined
  return { type: fallback, reason: `the pod asks for nothing: left to the fallback ${fallback}` }
}

/** The pool that gives an address here, also where the store has no record of it, as after a loss or before its network's first ADD. */
function poolThatGives(
  { segment, address }: LeaseKey,
  { pools }: PoolBook,
  inline: Pool | undefined,
): string | undefined {
  const own = [...(inline ? [inline] : []), ...pools.map(({ pool }) => pool)]
  return own.find(pool => pool.segment === segment && setOf(pool, address))?.name
}

/**
 * Whether what the fallback gave may stand: nothing that a pool of the segment could give, and nothing that somebody has,
 * keeps or was promised, be it outside the present ranges. Otherwise one address would be in two books.
 *
 * @throws Problem IPK_FALLBACK_CLASH
 */
export function checkGiven(
  book: AddressBook,
  { fallback, given, inline }: Pick<AddRequest, 'fallback' | 'given' | 'inline'>,
  { pools, now }: Pick<AddTerms, 'pools' | 'now'>,
): void {
  const segment = inline?.segment ?? 'default'
  for (const text of given) {
    const address = parseCidr(text)?.address
    if (!address) continue
    const key = { segment, address: formatAddress(address) }
    const lease = book.lease(key)
    const reservation = book.reservation(key)
    const place = locateAddress(book, segment, address)
    const pool = place.kind === 'usable' ? place.pool : poolThatGives(key, pools, inline)
    const held = lease && lease.state !== 'cooling' && !isTimeOver(lease, now)
    const why = held
      ? `${describeHolder(lease.holder)} has it`
      : reservation
        ? `it is reserved for ${describeReservation(reservation)}`
        : pool !== undefined && `the ranges of network ${pool} hold it`
    if (why !== false) throw claimProblem.fallbackClash(fallback ?? '', text, why)
  }
}
