import { holderKey, type AttachmentKey, type AttachmentRecord } from './records.ts'

/** What proves an attachment dead, compared with what is there now. */
export type DeathMarks = Pick<AttachmentRecord, 'node' | 'bootId' | 'netns' | 'netnsInode'>

/** What is asked of every attachment again and again; most records are read no further (reconcile/node-look.ts). */
export interface AttachmentOutline extends DeathMarks, Pick<AttachmentRecord, 'podUid'> {
  readonly madeBy: string | undefined
  /** Of the host's side of its veth; null where it has none. */
  readonly hostLink: string | null
  /** Attachments of one pod's interface have the same number, and hardly any others do; null where the holder is no pod. */
  readonly podHash: number | null
}

/** An outline with whose it is. */
export type OutlinedAttachment = AttachmentKey & AttachmentOutline

export function outlineOfAttachment(record: AttachmentRecord): AttachmentOutline {
  const { node, bootId, netns, netnsInode, podUid, madeBy, wiring, holder } = record
  return {
    ...{ node, bootId, netns, netnsInode, podUid, madeBy },
    hostLink: wiring?.hostLink?.name ?? null,
    podHash: holder.kind === 'pod' ? hashOf(holderKey(holder)) : null,
  }
}

/** FNV-1a, as far as V8 keeps a number without an object of its own. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash | 0
}
