import { mostAddresses, type BulkItem, type BulkVerdict } from '../../../shared/api/bulk.schema.ts'
import { formatAddress } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { isFree } from '../../ipam/choose/choose-address.ts'
import { unreserveLine } from '../../ipam/choose/claim-problems.ts'
import { locateAddress } from '../../ipam/pools/pool-record.ts'
import { isSegmentName } from '../../ipam/pools/pool.ts'
import {
  describeHolder,
  describeNote,
  describeReservation,
  isTimeOver,
  isReservedFor,
  type Change,
  type LeaseKey,
  type ReservationRecord,
} from '../../ipam/records/records.ts'
import { formatReservationOwner, sameOwner } from '../../ipam/records/reservation-owner.ts'
import { describeStanding, remedyFor } from '../../ipam/records/standing.ts'
import { formatTime } from '../../ipam/records/times.ts'
import { parseAddressRun } from '../../ipam/request/parse-addresses.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import { planEnd } from './release.ts'
import { planReservation, planUnreservation, readLeaseKey, type NamedAddress } from './reserve.ts'
import type { LeaseService } from './service.ts'
import { standingOfLease } from './standing-of-lease.ts'

/** What a request names at a place of its list. */
interface Named {
  readonly addresses: string
  readonly segment?: string | undefined
}

/** What would be done to one address, and what is said of it. */
interface Planned {
  readonly verdict: Exclude<BulkVerdict, 'refused'>
  readonly change: Change
  readonly reason: string
  readonly hint?: string
}

/** Decides about one address of an item. Throws the problem by which it is refused. */
export type BulkAction<Item> = (service: LeaseService, named: NamedAddress, item: Item) => Planned

/** So many changes are made side by side: in the embedded store they share a transaction. */
const atOnce = 64

function tooMany(what: string): Problem {
  return new Problem('IPK_REQUEST_INVALID', `${what}: more than ${mostAddresses} addresses at once`, {
    hint: 'name fewer; to keep a range from pods, write "exclude" in its pool',
  })
}

/** @throws Problem IPK_REQUEST_INVALID, IPK_ADDRESS_INVALID */
function namedBy({ addresses: text, segment = 'default' }: Named): readonly NamedAddress[] {
  if (!isSegmentName(segment)) readLeaseKey(segment, text)
  const run = parseAddressRun(text)
  if ('fault' in run)
    throw new Problem('IPK_ADDRESS_INVALID', run.reason, {
      hint: 'write an address, such as 10.22.0.50, or a range, such as 10.22.0.50-10.22.0.60',
    })
  const { family, first, last } = run
  if (last - first >= BigInt(mostAddresses)) throw tooMany(text)
  return Array.from({ length: Number(last - first) + 1 }, (_, index) => {
    const address = { family, value: first + BigInt(index) }
    return { key: { segment, address: formatAddress(address) }, address }
  })
}

/** Every address once, in the order of the list. */
function allNamed<Item extends Named>(items: readonly Item[]): readonly (NamedAddress & { item: Item })[] {
  const seen = new Map<string, string>()
  const all: (NamedAddress & { item: Item })[] = []
  for (const item of items) {
    for (const named of namedBy(item)) {
      const { segment, address } = named.key
      const before = seen.get(`${segment} ${address}`)
      if (before !== undefined)
        throw new Problem(
          'IPK_REQUEST_INVALID',
          `${address} is named twice: by ${before} and ${item.addresses}`,
          {
            hint: 'name each address once',
          },
        )
      seen.set(`${segment} ${address}`, item.addresses)
      all.push({ ...named, item })
    }
    if (all.length > mostAddresses) throw tooMany(`${items.length} items`)
  }
  return all
}

async function decide<Item>(
  service: LeaseService,
  { apply, action }: { readonly apply: boolean; readonly action: BulkAction<Item> },
  { item, ...named }: NamedAddress & { readonly item: Item },
): Promise<BulkItem> {
  const plan = (): Planned => action(service, named, item)
  try {
    const { verdict, reason, hint = '' } = apply ? await commitPlan(service.ledger, plan) : plan()
    return { ...named.key, verdict, reason, hint, code: null }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code, message, hint } = error
    return { ...named.key, verdict: 'refused', reason: message, hint, code }
  }
}

/**
 * Says what would become of each address that the items name, or does it, address by address: when one cannot be done, the
 * others are done all the same, and doing it again is no error.
 *
 * @throws Problem IPK_REQUEST_INVALID, IPK_ADDRESS_INVALID: nothing is done
 */
export async function inBulk<Item extends Named>(
  service: LeaseService,
  { apply, items }: { readonly apply: boolean; readonly items: readonly Item[] },
  action: BulkAction<Item>,
): Promise<BulkItem[]> {
  const all = allNamed(items)
  const done: BulkItem[] = []
  for (let from = 0; from < all.length; from += atOnce)
    done.push(
      ...(await Promise.all(
        all.slice(from, from + atOnce).map(one => decide(service, { apply, action }, one)),
      )),
    )
  return done
}

/** Of an item with an owner and perhaps a note. */
export const reserving: BulkAction<Named & { owner: string; note?: string | undefined }> = (
  service,
  { key, address },
  { owner, note },
) => {
  const { record, isSame, change } = planReservation(service, { ...key, owner, note })
  const place = locateAddress(service.ledger, key.segment, address)
  const unknown = place.kind === 'outside' ? `; no known pool of segment ${key.segment} has it` : ''
  const text = `for ${formatReservationOwner(record)}${unknown}`
  return isSame
    ? { verdict: 'unchanged', change, reason: `already reserved ${text}` }
    : { verdict: 'change', change, reason: text }
}

/** Gives an address to another owner: at once where nobody has it, else when whoever has it is gone (docs/adr/0028). */
export const moving: BulkAction<Named & { owner: string; note?: string | undefined }> = (
  service,
  { key, address },
  { owner, note },
) => {
  const { ledger } = service
  const before = ledger.reservation(key)
  const { record, isSame, change } = planReservation(service, { ...key, owner, note, moves: true })
  if (locateAddress(ledger, key.segment, address).kind === 'outside')
    throw new Problem('IPK_ADDRESS_OUTSIDE', `no known pool of segment ${key.segment} has ${key.address}`, {
      hint: 'a pool becomes known with the first ADD of its network; see: ipkeeperctl pools',
    })
  const whom = formatReservationOwner(record)
  const lost =
    before && !sameOwner(before, record)
      ? `; it is no longer reserved for ${describeReservation(before)}`
      : ''
  return {
    ...{ verdict: isSame ? 'unchanged' : 'change', change },
    ...fateOf(service, key, record, isSame ? `moved to ${whom} already` : `to ${whom}${lost}`),
  }
}

/** What becomes of an address that is moved, and what to do next. */
function fateOf(
  service: LeaseService,
  key: LeaseKey,
  owner: ReservationRecord,
  says: string,
): Pick<Planned, 'reason' | 'hint'> {
  const lease = service.ledger.lease(key)
  const next = `start ${formatReservationOwner(owner)} again; undo: ${unreserveLine(key)}`
  if (!lease || isFree(lease, service.now())) return { reason: `${says}: not assigned`, hint: next }
  const who = describeHolder(lease.holder)
  if (isReservedFor(owner, lease.holder, lease.workload ?? null))
    return { reason: `${says}: assigned to ${who}`, hint: `undo: ${unreserveLine(key)}` }
  if (lease.state === 'held')
    return { reason: `${says}: kept for ${who}, which will not get it back`, hint: next }
  const standing = standingOfLease(service, lease)
  if (standing.kind === 'ended' || standing.kind === 'lost')
    return { reason: `${says}: the sandbox of ${who} on node ${lease.node} is gone`, hint: next }
  const reason = `${says}: in use by ${who} on node ${lease.node} until that pod is gone; its next pod will not get it`
  return { reason, hint: `${remedyFor(lease, standing)}; then ${next}` }
}

export const unreserving: BulkAction<Named> = (service, { key }) => {
  const before = service.ledger.reservation(key)
  if (!before) {
    service.ledger.expectHeard()
    return { verdict: 'unchanged', change: [], reason: 'not reserved' }
  }
  const reason = `reserved for ${describeReservation(before)}${describeNote(before)}`
  return { verdict: 'change', change: planUnreservation(key, before), reason }
}

/** What a sandbox has is left alone, and so is a lease that began after the one that was seen. */
export const releasing: BulkAction<Named & { since?: string | undefined }> = (
  service,
  { key },
  { since },
) => {
  const { ledger } = service
  const lease = ledger.lease(key)
  if (!lease || isTimeOver(lease, service.now())) {
    ledger.expectHeard()
    return { verdict: 'unchanged', change: [], reason: 'neither kept nor cooling down' }
  }
  const who = describeHolder(lease.holder)
  if (lease.state === 'bound') {
    const standing = standingOfLease(service, lease)
    const reason = `bound to ${who} on node ${lease.node}: ${describeStanding(lease, standing)}`
    return { verdict: 'stays', change: [], reason, hint: remedyFor(lease, standing) }
  }
  if (since !== undefined && Date.parse(since) !== lease.since)
    throw new Problem(
      'IPK_ADDRESS_HELD',
      `${lease.address} has changed in the meantime: since ${formatTime(lease.since)} it has been ${lease.state === 'held' ? 'kept for' : 'cooling down after'} ${who}`,
      { hint: 'run the same command again' },
    )
  const until = lease.until === null ? 'with no end' : `until ${formatTime(lease.until)}`
  const reason = lease.state === 'held' ? `kept for ${who} ${until}` : `cooling down; ${who} had released it`
  return { verdict: 'change', change: planEnd(service, lease), reason }
}
