import type { LeaseRecord } from '../../ipam/records/records.ts'
import { standingOf, unjudged, type Standing } from '../../ipam/records/standing.ts'
import type { LeaseService } from './service.ts'

/** How it stands with the sandbox that has an address. */
export function standingOfLease(service: LeaseService, lease: LeaseRecord): Standing {
  const attachment = lease.attachment && service.ledger.attachment(lease.attachment)
  return attachment ? standingOf(attachment, service) : unjudged(lease)
}
