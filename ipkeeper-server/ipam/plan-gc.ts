import type { AddressBook } from './address-book.ts'
import type { AttachmentRecord } from './records.ts'

/** An attachment that the runtime still knows (CNI SPEC, GC: cni.dev/valid-attachments). */
export interface ValidAttachment {
  readonly containerId: string
  readonly ifname: string
}

/**
 * The attachments of a network that GC ends: of this node, not in the runtime's list, and older than the GC itself, since
 * the list was made before it.
 */
export function planGc(
  book: AddressBook,
  network: string,
  node: string,
  valid: readonly ValidAttachment[],
  before: number,
): readonly AttachmentRecord[] {
  const known = new Set(valid.map(entry => JSON.stringify([entry.containerId, entry.ifname])))
  return [...book.attachmentsOf(network)].filter(
    attachment =>
      attachment.node === node &&
      attachment.since < before &&
      !known.has(JSON.stringify([attachment.containerId, attachment.ifname])),
  )
}
