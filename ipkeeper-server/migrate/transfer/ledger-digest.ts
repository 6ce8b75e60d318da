import { createHash } from 'node:crypto'
import { canonicalJson } from '../../ipam/records/canonical-json.ts'
import type { HistoryEntry } from '../../ipam/records/history-entry.ts'
import type { RecordKind } from '../../ipam/records/records.ts'
import type { StoredRecord } from '../../store/lease-store.ts'

/** How much there is of a part of a ledger, and a digest by which two stores that have the same can be told. */
export interface PartDigest {
  readonly count: number
  /** "sha256-sum:" and 64 hexadecimal digits. */
  readonly digest: string
}

export interface LedgerDigest {
  readonly records: PartDigest
  readonly history: PartDigest
}

/** A pool begins anew in each store, which counts its changes for itself. */
const countsAnew = (kind: RecordKind): boolean => kind === 'pool'

/**
 * One record in one line, the same from whichever store it comes: keys of objects in one order, and without what a store
 * counts for itself.
 */
export function canonicalRecord({ kind, key, text }: StoredRecord): string {
  const record = JSON.parse(text) as Record<string, unknown>
  if (countsAnew(kind)) delete record['generation']
  return canonicalJson({ kind, key, record })
}

/**
 * Of lines in whichever order they come: the sum of their SHA-256, as numbers of 256 bits. Nothing has to be sorted or kept
 * for it, however many there are.
 */
class LineDigest {
  #sum = 0n
  #count = 0

  protected addLine(line: string): void {
    this.#sum = BigInt.asUintN(
      256,
      this.#sum + BigInt(`0x${createHash('sha256').update(line).digest('hex')}`),
    )
    this.#count++
  }

  end(): PartDigest {
    return { count: this.#count, digest: `sha256-sum:${this.#sum.toString(16).padStart(64, '0')}` }
  }
}

export class RecordDigest extends LineDigest {
  add(record: StoredRecord): void {
    this.addLine(canonicalRecord(record))
  }
}

export class HistoryDigest extends LineDigest {
  add(entry: HistoryEntry): void {
    this.addLine(canonicalJson(entry))
  }
}

export function digestRecords(records: Iterable<StoredRecord>): PartDigest {
  const digest = new RecordDigest()
  for (const record of records) digest.add(record)
  return digest.end()
}
