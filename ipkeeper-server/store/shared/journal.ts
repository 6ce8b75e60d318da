import type { HistoryEvent } from '../../ipam/records/history-entry.ts'
import type { Change } from '../../ipam/records/records.ts'
import type { FileAspect, LeaseStore, StoredRecord } from '../lease-store.ts'

/**
 * copy: a record of the engine that this node could not do without while that is away. owed: see PendingWrite. late: see
 * IndeterminateCommits. engine: see EngineMemory. ended: see EndedAttachments.
 */
export type NoteKind = 'copy' | 'owed' | 'late' | 'engine' | 'ended'

/** Something to remember under (kind, key), in place of what was there; `text` null forgets it. */
export interface Note {
  readonly kind: NoteKind
  readonly key: string
  readonly text: string | null
}

/**
 * What a node keeps for itself of a ledger that it shares: its attachments, the history of what it did, and notes. Durable
 * before it is acknowledged, like any store.
 */
export interface Journal extends LeaseStore {
  /** As of any store; the notes are taken with the change, or neither. A change may be empty where there are notes. */
  commit(change: Change, events?: readonly HistoryEvent[], notes?: readonly Note[]): Promise<void>
  /** Whether an attachment is on record, at once; true when the journal cannot be read, since its pod may be alive. */
  mayHaveAttachment(key: string): boolean
  /** In no particular order. */
  loadNotes(visit: (note: Note & { readonly text: string }) => void): void
}

/** The file of a journal as one that gets the records of the journal alone, whichever it is to rescue. */
export function ownPart(file: FileAspect): FileAspect {
  const own = (records: readonly StoredRecord[]): readonly StoredRecord[] =>
    records.filter(({ kind }) => kind === 'attachment')
  return {
    ...file,
    rescue: records => file.rescue(own(records)),
    saveBeside: records => file.saveBeside(own(records)),
  }
}
