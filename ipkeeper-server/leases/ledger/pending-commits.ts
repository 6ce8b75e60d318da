import { recordKinds, type RecordKind, type RecordTypes, type Write } from '../../ipam/records/records.ts'
import type { StoredRecord } from '../../store/lease-store.ts'
import type { WrittenTimes } from './announced-times.ts'
import { PropertyCounts } from './key-index.ts'
import { recordId, type RecordName, type RecordTables } from './record-table.ts'

/** A record as the store is known to have it. */
export interface DurableRecord {
  readonly record: RecordTypes[RecordKind] | null
  /** Of a lease whose times are others here. */
  readonly times: WrittenTimes | undefined
}

/**
 * What is applied in memory and not durable yet: commits under way, records as they were before those, and records of which it is
 * not known what the store has, since a commit of them was refused.
 */
export class PendingCommits {
  readonly #underWay = new PropertyCounts()
  readonly #durable = new Map<string, DurableRecord & RecordName>()
  readonly #indeterminate = new Map<string, RecordName>()

  isUnderWay(name: RecordName): boolean {
    return this.#underWay.has(recordId(name))
  }

  /** A write is about to be applied. `present`: the record so far, which is durable if no other write of it is under way. */
  begin(write: Write, present: () => DurableRecord): void {
    const { kind, key } = write
    const id = recordId(write)
    if (!this.#durable.has(id)) this.#durable.set(id, { kind, key, ...present() })
    this.#underWay.count(id, 1)
  }

  confirm(write: Write): void {
    const { kind, key, record } = write
    const id = recordId(write)
    this.#underWay.count(id, -1)
    // Now known for sure; a reading that began before must not overwrite it.
    this.#indeterminate.delete(id)
    if (this.#underWay.has(id)) this.#durable.set(id, { kind, key, record, times: undefined })
    else this.#durable.delete(id)
  }

  /** Gives what is to be put back, once no write of the record is under way: reading it again may fail as well. */
  refuse({ kind, key }: Write): DurableRecord | undefined {
    const id = recordId({ kind, key })
    this.#underWay.count(id, -1)
    this.#indeterminate.set(id, { kind, key })
    if (this.#underWay.has(id)) return undefined
    const durable = this.#durable.get(id) ?? { record: null, times: undefined }
    this.#durable.delete(id)
    return durable
  }

  /** A record is to be read again before the next plan. */
  doubt(name: RecordName): void {
    this.#indeterminate.set(recordId(name), name)
  }

  /** The records to read again, once no write of them is under way. */
  indeterminate(): readonly RecordName[] {
    return [...this.#indeterminate.values()]
  }

  /** A record was read again. False where that says nothing any more, because it was written meanwhile. */
  resolve(name: RecordName): boolean {
    return !this.isUnderWay(name) && this.#indeterminate.delete(recordId(name))
  }

  /** Every record that is durable, out of memory: also when the store cannot be read any more. */
  *durableRecords(tables: RecordTables): Iterable<StoredRecord> {
    for (const kind of recordKinds)
      for (const [key, text] of tables[kind].texts())
        if (!this.#durable.has(recordId({ kind, key }))) yield { kind, key, text }
    for (const { kind, key, record } of this.#durable.values())
      if (record) yield { kind, key, text: JSON.stringify(record) }
  }
}
