import { Problem } from '../../shared/problem/problem.ts'
import { attachmentKey } from '../ipam/records.ts'
import type { CheckRequest } from './interpret-request.ts'
import type { LeaseService } from './service.ts'

export interface CheckOutcome {
  /** The fallback that gave the addresses and has to check them; null where they are ours. */
  readonly delegatedTo: string | null
}

/**
 * CHECK of the IPAM role: the attachment has at least one lease, and every one of them is in prevResult where the runtime
 * sent one; or it was left to the fallback. Changes nothing. Throws IPK_LEASE_MISSING.
 */
export async function checkAttachment(
  service: LeaseService,
  { key, expected }: CheckRequest,
): Promise<CheckOutcome> {
  return await service.serial.run(attachmentKey(key), async () => {
    const delegatedTo = service.ledger.attachment(key)?.delegatedTo
    if (delegatedTo !== undefined) return { delegatedTo }
    const leases = service.ledger.leasesOf(key)
    if (leases.length === 0) {
      throw new Problem(
        'IPK_LEASE_MISSING',
        `ipkeeper: Failed to find address added by container ${key.containerId}`,
        {
          details: `network ${key.network}, interface ${key.ifname}`,
        },
      )
    }
    for (const lease of leases) {
      const text = `${lease.address}/${lease.prefixLength}`
      if (expected && !expected.includes(text)) {
        throw new Problem(
          'IPK_LEASE_MISSING',
          `lease ${text} of container ${key.containerId} is missing in prevResult`,
          {
            details: `prevResult has ${expected.join(', ') || 'no address'}`,
          },
        )
      }
    }
    return Promise.resolve({ delegatedTo: null })
  })
}
