import { createHash } from 'node:crypto'
import { withColons } from '../../shared/net/mac.ts'
import { attachmentKey, type AttachmentKey } from '../ipam/records/records.ts'
import { linkPrefix } from './plan/interface-name.ts'
import type { LinkNames } from './plan/wiring-job.ts'

/** Begins the aliases of links. */
export const aliasPrefix = 'ipkeeper'

/** A locally administered unicast MAC that is always the same for a text. */
export function macOf(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex')
  return withColons(`0e${digest.slice(0, 10)}`)
}

/**
 * Names derived from the attachment, never from namespace and name of the pod: a late DEL of an old sandbox of the same
 * pod must not meet the link of the new one (calico#10375, antrea PR#827).
 */
export function linkNames(key: AttachmentKey): LinkNames {
  const text = attachmentKey(key)
  const digest = createHash('sha256').update(text).digest('hex')
  return {
    hostLink: `${linkPrefix}${digest.slice(0, 12)}`,
    hostMac: macOf(`host ${text}`),
    probeMac: macOf(`probe ${text}`),
    // The kernel keeps 255 bytes (IFALIASZ); network names and IDs may be longer.
    alias: `${aliasPrefix} ${key.network.slice(0, 64)} ${key.containerId.slice(0, 80)} ${key.ifname}`,
  }
}
