import {
  isCondition,
  recordKinds,
  type Change,
  type RecordKind,
  type RecordTypes,
  recordId,
} from '../../ipam/records/records.ts'
import { StoreConflict, type StoredRecord } from '../../store/lease-store.ts'
import type { WrittenTimes } from './announced-times.ts'
import { PropertyCounts } from './key-index.ts'
import type { RecordName, RecordTables } from './record-table.ts'

/** A record as it was before a change; before the first one under way, as the store is known to have it. */
export interface FormerRecord {
  readonly record: RecordTypes[RecordKind] | null
  /** Of a lease whose times are others here. */
  readonly times: WrittenTimes | undefined
}

/** A change that the store has been handed. */
export interface CommitUnderWay {
  readonly change: Change
  /** Rejects with StoreConflict when a change that this one builds on was refused: then this one will be as well. */
  readonly doomed: Promise<never>
}

interface DoomableCommit extends CommitUnderWay {
  readonly doom: (error: StoreConflict) => void
}

/** What a commit makes of one record. */
interface Step {
  readonly commit: DoomableCommit
  readonly name: RecordName
  before: FormerRecord
}

/** The steps of a record that come before and after that of a commit; own: undefined when it was taken out. */
interface StepsAround {
  readonly earlier: readonly Step[]
  readonly own: Step | undefined
  readonly later: readonly Step[]
}

/**
 * What is applied in memory and not durable yet: commits under way, records as they were before those, and records of which it is
 * not known what the store has, since a commit of them was refused.
 *
 * A commit that is refused takes those along that build on its result: nobody is to plan with what they made of it, since the
 * store will refuse them in their turn.
 */
export class PendingCommits {
  /** Writes that the store has not answered yet. */
  readonly #underWay = new PropertyCounts()
  /** Of each record the writes that memory shows, in the order in which they were applied. */
  readonly #steps = new Map<string, readonly Step[]>()
  readonly #indeterminate = new Map<string, RecordName>()

  isUnderWay(name: RecordName): boolean {
    return this.#underWay.has(recordId(name))
  }

  /** A change is about to be applied. `present`: a record so far. */
  begin(change: Change, present: (name: RecordName) => FormerRecord): CommitUnderWay {
    const { promise: doomed, reject: doom } = Promise.withResolvers<never>()
    const commit = { change, doomed, doom }
    for (const write of change) {
      const id = recordId(write)
      const name = { kind: write.kind, key: write.key }
      const steps = this.#steps.get(id) ?? []
      this.#steps.set(id, [...steps, { commit, name, before: present(name) }])
      this.#underWay.count(id, 1)
    }
    return commit
  }

  /**
   * Returns whether memory shows the commit. One that was doomed the store may have taken all the same, where what it replaced has
   * the generation of what it built on: its records are to be read again.
   */
  confirm(commit: CommitUnderWay): boolean {
    let isShown = true
    for (const write of commit.change) {
      const id = recordId(write)
      this.#underWay.count(id, -1)
      const { earlier, own, later } = this.#stepsAround(id, commit)
      if (!own) {
        isShown = false
        this.doubt(write)
        continue
      }
      // Now known for sure; a reading that began before must not overwrite it.
      this.#indeterminate.delete(id)
      this.#keep(id, [...earlier, ...later])
      if (later[0]) later[0].before = { record: write.record, times: undefined }
    }
    return isShown
  }

  /** Gives what is to be put back at once: reading it again may fail as well. Nothing of a commit that was doomed before. */
  refuse(commit: CommitUnderWay): readonly (RecordName & FormerRecord)[] {
    for (const write of commit.change) this.#underWay.count(recordId(write), -1)
    const former = new Map<string, RecordName & FormerRecord>()
    this.#withdraw(commit, former)
    return [...former.values()]
  }

  /** @param former is given of each record the earliest state: what is taken out of its steps is always the end of them */
  #withdraw(commit: CommitUnderWay, former: Map<string, RecordName & FormerRecord>): void {
    for (const write of commit.change) {
      const id = recordId(write)
      const { earlier, own, later } = this.#stepsAround(id, commit)
      if (!own) continue
      const { name, before } = own
      this.#indeterminate.set(id, name)
      // Who comes after a condition does not build on it.
      const heirs = isCondition(write) ? [] : later
      this.#keep(id, isCondition(write) ? [...earlier, ...later] : earlier)
      if (!isCondition(write)) former.set(id, { ...name, ...before })
      for (const { commit: heir } of heirs) {
        heir.doom(new StoreConflict(name.kind, name.key))
        this.#withdraw(heir, former)
      }
    }
  }

  #stepsAround(id: string, commit: CommitUnderWay): StepsAround {
    const steps = this.#steps.get(id) ?? []
    const at = steps.findIndex(step => step.commit === commit)
    if (at < 0) return { earlier: steps, own: undefined, later: [] }
    return { earlier: steps.slice(0, at), own: steps[at], later: steps.slice(at + 1) }
  }

  #keep(id: string, steps: readonly Step[]): void {
    if (steps.length === 0) this.#steps.delete(id)
    else this.#steps.set(id, steps)
  }

  /** A record is to be read again before the next plan. */
  doubt({ kind, key }: RecordName): void {
    this.#indeterminate.set(recordId({ kind, key }), { kind, key })
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
        if (!this.#steps.has(recordId({ kind, key }))) yield { kind, key, text }
    for (const [first] of this.#steps.values())
      if (first?.before.record) yield { ...first.name, text: JSON.stringify(first.before.record) }
  }
}
