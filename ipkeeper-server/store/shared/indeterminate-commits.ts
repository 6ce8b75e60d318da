import type { Note } from './journal.ts'
import type { SharedRecordName } from './engine.ts'
import { mayNotBeUndone, sameRecord, type PendingWrite } from './pending-write.ts'
import { recordId } from '../../ipam/records/records.ts'

/**
 * Milliseconds for which such a commit is remembered. An engine carries one out within minutes; but a daemon may not hear the engine for
 * hours, and finds what has come only then.
 */
const rememberedFor = 24 * 3_600_000

/** So many versions of one record are remembered. */
const mostTried = 32

interface IndeterminateRecord extends PendingWrite {
  /** When it was resolved, in milliseconds of CLOCK_MONOTONIC. */
  readonly at: number
  /** Of which boot; absent in records of earlier versions, whose moments are of a clock that is set. */
  readonly bootId?: string
}

/**
 * Records that were resolved while it was unknown what became of a commit. An engine may still carry that commit out: a request
 * can lie in a queue of a frozen or cut-off server, longer than any caller waits. Then a record appears that no caller was
 * answered from, and it has to be resolved once more.
 */
export class IndeterminateCommits {
  readonly #monotonic: () => number
  readonly #bootId: string
  readonly #records = new Map<string, IndeterminateRecord>()

  /** `monotonic`: milliseconds of CLOCK_MONOTONIC, which restarts with each boot. */
  constructor(monotonic: () => number, bootId: string) {
    this.#monotonic = monotonic
    this.#bootId = bootId
  }

  /** Takes note of one of an earlier run of the daemon. One of another boot is as old as this boot, at the least. */
  found(text: string): void {
    const record = JSON.parse(text) as IndeterminateRecord
    const { bootId } = record
    const at = bootId === this.#bootId ? record.at : bootId === undefined ? this.#monotonic() : 0
    this.#records.set(recordId(record), { ...record, at, bootId: this.#bootId })
  }

  /** After a commit of this node: the record is as it is to be, also where the same was tried before and given up. */
  wrote(name: SharedRecordName, text: string | null): readonly Note[] {
    const id = recordId(name)
    const record = this.#records.get(id)
    const expected = record?.expected.filter(tried => !sameRecord(tried, text))
    if (!record || !expected || expected.length === record.expected.length) return []
    const rest = { ...record, expected }
    this.#records.set(id, rest)
    return [{ kind: 'late', key: id, text: JSON.stringify(rest) }]
  }

  /** After a record was resolved; also forgets what is too old to come. */
  resolved({ kind, key, expected, want }: PendingWrite): readonly Note[] {
    const id = recordId({ kind, key })
    const at = this.#monotonic()
    const notes: Note[] = []
    for (const [other, { at: then }] of this.#records) {
      if (at - then < rememberedFor) continue
      this.#records.delete(other)
      notes.push({ kind: 'late', key: other, text: null })
    }
    // Several commits of the same record may still be on their way.
    const tried = new Set([...(this.#records.get(id)?.expected ?? []), ...expected])
    const record: IndeterminateRecord = {
      ...{ kind, key, expected: [...tried].slice(-mostTried), want, at },
      bootId: this.#bootId,
    }
    this.#records.set(id, record)
    return [...notes, { kind: 'late', key: id, text: JSON.stringify(record) }]
  }

  /** The records of which a commit may still come. */
  names(): Iterable<SharedRecordName> {
    return this.#records.values()
  }

  /** The pending write when this is what a record turns out to be; undefined when it is no commit that came late. */
  pendingAfter(name: SharedRecordName, text: string | null): PendingWrite | undefined {
    const record = this.#records.get(recordId(name))
    if (!record || text === null || sameRecord(text, record.want)) return undefined
    if (mayNotBeUndone(record, text)) return undefined
    const { kind, key, want } = record
    return record.expected.some(tried => sameRecord(tried, text))
      ? { kind, key, expected: [text], want }
      : undefined
  }
}
