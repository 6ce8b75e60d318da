import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'

/** How many rows there are, and the sum of their checksums: rows that are gone, doubled or of old are seen by it. */
export interface Tally {
  readonly rows: number
  readonly sums: number
}

/** What is true of the whole ledger after each commit, in one row that every commit writes. */
export interface Seal {
  /** Made up when the ledger was made; two files of one ledger have the same. */
  readonly ledger: string
  /** Transactions with changes of records or notes since then; 0: it was never used. */
  readonly commits: number
  readonly records: Tally
  readonly notes: Tally
}

/** Below 2^53, so that sums stay exact numbers; the largest sum of a row is 2^32 - 1. */
const modulus = 2 ** 52

export const noRows: Tally = { rows: 0, sums: 0 }

/** undefined: no row, before or after. */
export function tallyAfter(tally: Tally, before: number | undefined, after: number | undefined): Tally {
  const rows = tally.rows + Number(after !== undefined) - Number(before !== undefined)
  return { rows, sums: (tally.sums + (after ?? 0) - (before ?? 0) + modulus) % modulus }
}

export const sameTally = (a: Tally, b: Tally): boolean => a.rows === b.rows && a.sums === b.sums

export const sameSeal = (a: Seal, b: Seal): boolean =>
  a.ledger === b.ledger &&
  a.commits === b.commits &&
  sameTally(a.records, b.records) &&
  sameTally(a.notes, b.notes)

const sumOf = ({ ledger, commits, records, notes }: Seal): number =>
  crc32([ledger, commits, records.rows, records.sums, notes.rows, notes.sums].join(' '))

/** The row, in a database whose layout has one. */
export class SealRow {
  readonly #select: StatementSync
  readonly #update: StatementSync

  constructor(database: DatabaseSync) {
    this.#select = database.prepare('SELECT * FROM seal')
    this.#update = database.prepare(
      'UPDATE seal SET commits = ?, records = ?, record_sums = ?, notes = ?, note_sums = ?, sum = ?',
    )
  }

  /** undefined: it is not as it was written. */
  read(): Seal | undefined {
    const rows = this.#select.all()
    const [row] = rows
    if (!row || rows.length > 1) return undefined
    const number = (column: string): number => Number(row[column])
    const seal: Seal = {
      ledger: String(row['ledger']),
      commits: number('commits'),
      records: { rows: number('records'), sums: number('record_sums') },
      notes: { rows: number('notes'), sums: number('note_sums') },
    }
    return sumOf(seal) === number('sum') ? seal : undefined
  }

  /** To be called within the transaction whose rows it tells of. */
  write(seal: Seal): void {
    const { commits, records, notes } = seal
    this.#update.run(commits, records.rows, records.sums, notes.rows, notes.sums, sumOf(seal))
  }
}

/** For the step of the layout that makes the row. */
export const sealFunctions: Readonly<Record<string, (...values: readonly unknown[]) => number>> = {
  seal_sum: (ledger, commits, records, recordSums, notes, noteSums) =>
    sumOf({
      ledger: String(ledger),
      commits: Number(commits),
      records: { rows: Number(records), sums: Number(recordSums) },
      notes: { rows: Number(notes), sums: Number(noteSums) },
    }),
}
