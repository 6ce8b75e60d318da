import { Problem } from '../../../shared/problem/problem.ts'
import type { PoolBook } from '../../ipam/pools/pool-settings.ts'
import {
  attachmentKey,
  type AttachmentKey,
  type AttachmentRecord,
  type LeaseRecord,
} from '../../ipam/records/records.ts'
import {
  checkHasRanges,
  readIpamConfig,
  readPreviousAddresses,
  readPreviousInterface,
  type PreviousInterface,
} from '../../ipam/request/network-config.ts'
import { readMainRole, type Invocation } from './invocation.ts'
import type { LeaseService } from './service.ts'

/** What a CHECK is about. `expected`: the addresses of prevResult, undefined where the runtime sent none. */
export interface CheckRequest {
  readonly key: AttachmentKey
  readonly expected: readonly string[] | undefined
  /** In the main role: where the pod is, and what prevResult says of its interface. */
  readonly wired?: { readonly netns: string; readonly previous: PreviousInterface | undefined }
}

/** Reads a CHECK. A configuration that an ADD would refuse is refused here too, as by host-local. */
export function readCheck(invocation: Invocation, book: PoolBook): CheckRequest {
  const { request, network, args, key } = invocation
  checkHasRanges(readIpamConfig(request.config, network, args), book.pools.length > 0)
  const expected = readPreviousAddresses(request.config)
  if (!readMainRole(invocation)) return { key, expected }
  // As of the reference's main plugins (catalogue G7).
  if (expected === undefined) throw new Problem('IPK_CONFIG_INVALID', 'Required prevResult missing')
  const previous = readPreviousInterface(request.config, key.ifname)
  return { key, expected, wired: { netns: request.netns, previous } }
}

export interface CheckOutcome {
  /** The fallback that gave the addresses and has to check them; null where they are ours. */
  readonly delegatedTo: string | null
}

/**
 * CHECK: the attachment has at least one lease, and every one of them is in prevResult where the runtime
 * sent one; or it was left to the fallback. In the
 * main role the kernel has what ADD made. Changes nothing. Throws IPK_LEASE_MISSING, IPK_WIRING_DIFFERS.
 */
export async function checkAttachment(
  service: LeaseService,
  { key, expected, wired }: CheckRequest,
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
    if (wired) await checkWiring(service, wired, service.ledger.attachment(key), leases)
    return { delegatedTo: null }
  })
}

/** Compares with the kernel what the main role made; every difference is told at once. */
async function checkWiring(
  { network }: LeaseService,
  { previous, netns }: NonNullable<CheckRequest['wired']>,
  attachment: AttachmentRecord | undefined,
  leases: readonly LeaseRecord[],
): Promise<void> {
  if (!attachment?.wiring) return
  const elsewhere =
    previous?.sandbox === undefined || previous.sandbox === netns
      ? []
      : [`prevResult has the interface in ${previous.sandbox}, CNI_NETNS is ${netns}`]
  const differences = [...elsewhere, ...(await network.differences(attachment, leases, previous))]
  const [first] = differences
  if (first === undefined) return
  const more = differences.length > 1 ? `, and ${differences.length - 1} more` : ''
  throw new Problem('IPK_WIRING_DIFFERS', `${first}${more}`, { details: differences.join('; ') })
}
