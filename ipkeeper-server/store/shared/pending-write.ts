import { canonicalJson } from '../../ipam/records/canonical-json.ts'
import { isPlaceholder } from '../../ipam/records/node-record.ts'
import {
  attachmentKey,
  holderKey,
  sameAttachment,
  type AttachmentKey,
  type HolderRecord,
  type LeaseRecord,
  type NodeRecord,
  recordId,
} from '../../ipam/records/records.ts'
import type { SharedRecordName, SharedKind } from './engine.ts'
import type { Note } from './journal.ts'

/**
 * A record that has still to be written to the engine, because it was away when the record changed here, or because it is unknown
 * whether it has carried out a change that was refused here.
 */
export interface PendingWrite {
  readonly kind: SharedKind
  readonly key: string
  /** What the engine may have: anything else is another node's later change, and stands. null: nothing. */
  readonly expected: readonly (string | null)[]
  /** What it is to have. */
  readonly want: string | null
  /**
   * The engine has lost records since (after-loss.ts): whatever it has instead was written earlier, unless it is in use on
   * another node that has reported what it holds. The record of a node is never written so.
   */
  again?: true
}

/** Whether two texts are of the same record; null is none. An engine may give keys back in another order. */
export function sameRecord(a: string | null, b: string | null): boolean {
  if (a === b) return true
  if (a === null || b === null) return false
  return canonicalJson(JSON.parse(a)) === canonicalJson(JSON.parse(b))
}

/** Whether the engine has the record of a node that was to be undone: others have heard of it, and would take it for lost if it went. */
export function mayNotBeUndone(
  { kind, want }: Pick<PendingWrite, 'kind' | 'want'>,
  present: string | null,
): boolean {
  return (
    kind === 'node' && want === null && present !== null && !isPlaceholder(JSON.parse(present) as NodeRecord)
  )
}

/** By what a pending write is resolved, besides what the engine has. */
export interface ResolutionTerms {
  /** Whether a name is this node's. */
  readonly isOwn: IsOwnName
  /** Of an engine that has lost records: how it stands with the node that has a record in use. */
  readonly userIs: (text: string) => UserIs
}

/**
 * How a pending write is resolved, by what the engine has now. done: it is there. write: it is to be written. follow: so is it, as a
 * later version of what is there. overruled: another change stands. wait: for the node that the engine has it in use on.
 */
export function resolutionOf(
  write: PendingWrite,
  present: string | null,
  { isOwn, userIs }: ResolutionTerms,
): 'done' | 'write' | 'follow' | 'overruled' | 'wait' {
  const { kind, expected, want, again } = write
  if (sameRecord(present, want)) return 'done'
  if (mayNotBeUndone(write, present)) return 'overruled'
  if (expected.some(text => sameRecord(present, text))) return 'write'
  if (isGivenBack(write, present, isOwn)) return 'follow'
  // A node tells its part of a loss in its record, which an older text would take back: all would wait for it for ever.
  if (!again || kind === 'node') return 'overruled'
  const user = present === null ? 'own' : userIs(present)
  if (user === 'awaited') return 'wait'
  // What is in use here goes before what is kept or resting; but that may be newer than what is not.
  const isInUse = want !== null && userOf(kind, want) !== undefined
  return user === 'own' || (user === 'nobody' && isInUse) ? 'write' : 'overruled'
}

/**
 * Whether the engine has it in use by the very sandbox of this node that the write is about: another node has taken it over and given it
 * back, and knows nothing of what has become of that sandbox here.
 */
function isGivenBack({ kind, expected }: PendingWrite, present: string | null, isOwn: IsOwnName): boolean {
  if (present === null) return false
  const [user, attachment] = [userOf(kind, present), attachmentOf(present)]
  if (user === undefined || !isOwn(user) || !attachment) return false
  return expected.some(
    text => text !== null && userOf(kind, text) === user && sameAttachment(attachmentOf(text), attachment),
  )
}

/** Attachments of this node, by key, that a write was to give something to: what the engine had before it is not among them. */
export function triedFor({ kind, expected }: PendingWrite, isOwn: IsOwnName): readonly string[] {
  return expected.slice(1).flatMap(text => {
    if (text === null) return []
    const [user, attachment] = [userOf(kind, text), attachmentOf(text)]
    return user !== undefined && isOwn(user) && attachment ? [attachmentKey(attachment)] : []
  })
}

const attachmentOf = (text: string): AttachmentKey | null =>
  (JSON.parse(text) as LeaseRecord | HolderRecord).attachment

/** The same record as a later version of what the engine has, so that no generation comes twice. */
export function following(want: string | null, present: string | null): string | null {
  if (want === null || present === null) return want
  const record = JSON.parse(want) as LeaseRecord | HolderRecord
  const before = JSON.parse(present) as LeaseRecord | HolderRecord
  const generation = Math.max(record.generation, before.generation + 1)
  return JSON.stringify({ ...record, generation })
}

/** own: this node. nobody: it is kept or rests, or its node is gone. reported: what it has is there again. awaited: it may not be. */
export type UserIs = 'own' | 'nobody' | 'reported' | 'awaited'

/** Node on which a record is in use, as far as it says. */
export function userOf(kind: SharedKind, text: string): string | undefined {
  if (kind === 'lease') {
    const { state, node } = JSON.parse(text) as LeaseRecord
    return state === 'bound' ? node : undefined
  }
  return kind === 'holder' ? (JSON.parse(text) as HolderRecord).sandbox?.node : undefined
}

/** One after the other: what the engine may have stays, what it is to have is the newer. */
export function combined(before: PendingWrite | undefined, next: PendingWrite): PendingWrite {
  if (!before) return next
  return { ...next, expected: before.expected, ...(before.again && { again: true }) }
}

export const pendingNote = ({ kind, key, expected, want, again }: PendingWrite): Note => ({
  kind: 'owed',
  key: recordId({ kind, key }),
  text: JSON.stringify({ kind, key, expected, want, ...(again && { again }) }),
})

export const forgetNote = ({ kind, key }: SharedRecordName): Note => ({
  kind: 'owed',
  key: recordId({ kind, key }),
  text: null,
})

/** Whether a name is this node's. */
export type IsOwnName = (name: string) => boolean

/** Whether a sandbox under a name, if there is one, is of this machine: another one that had the name may run it. */
export type IsHere = (node: string, attachment: AttachmentKey | null) => boolean

export interface AloneTerms {
  readonly isOwn: IsOwnName
  readonly isHere: IsHere
  /** Whether others may have what is in use here by the journal, which is older than what this node did. */
  readonly isOlder: () => boolean
}

function leaseMayChange(
  base: LeaseRecord,
  after: LeaseRecord | null,
  { isOwn, isHere, isOlder }: AloneTerms,
): boolean {
  const isOurs = isHere(base.node, base.attachment)
  const isItsStill = base.attachment !== null && sameAttachment(after?.attachment ?? null, base.attachment)
  // Bound here to this holder: then no other node can get it meanwhile.
  if (after?.state === 'bound')
    return (
      isOwn(after.node) &&
      isOurs &&
      base.state === 'bound' &&
      (isItsStill || !isOlder()) &&
      holderKey(base.holder) === holderKey(after.holder)
    )
  // Giving up what was bound here, or what is bound nowhere.
  return isOurs || base.state === 'cooling'
}

/**
 * Whether a record may be changed while the engine is away, so that whatever other nodes do meanwhile no address gets two
 * holders: what is bound here to a pod may go on being bound to it, in a newer sandbox, and may be given up. Nothing is
 * taken. When the engine is back, the change is made only if no other one was made.
 *
 * @param expected what the engine may have
 */
export function mayChangeAlone(
  kind: SharedKind,
  expected: readonly (string | null)[],
  after: object | null,
  terms: AloneTerms,
): boolean {
  return expected.every(text => {
    // A refused ADD: the engine may not have it, and then there is nothing to give up.
    if (text === null) return after === null
    switch (kind) {
      case 'lease':
        return leaseMayChange(JSON.parse(text) as LeaseRecord, after as LeaseRecord | null, terms)
      case 'holder': {
        const { sandbox, attachment } = JSON.parse(text) as HolderRecord
        return sandbox === undefined || terms.isHere(sandbox.node, attachment)
      }
      default:
        return false
    }
  })
}
