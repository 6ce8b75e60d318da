import { sameAttachment, type LeaseRecord } from './records.ts'

/**
 * Whether an address that a sandbox of this node had is that sandbox's no more by the hand of somebody else: it was taken
 * over on another node, or ended there, while a proof stood that this node cannot run. By the generation, too: an engine that
 * was restored from a backup tells of owners of old, and one that has lost a record tells nothing.
 *
 * @param had as it was bound here, by the last that this node knew
 * @param has as the engine has it now
 */
export function isTakenAway(had: LeaseRecord, has: LeaseRecord | undefined): boolean {
  return (
    had.attachment !== null &&
    has !== undefined &&
    has.generation > had.generation &&
    !sameAttachment(has.attachment, had.attachment)
  )
}
