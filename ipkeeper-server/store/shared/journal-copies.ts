import type { HolderRecord, LeaseRecord } from '../../ipam/records.ts'
import type { SharedKind, StampedRecord } from './engine.ts'
import type { Note } from './journal.ts'
import { recordId, type RecordName } from './record-name.ts'

/**
 * What a node could not do without while the engine is away, and so keeps copies of in its journal: what is bound here,
 * whose it is, and the pools. Says what is to be noted; noting it is the caller's.
 */
export class JournalCopies {
  readonly #node: string
  /** Records that have a copy. */
  readonly #there = new Set<string>()

  constructor(node: string) {
    this.#node = node
  }

  /** Takes note of a copy that the journal has; returns the record, of a version that no engine has. */
  found(id: string, text: string): StampedRecord {
    this.#there.add(id)
    return { ...(JSON.parse(text) as RecordName & { text: string }), stamp: 0 }
  }

  isOfUseHere(kind: SharedKind, record: object): boolean {
    if (kind === 'lease') {
      const lease = record as LeaseRecord
      return lease.node === this.#node && lease.state === 'bound'
    }
    return kind === 'holder' ? (record as HolderRecord).sandbox?.node === this.#node : kind === 'pool'
  }

  /** After a change of this node's. */
  written({ kind, key }: RecordName, record: object | null): readonly Note[] {
    return this.#note({ kind, key }, record && this.isOfUseHere(kind, record) ? JSON.stringify(record) : null)
  }

  /** After a change of somebody else's: what there was no copy of is of no use here either. */
  heard(name: RecordName, text: string | null): readonly Note[] {
    if (name.kind !== 'pool' && !this.#there.has(recordId(name))) return []
    return this.#note(name, this.#ifOfUse(name.kind, text))
  }

  /** Makes the copies those of all that the engine has. */
  listed(known: Iterable<StampedRecord>): readonly Note[] {
    const gone = new Set(this.#there)
    const mine = JSON.stringify(this.#node)
    const notes: Note[] = []
    for (const { kind, key, text } of known) {
      gone.delete(recordId({ kind, key }))
      // Parsing all of a large cluster's records would cost most of the start.
      const candidate = kind === 'pool' || text.includes(mine)
      notes.push(...this.#note({ kind, key }, candidate ? this.#ifOfUse(kind, text) : null))
    }
    for (const id of gone) {
      this.#there.delete(id)
      notes.push({ kind: 'copy', key: id, text: null })
    }
    return notes
  }

  #ifOfUse(kind: SharedKind, text: string | null): string | null {
    return text !== null && this.isOfUseHere(kind, JSON.parse(text) as object) ? text : null
  }

  #note(name: RecordName, text: string | null): readonly Note[] {
    const id = recordId(name)
    if (text === null && !this.#there.delete(id)) return []
    if (text === null) return [{ kind: 'copy', key: id, text: null }]
    this.#there.add(id)
    return [{ kind: 'copy', key: id, text: JSON.stringify({ kind: name.kind, key: name.key, text }) }]
  }
}
