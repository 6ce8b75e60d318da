import {
  leaseKey,
  type AttachmentKey,
  type AttachmentRecord,
  type Change,
  type HolderRecord,
  type LeaseRecord,
  type UndoRecord,
  type Write,
} from '../records/records.ts'
import { replaceLease, writeAttachment, writeHolder } from './record-writes.ts'

/**
 * A node that got another name is the same node: what it has follows. Of records that bear one of its names it is to be
 * known that they are its own and not those of another machine that bore, or bears, that name: what is bound is told by its
 * attachment, which only the node has that made it.
 */

/** What of a ledger bears another name than the node has. */
export interface MisnamedRecords {
  readonly leases: Iterable<LeaseRecord>
  readonly holders: Iterable<HolderRecord>
  /** Of this node, whatever they bear. */
  readonly attachments: Iterable<AttachmentRecord>
}

export interface Renaming {
  /** The name it has now. */
  readonly node: string
  /** Whether a name was this node's. */
  readonly wasOurs: (name: string) => boolean
  /** Whether somebody else has the name by now: what nobody uses is his. */
  readonly isOthers: (name: string) => boolean
  /** Whether there is an attachment of this node with this key. */
  readonly isOurs: (attachment: AttachmentKey) => boolean
}

const mayFollow = ({ node, wasOurs }: Renaming, name: string | undefined): boolean =>
  name !== undefined && name !== node && wasOurs(name)

function renameLeases(leases: Iterable<LeaseRecord>, renaming: Renaming): LeaseRecord[] {
  return [...leases].filter(
    ({ node, attachment }) =>
      mayFollow(renaming, node) &&
      (attachment === null ? !renaming.isOthers(node) : renaming.isOurs(attachment)),
  )
}

function renameHolder(holder: HolderRecord, renaming: Renaming): Write[] {
  const { sandbox, attachment } = holder
  if (!sandbox || !attachment || !mayFollow(renaming, sandbox.node) || !renaming.isOurs(attachment)) return []
  const renamed = { attachment, sandbox: { ...sandbox, node: renaming.node } }
  return [writeHolder(holder, holder.holder, renamed, holder.leases)]
}

/** An undo knows what it may put back by the generation that its ADD wrote, and puts back what stood there. */
function renameUndo(
  undo: UndoRecord,
  renamed: ReadonlyMap<string, LeaseRecord>,
  renaming: Renaming,
): UndoRecord {
  const leases = undo.leases.map(entry => {
    const { wrote, before } = entry
    const follows = renamed.get(leaseKey(entry))?.generation === wrote
    return {
      ...entry,
      wrote: follows ? wrote + 1 : wrote,
      before: before && mayFollow(renaming, before.node) ? { ...before, node: renaming.node } : before,
    }
  })
  return { ...undo, leases }
}

function renameAttachment(
  attachment: AttachmentRecord,
  renamed: ReadonlyMap<string, LeaseRecord>,
  renaming: Renaming,
): Write[] {
  const undo = renameUndo(attachment.undo, renamed, renaming)
  const node = mayFollow(renaming, attachment.node) ? renaming.node : attachment.node
  if (node === attachment.node && JSON.stringify(undo) === JSON.stringify(attachment.undo)) return []
  const record = { ...attachment, generation: attachment.generation + 1, node, undo }
  return [writeAttachment(attachment, attachment, record)]
}

/**
 * What is to be written so that leases, holders and attachments bear the node's present name; nothing once they do.
 *
 * @param most leases and holders that are renamed; the others follow with the next call. Attachments all are
 */
export function planRename(
  { leases, holders, attachments }: MisnamedRecords,
  renaming: Renaming,
  most = Infinity,
): Change {
  const some = renameLeases(leases, renaming).slice(0, most)
  const renamed = new Map(some.map(lease => [leaseKey(lease), lease]))
  const others: Write[] = []
  for (const holder of holders) {
    if (some.length + others.length >= most) break
    others.push(...renameHolder(holder, renaming))
  }
  return [
    ...some.map(lease =>
      replaceLease(lease, { ...lease, generation: lease.generation + 1, node: renaming.node }),
    ),
    ...others,
    ...[...attachments].flatMap(attachment => renameAttachment(attachment, renamed, renaming)),
  ]
}

/**
 * Names that a state folder bears which has not said before which node it is of, and that were this machine's: those under
 * which something was attached while the present kernel ran. What bears another name may have been brought here with the
 * folder, from a machine that lives.
 */
export function namesOfThisBoot(attachments: Iterable<AttachmentRecord>, bootId: string): readonly string[] {
  return [...new Set([...attachments].filter(one => one.bootId === bootId).map(({ node }) => node))]
}
