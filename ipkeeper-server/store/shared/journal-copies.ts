import { attachmentKey, type HolderRecord, type LeaseRecord, recordId } from '../../ipam/records/records.ts'
import type { SharedRecordName, SharedKind, EngineRecord } from './engine.ts'
import type { Note } from './journal.ts'

/** As it stands in the journal. */
interface StoredCopy extends SharedRecordName {
  readonly text: string
  /** The revision that it had in the engine at the least. */
  readonly stamp?: number
}

interface Copied {
  /** That the record had in the engine at the least. */
  readonly revision: number
  /** Key of the attachment that a lease or holder is bound to. */
  readonly attachment?: string
}

/** Whether a revision of the engine's is later than that of a copy; 0: nobody knows which that is. */
export function isLater(revision: number, ofCopy: number): boolean {
  return ofCopy > 0 && revision > ofCopy
}

/**
 * What a node could not do without while the engine is away, and so keeps copies of in its journal: what is bound here,
 * whose it is, and the pools. Says what is to be noted; noting it is the caller's.
 */
export class JournalCopies {
  /** As in SharedStoreOptions. */
  readonly #names: () => readonly string[]
  readonly #there = new Map<string, Copied>()

  constructor(names: () => readonly string[]) {
    this.#names = names
  }

  /** Takes note of a copy that the journal has; returns the record, of the revision that it had at the least. */
  found(id: string, text: string): EngineRecord {
    const { kind, key, text: record, stamp = 0 } = JSON.parse(text) as StoredCopy
    this.#there.set(id, copied(kind, record, stamp))
    return { kind, key, text: record, revision: stamp }
  }

  /** Leases that have a copy: those that are bound here. By ID, with the revisions that they had at the least. */
  *leases(): Iterable<readonly [id: string, revision: number]> {
    for (const [id, { revision }] of this.#there) if (id.startsWith('lease ')) yield [id, revision]
  }

  /** Key of the attachment that a lease is bound to, by its copy. */
  attachmentOf(id: string): string | undefined {
    return this.#there.get(id)?.attachment
  }

  /** The copies are of another engine: their revisions say nothing about those of this one. */
  forgetRevisions(): void {
    for (const [id, copy] of this.#there) this.#there.set(id, { ...copy, revision: 0 })
  }

  /** Whether a revision of the engine's is later than the copy that there is; false where that is unknown. */
  isOlder(id: string, revision: number): boolean {
    return isLater(revision, this.#there.get(id)?.revision ?? 0)
  }

  hasId(id: string): boolean {
    return this.#there.has(id)
  }

  isOfUseHere(kind: SharedKind, record: object): boolean {
    if (kind === 'lease') {
      const lease = record as LeaseRecord
      return this.#names().includes(lease.node) && lease.state === 'bound'
    }
    if (kind !== 'holder') return kind === 'pool'
    const { sandbox } = record as HolderRecord
    return sandbox !== undefined && this.#names().includes(sandbox.node)
  }

  /** After a change of this node's. */
  written({ kind, key }: SharedRecordName, record: object | null, revision: number | null): readonly Note[] {
    const text = record && this.isOfUseHere(kind, record) ? JSON.stringify(record) : null
    return this.#note({ kind, key }, text, revision)
  }

  /** After another node's change: what there was no copy of is of no use here either. */
  heard(name: SharedRecordName, text: string | null, revision: number | null): readonly Note[] {
    if (name.kind !== 'pool' && !this.#there.has(recordId(name))) return []
    return this.#note(name, this.#ifOfUse(name.kind, text), revision)
  }

  /**
   * Makes the copies those of all that the engine has.
   *
   * @param mayBeNew whether something is copied that there was no copy of, by the key of the attachment that it is bound to
   */
  listed(known: Iterable<EngineRecord>, mayBeNew: (attachment: string) => boolean): readonly Note[] {
    const gone = new Set(this.#there.keys())
    const mayBeOfUse = this.#search()
    const notes: Note[] = []
    for (const record of known) {
      const { kind, text, revision } = record
      const id = recordId(record)
      gone.delete(id)
      const use = mayBeOfUse(record) ? this.#ifOfUse(kind, text) : null
      const { attachment } = use === null ? {} : copied(kind, use, revision)
      const isNew = attachment !== undefined && !this.#there.has(id)
      if (!isNew || mayBeNew(attachment)) notes.push(...this.#note(record, use, revision))
    }
    for (const id of gone) {
      this.#there.delete(id)
      notes.push({ kind: 'copy', key: id, text: null })
    }
    return notes
  }

  /** Of what was of no use before this node's names changed. */
  named(known: Iterable<EngineRecord>): readonly Note[] {
    const mayBeOfUse = this.#search()
    return [...known]
      .filter(record => !this.#there.has(recordId(record)) && mayBeOfUse(record))
      .flatMap(record => this.#note(record, this.#ifOfUse(record.kind, record.text), record.revision))
  }

  /** Parsing all of a large cluster's records would cost most of the start. */
  #search(): (record: EngineRecord) => boolean {
    const mine = this.#names().map(name => JSON.stringify(name))
    return ({ kind, text }) => kind === 'pool' || mine.some(name => text.includes(name))
  }

  #ifOfUse(kind: SharedKind, text: string | null): string | null {
    return text !== null && this.isOfUseHere(kind, JSON.parse(text) as object) ? text : null
  }

  /** `revision` null: the engine does not have it yet. */
  #note(name: SharedRecordName, text: string | null, revision: number | null): readonly Note[] {
    const id = recordId(name)
    if (text === null && !this.#there.delete(id)) return []
    if (text === null) return [{ kind: 'copy', key: id, text: null }]
    this.#there.set(id, copied(name.kind, text, revision ?? 0))
    const copy: StoredCopy = { kind: name.kind, key: name.key, text, stamp: revision ?? 0 }
    return [{ kind: 'copy', key: id, text: JSON.stringify(copy) }]
  }
}

function copied(kind: SharedKind, text: string, revision: number): Copied {
  const isBound = kind === 'lease' || kind === 'holder'
  const attachment = isBound ? (JSON.parse(text) as LeaseRecord | HolderRecord).attachment : null
  return { revision, ...(attachment && { attachment: attachmentKey(attachment) }) }
}
