import type { Note } from './journal.ts'
import type { OwedRecord } from './pending-write.ts'
import { recordId, type RecordName } from './record-name.ts'
import { sameRecord } from './same-record.ts'

/** Milliseconds after which an engine carries out nothing any more that it was asked for: ten times its longest timeouts. */
const lateFor = 600_000

/** So many versions of one record are remembered. */
const mostTried = 32

interface LateRecord extends OwedRecord {
  /** When it was settled, in milliseconds of CLOCK_MONOTONIC. */
  readonly at: number
  /** Of which boot; absent in records of old, whose moments are of a clock that is set. */
  readonly bootId?: string
}

/**
 * Records that were settled after nobody could tell what became of a commit. An engine may still carry that commit out: a
 * request can lie in a queue of a frozen or cut-off server, longer than anybody waits. Then a record appears that nobody
 * was answered from, and it has to be settled once more.
 */
export class LateCommits {
  readonly #monotonic: () => number
  readonly #bootId: string
  readonly #records = new Map<string, LateRecord>()

  /** `monotonic`: milliseconds of CLOCK_MONOTONIC, which begins anew with each boot. */
  constructor(monotonic: () => number, bootId: string) {
    this.#monotonic = monotonic
    this.#bootId = bootId
  }

  /** Takes note of one of an earlier run of the daemon. One of another boot is as old as this boot, at the least. */
  found(text: string): void {
    const record = JSON.parse(text) as LateRecord
    const { bootId } = record
    const at = bootId === this.#bootId ? record.at : bootId === undefined ? this.#monotonic() : 0
    this.#records.set(recordId(record), { ...record, at, bootId: this.#bootId })
  }

  /** After a commit of this node: the record is as it is to be, also where the same was tried before and given up. */
  wrote(name: RecordName, text: string | null): readonly Note[] {
    const id = recordId(name)
    const record = this.#records.get(id)
    const expected = record?.expected.filter(tried => !sameRecord(tried, text))
    if (!record || !expected || expected.length === record.expected.length) return []
    const rest = { ...record, expected }
    this.#records.set(id, rest)
    return [{ kind: 'late', key: id, text: JSON.stringify(rest) }]
  }

  /** After a record was settled; also forgets what is too old to come. */
  settled({ kind, key, expected, want }: OwedRecord): readonly Note[] {
    const id = recordId({ kind, key })
    const at = this.#monotonic()
    const notes: Note[] = []
    for (const [other, { at: then }] of this.#records) {
      if (at - then < lateFor) continue
      this.#records.delete(other)
      notes.push({ kind: 'late', key: other, text: null })
    }
    // Several commits of the same record may still be on their way.
    const tried = new Set([...(this.#records.get(id)?.expected ?? []), ...expected])
    const record: LateRecord = {
      ...{ kind, key, expected: [...tried].slice(-mostTried), want, at },
      bootId: this.#bootId,
    }
    this.#records.set(id, record)
    return [...notes, { kind: 'late', key: id, text: JSON.stringify(record) }]
  }

  /** What is owed when this is what a record turns out to be; undefined when it is no commit that came late. */
  owedAfter(name: RecordName, text: string | null): OwedRecord | undefined {
    const record = this.#records.get(recordId(name))
    if (!record || text === null || sameRecord(text, record.want)) return undefined
    if (this.#monotonic() - record.at >= lateFor) return undefined
    const { kind, key, want } = record
    return record.expected.some(tried => sameRecord(tried, text))
      ? { kind, key, expected: [text], want }
      : undefined
  }
}
