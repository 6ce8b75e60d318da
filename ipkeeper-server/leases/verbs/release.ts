import type { ReleaseReply } from '../../../shared/api/address.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { formatTime } from '../../ipam/records/times.ts'
import { planExpiry } from '../../ipam/plan/plan-release.ts'
import { describeHolder, type Change, type LeaseKey, type LeaseRecord } from '../../ipam/records/records.ts'
import { describeStanding, forceLine, remedyFor } from '../../ipam/records/standing.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import { leaseItem, reservationItem } from '../queries/listing.ts'
import { readLeaseKey } from './reserve.ts'
import type { LeaseService } from './service.ts'
import { standingOfLease } from './standing-of-lease.ts'

function nobodyHas({ address, segment }: LeaseKey): Problem {
  return new Problem(
    'IPK_ADDRESS_FREE',
    `${address} is neither kept for a holder nor cooling down in segment ${segment}`,
    { hint: `see: ipkeeperctl who ${address}` },
  )
}

/** @throws IPK_ADDRESS_FREE where nobody has it; IPK_STORE_AWAY where that is not known */
export function assertSomebodyHas({ ledger }: Pick<LeaseService, 'ledger'>, key: LeaseKey): LeaseRecord {
  const lease = ledger.lease(key)
  if (lease) return lease
  ledger.expectHeard()
  throw nobodyHas(key)
}

function stillBound(service: LeaseService, lease: LeaseRecord): Problem {
  const attachment = lease.attachment && service.ledger.attachment(lease.attachment)
  const holder = describeHolder(lease.holder)
  const container = attachment ? `container ${attachment.containerId.slice(0, 13)}, ` : ''
  const standing = standingOfLease(service, lease)
  const isGone = standing.kind === 'ended' || standing.kind === 'lost'
  const remedy = remedyFor(lease, standing)
  const first = standing.kind === 'in-use' ? ' first' : ''
  return new Problem(
    'IPK_ADDRESS_HELD',
    `${lease.address} is bound to ${holder} on node ${lease.node} (${container}since ${formatTime(lease.since)})`,
    {
      details: [
        'only an address that is kept or cooling down can be released',
        ...(isGone ? [describeStanding(lease, standing)] : []),
      ].join('; '),
      hint: remedy.includes(forceLine(lease))
        ? remedy
        : `${remedy}${first}; or take it from the sandbox: ${forceLine(lease)}`,
    },
  )
}

/** Ends a lease that no sandbox has, as if its time had come. */
export const planEnd = (service: LeaseService, lease: LeaseRecord): Change =>
  planExpiry(service.ledger, { ...lease, until: service.now() }, service.pools())

/**
 * Ends a kept lease now, and the rest of a cooling one: whoever asks next may have the address. Throws IPK_ADDRESS_HELD
 * while a sandbox has it, IPK_ADDRESS_FREE when there is nothing to end.
 */
export async function release(
  service: LeaseService,
  segment: string,
  address: string,
): Promise<ReleaseReply> {
  const { ledger } = service
  const { key } = readLeaseKey(segment, address)
  const { lease } = await commitPlan(ledger, () => {
    const present = assertSomebodyHas(service, key)
    if (present.state === 'bound') throw stillBound(service, present)
    return { lease: present, change: planEnd(service, present) }
  })
  const reservation = ledger.reservation(key)
  return { released: leaseItem(lease), reservation: reservation ? reservationItem(reservation) : null }
}
