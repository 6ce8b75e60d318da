import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { Problem } from '../../../shared/problem/problem.ts'
import { canonicalJson } from '../../ipam/records/canonical-json.ts'
import { linked } from '../history-chain.ts'
import { isSoundEntry } from '../../ipam/plan/record-fault.ts'
import {
  endOfEvent,
  sinceOf,
  type HistoryEntry,
  type HistoryEvent,
} from '../../ipam/records/history-entry.ts'
import type { HistoryBegin, HistoryQuery, HistoryRule } from '../lease-store.ts'
import { historySum } from './row-sum.ts'

/** Entries that one step of a pruning looks at: about a millisecond of work when all of them go. */
const stepSize = 100

/** Entries that one step passes over that reads no body. */
const strideSize = 2000

/** Entries that one step of a verification reads: some milliseconds. */
const verifiedAtOnce = 1000

type Row = Readonly<Record<string, unknown>>

export const historyColumns = 'id, segment, address, at, ends, body, sum'

/** undefined: the row does not match its checksum, or is no entry. */
export function entryOfRow(row: Row): HistoryEntry | undefined {
  const [segment, address, body] = [String(row['segment']), String(row['address']), String(row['body'])]
  const [at, ends] = [Number(row['at']), row['ends'] === null ? null : Number(row['ends'])]
  return historySum(segment, address, at, ends, body) === Number(row['sum']) ? readHistoryRow(row) : undefined
}

/** The same of a row that has no checksum, or whose checksum a version of old was given with whatever stood there. */
export function readHistoryRow(row: Row): HistoryEntry | undefined {
  try {
    const entry = {
      ...(JSON.parse(String(row['body'])) as Omit<HistoryEntry, 'id' | 'segment' | 'address' | 'at'>),
      ...{ id: Number(row['id']), segment: String(row['segment']), address: String(row['address']) },
      at: Number(row['at']),
    }
    return isSoundEntry(entry) ? entry : undefined
  } catch {
    return undefined
  }
}

/** The history of leases in the database of the embedded store. Synchronous; the store owns transactions and errors. */
export class HistoryTable {
  readonly #location: string
  readonly #database: DatabaseSync
  readonly #newest: StatementSync
  readonly #last: StatementSync
  readonly #next: StatementSync
  readonly #insert: StatementSync
  readonly #replace: StatementSync
  readonly #byId: StatementSync
  readonly #nthNewest: StatementSync
  readonly #stride: StatementSync
  readonly #window: StatementSync
  readonly #prune: StatementSync

  /** @param location for messages */
  constructor(database: DatabaseSync, location: string) {
    this.#location = location
    this.#database = database
    this.#newest = database.prepare(
      `SELECT ${historyColumns} FROM history WHERE segment = ? AND address = ? ORDER BY id DESC LIMIT 1`,
    )
    this.#last = database.prepare(
      "SELECT id, body ->> '$.link' AS link FROM history ORDER BY id DESC LIMIT 1",
    )
    this.#next = database.prepare(`SELECT ${historyColumns} FROM history WHERE id > ? ORDER BY id LIMIT 1`)
    this.#insert = database.prepare(
      'INSERT INTO history (id, segment, address, at, ends, body, sum) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    this.#replace = database.prepare('UPDATE history SET body = ?, sum = ? WHERE id = ?')
    this.#byId = database.prepare(`SELECT ${historyColumns} FROM history WHERE id = ?`)
    this.#nthNewest = database.prepare(
      'SELECT id FROM history WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ?',
    )
    this.#stride = database.prepare(
      `SELECT id, at FROM history WHERE id < ? ORDER BY id DESC LIMIT ${strideSize}`,
    )
    this.#window = database.prepare(
      `SELECT max(id) AS last, min(at) AS oldest
         FROM (SELECT id, at FROM history WHERE id > ? ORDER BY id LIMIT ${stepSize})`,
    )
    this.#prune = database.prepare(
      `DELETE FROM history WHERE id IN (
         SELECT id FROM history AS entry
          WHERE id > :after AND id <= :last AND (id < :firstToStay OR at < :olderThan)
            AND (ends <= :now OR EXISTS (
              SELECT 1 FROM history AS newer
               WHERE newer.segment = entry.segment AND newer.address = entry.address AND newer.id > entry.id)))
       RETURNING id, body ->> '$.link' AS link`,
    )
  }

  /** To be called within the transaction of the change that the event belongs to. */
  add(event: HistoryEvent): void {
    const newest = this.#newest.get(event.segment, event.address)
    // A damaged entry must not keep a pod from starting: its tenure begins anew.
    const since = sinceOf(event, newest && entryOfRow(newest))
    const last = this.#last.get()
    const link = typeof last?.['link'] === 'string' ? last['link'] : undefined
    this.#put(linked({ ...event, since, id: Number(last?.['id'] ?? 0) + 1 }, { link }))
  }

  #put(entry: HistoryEntry): void {
    const { id, segment, address, at, ends, body, sum } = rowOf(entry)
    this.#insert.run(id, segment, address, at, ends, body, sum)
  }

  /** As it is, with its ID; to be called within a transaction. Returns the entry that has the ID instead, if another one has. */
  adopt(entry: HistoryEntry): HistoryEntry | undefined {
    const present = this.#byId.get(entry.id)
    if (present) {
      const other = this.#entryOf(present)
      return canonicalJson(other) === canonicalJson(entry) ? undefined : other
    }
    this.#put(entry)
    return undefined
  }

  find({ segment, address, limit, before, after }: HistoryQuery): HistoryEntry[] {
    const conditions = Object.entries({
      'segment = ?': segment,
      'address = ?': address,
      'id < ?': before,
      'id > ?': after,
    }).filter((condition): condition is [string, string | number] => condition[1] !== undefined)
    const where = conditions.map(([text]) => text).join(' AND ') || 'true'
    const rows = this.#database
      .prepare(
        `SELECT ${historyColumns} FROM history WHERE ${where} ORDER BY id ${after === undefined ? 'DESC' : ''} LIMIT ?`,
      )
      .all(...conditions.map(([, value]) => value), limit)
    return rows.map(row => this.#entryOf(row))
  }

  #entryOf(row: Row): HistoryEntry {
    const entry = entryOfRow(row)
    if (entry) return entry
    throw new Problem(
      'IPK_STORE_DAMAGED',
      `store ${this.#location}: entry ${Number(row['id'])} of the history does not match its checksum`,
      {
        hint: 'no lease is concerned; to rebuild the history from what can be read: ipkeeperctl rescue',
      },
    )
  }

  /** Whether there is no entry at all. */
  isEmpty(): boolean {
    return this.#database.prepare('SELECT id FROM history LIMIT 1').get() === undefined
  }

  /** IDs of entries that do not match their checksums; one short step after the other. */
  *damaged(): Generator<readonly number[]> {
    const page = this.#database.prepare(
      `SELECT ${historyColumns} FROM history WHERE id > ? ORDER BY id LIMIT ${verifiedAtOnce}`,
    )
    for (let after = Number.MIN_SAFE_INTEGER; ;) {
      const rows = page.all(after)
      const last = rows.at(-1)
      if (!last) return
      yield rows.flatMap(row => (entryOfRow(row) ? [] : [Number(row['id'])]))
      after = Number(last['id'])
    }
  }

  /** The oldest entry from which on no ID is missing; looks at one stride of IDs after the other, and gives the last answer at the end. */
  *begins(): Generator<HistoryBegin | undefined> {
    let first: HistoryBegin | undefined
    for (;;) {
      const rows = this.#stride.all(first?.id ?? Number.MAX_SAFE_INTEGER)
      for (const row of rows) {
        const [id, at] = [Number(row['id']), Number(row['at'])]
        if (first && id !== first.id - 1) {
          yield first
          return
        }
        first = { id, at }
      }
      yield first
      if (rows.length < strideSize) return
    }
  }

  /** One short step after the other, each in a transaction of its own; yields how many entries it removed. */
  *prune({ olderThan, maxEntries, now }: HistoryRule): Generator<number> {
    let firstToStay = Number.MAX_SAFE_INTEGER
    for (let left = maxEntries; left > 0; left -= strideSize) {
      const found = this.#nthNewest.get(firstToStay, Math.min(left, strideSize) - 1)
      firstToStay = Number(found?.['id'] ?? 0)
      yield 0
      if (!found) break
    }
    for (let after = 0; ;) {
      const { last, oldest } = this.#window.get(after) ?? {}
      if (typeof last !== 'number' || typeof oldest !== 'number') return
      // Entries are in the order of their moments, but for a clock that was set; then the next hour sees to the rest.
      if (after >= firstToStay && oldest >= olderThan) return
      // Synced like every other transaction: of two that are not, a power cut could keep the later one alone, and the log would
      // look as if it were damaged (wal-frames.ts).
      const gone = this.#prune.all({ after, last, firstToStay, olderThan, now })
      this.#mark(gone)
      yield gone.length
      after = last
    }
  }

  /** Notes in the entry behind the last one that went what that one's link was. */
  #mark(gone: readonly Row[]): void {
    const [last] = gone.toSorted((a, b) => Number(b['id']) - Number(a['id']))
    const next = last && this.#next.get(Number(last['id']))
    const entry = next && entryOfRow(next)
    if (typeof last?.['link'] !== 'string' || entry?.id !== Number(last['id']) + 1) return
    const { id, body, sum } = rowOf({ ...entry, follows: last['link'] })
    this.#replace.run(body, sum, id)
  }
}

interface HistoryRow {
  readonly id: number
  readonly segment: string
  readonly address: string
  readonly at: number
  readonly ends: number | null
  readonly body: string
  readonly sum: number
}

function rowOf({ id, segment, address, at, ...rest }: HistoryEntry): HistoryRow {
  const [ends, body] = [endOfEvent({ ...rest, at }), JSON.stringify(rest)]
  return { id, segment, address, at, ends, body, sum: historySum(segment, address, at, ends, body) }
}
