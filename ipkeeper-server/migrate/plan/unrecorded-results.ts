import type { FoundAllocation } from '../../../shared/api/import.schema.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { objectIn, textIn } from '../../../shared/json/object-fields.ts'
import type { AddressBook } from '../../ipam/pools/address-book.ts'
import { sameAttachment, type AttachmentKey, type AttachmentRecord } from '../../ipam/records/records.ts'
import type { OwnResult } from '../../result-cache/plan/read-cached-result.ts'

/** What libcni keeps of an ADD for which the plugin used a state folder. */
export interface KeptResult extends OwnResult {
  readonly path: string
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  /** It is older than the boot, so that its container is dead. */
  readonly beforeBoot: boolean
}

/** A result of which nothing is on record, or not all. */
export interface UnrecordedResult {
  readonly key: AttachmentKey
  readonly segment: string
  readonly result: KeptResult
  /**
   * It is lost, and did not end: a lease is bound to its sandbox, of which there is no record, or its holder still names a lease that has
   * gone without a trace.
   */
  readonly isLost: boolean
}

/** A network that another plugin calls ipkeeper for may have a name of its own. */
const networkOf = ({ network, configs }: KeptResult): string => {
  const [named] = configs.flatMap(config => textIn(config, 'name') || [])
  return named ?? network
}

function segmentOf(book: AddressBook, { configs }: KeptResult): string {
  const ipams = configs.map(config => objectIn(config, 'ipam'))
  const [own] = ipams.flatMap(ipam => textIn(ipam, 'segment') || [])
  const [pool] = ipams.flatMap(ipam => book.pool(textIn(ipam, 'pool')) ?? [])
  return own ?? pool?.segment ?? 'default'
}

/** Whether a holder says that a sandbox has a lease which is not there. Whatever ends a lease writes both. */
function lacksLease(book: AddressBook, attachment: AttachmentRecord | undefined): boolean {
  const holder = attachment && book.holder(attachment.holder)
  if (!holder || !sameAttachment(holder.attachment, attachment)) return false
  return holder.leases.some(lease => book.lease(lease) === undefined)
}

/** Whether an attachment has a record here; of generation 0 it is known by its lease alone, as after an older journal was put back. */
const hasRecord = (attachment: AttachmentRecord | undefined): boolean => (attachment?.generation ?? 0) > 0

/**
 * Results of this boot whose containers the ledger does not know: it is older than they are, or they have ended. And those that it knows
 * and has lost leases of, or the record of the sandbox itself.
 */
export function unrecordedResults(
  book: AddressBook,
  results: readonly KeptResult[],
): readonly UnrecordedResult[] {
  return results.flatMap(result => {
    if (result.beforeBoot || result.netns === null) return []
    const { containerId, ifname, addresses } = result
    const key = { network: networkOf(result), containerId, ifname }
    const segment = segmentOf(book, result)
    const bound = addresses.flatMap(address => book.lease({ segment, address })?.attachment ?? [])
    const ofIts = bound.filter(other => other.containerId === containerId)
    const known = [key, { ...key, network: result.network }, ...ofIts].map(name => book.attachment(name))
    const recorded = known.find(hasRecord)
    const isLost = recorded ? lacksLease(book, recorded) : ofIts.length > 0
    return recorded && !isLost ? [] : [{ key, segment, result, isLost }]
  })
}

/**
 * As an import takes it.
 *
 * @param since when it was given its addresses, as far as that is compared with other sandboxes
 */
export function allocationsOf(
  { key, result }: UnrecordedResult,
  since = result.modifiedAt,
): readonly FoundAllocation[] {
  const { addresses, pod, mac, netns, path } = result
  return addresses.map(address => ({
    ...{ origin: path, address, ...key, pod, node: null, mac, netns },
    since,
    keeps: false,
    runtime: 'cached',
  }))
}

/** Configurations that have the ranges of their networks. */
export function rangesOf({ key, result }: UnrecordedResult): readonly JsonObject[] {
  return result.configs.flatMap(({ ipam }) =>
    isJsonObject(ipam) && (ipam['subnet'] !== undefined || ipam['ranges'] !== undefined)
      ? [{ cniVersion: '1.0.0', name: key.network, ipam: { ...ipam, type: 'ipkeeper' } }]
      : [],
  )
}
