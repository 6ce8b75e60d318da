import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { canonicalJson } from '../../ipam/canonical-json.ts'
import { endOf, sinceOf, type HistoryEntry, type HistoryEvent } from '../../ipam/history-entry.ts'
import type { HistoryQuery, HistoryRule } from '../lease-store.ts'

/** Entries that one step of a pruning looks at: about a millisecond of work when all of them go. */
const stepSize = 100

/** Entries that one step of a counting passes over; it reads no body. */
const strideSize = 2000

type Row = Readonly<Record<string, unknown>>

function entryOf(row: Row): HistoryEntry {
  return {
    ...(JSON.parse(String(row['body'])) as Omit<HistoryEntry, 'id' | 'segment' | 'address' | 'at'>),
    id: Number(row['id']),
    segment: String(row['segment']),
    address: String(row['address']),
    at: Number(row['at']),
  }
}

/** The history of leases in the database of the embedded store. Synchronous; the store owns transactions and errors. */
export class HistoryTable {
  readonly #database: DatabaseSync
  readonly #newest: StatementSync
  readonly #insert: StatementSync
  readonly #byId: StatementSync
  readonly #adopt: StatementSync
  readonly #nthNewest: StatementSync
  readonly #window: StatementSync
  readonly #prune: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#newest = database.prepare(
      'SELECT id, segment, address, at, body FROM history WHERE segment = ? AND address = ? ORDER BY id DESC LIMIT 1',
    )
    this.#insert = database.prepare(
      'INSERT INTO history (segment, address, at, ends, body) VALUES (?, ?, ?, ?, ?)',
    )
    this.#byId = database.prepare('SELECT id, segment, address, at, body FROM history WHERE id = ?')
    this.#adopt = database.prepare(
      'INSERT INTO history (id, segment, address, at, ends, body) VALUES (?, ?, ?, ?, ?, ?)',
    )
    this.#nthNewest = database.prepare(
      'SELECT id FROM history WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ?',
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
               WHERE newer.segment = entry.segment AND newer.address = entry.address AND newer.id > entry.id)))`,
    )
  }

  /** To be called within the transaction of the change that the event belongs to. */
  add(event: HistoryEvent): void {
    const newest = this.#newest.get(event.segment, event.address)
    const since = sinceOf(event, newest && entryOf(newest))
    const { segment, address, at, ...body } = event
    this.#insert.run(segment, address, at, endOf(event), JSON.stringify({ ...body, since }))
  }

  /** As it is, with its ID; to be called within a transaction. Returns the entry that has the ID instead, if another one has. */
  adopt(entry: HistoryEntry): HistoryEntry | undefined {
    const present = this.#byId.get(entry.id)
    if (present) {
      const other = entryOf(present)
      return canonicalJson(other) === canonicalJson(entry) ? undefined : other
    }
    const { id, segment, address, at, ...body } = entry
    this.#adopt.run(id, segment, address, at, endOf(entry), JSON.stringify(body))
    return undefined
  }

  find({ segment, address, limit, before }: HistoryQuery): HistoryEntry[] {
    const conditions = Object.entries({
      'segment = ?': segment,
      'address = ?': address,
      'id < ?': before,
    }).filter((condition): condition is [string, string | number] => condition[1] !== undefined)
    const where = conditions.map(([text]) => text).join(' AND ') || 'true'
    const rows = this.#database
      .prepare(`SELECT id, segment, address, at, body FROM history WHERE ${where} ORDER BY id DESC LIMIT ?`)
      .all(...conditions.map(([, value]) => value), limit)
    return rows.map(entryOf)
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
      yield this.#removeUnsynced({ after, last, firstToStay, olderThan, now })
      after = last
    }
  }

  /**
   * A pruning that power loss takes back is done again by the next one, so nobody waits for the disk: what is written
   * gets there with the next change of a lease. The database stays whole either way (SQLite, PRAGMA synchronous).
   */
  #removeUnsynced(bounds: Readonly<Record<string, number>>): number {
    this.#database.exec('PRAGMA synchronous = NORMAL')
    try {
      return Number(this.#prune.run(bounds).changes)
    } finally {
      this.#database.exec('PRAGMA synchronous = FULL')
    }
  }
}
