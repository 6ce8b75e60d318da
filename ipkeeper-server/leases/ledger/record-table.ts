import type { RecordKind, RecordTypes } from '../../ipam/records/records.ts'

/**
 * Records of one kind by key. One that came as JSON text stays text until somebody asks for it by its key: most are never
 * looked at, and parsing them all would cost most of the start-up time and of the memory.
 *
 * Invariants: what is kept under a key, text or object, is the whole of the present record and of no other version; nobody
 * changes an object that was given to the table or came from it. So it does not matter to a reader which of them is kept,
 * nor whether it gets the object that another reader has or an equal one.
 */
export class RecordTable<T extends object> {
  readonly #records = new Map<string, T | string>()

  get size(): number {
    return this.#records.size
  }

  /** The record, which stays parsed: whoever plans with it asks for it again. */
  get(key: string): T | undefined {
    const found = this.#records.get(key)
    if (typeof found !== 'string') return found
    const record = JSON.parse(found) as T
    this.#records.set(key, record)
    return record
  }

  /** The record, for one look at it: text stays text. */
  peek(key: string): T | undefined {
    const found = this.#records.get(key)
    return typeof found === 'string' ? (JSON.parse(found) as T) : found
  }

  /** What gives the record as it is at this moment, parsed when it is called, however the table has changed by then. */
  asItIs(key: string): (() => T) | undefined {
    const found = this.#records.get(key)
    if (found === undefined) return undefined
    return typeof found === 'string' ? () => JSON.parse(found) as T : () => found
  }

  /** All of them as text, as a store would have it. */
  *texts(): Iterable<readonly [key: string, text: string]> {
    for (const [key, found] of this.#records)
      yield [key, typeof found === 'string' ? found : JSON.stringify(found)]
  }

  has(key: string): boolean {
    return this.#records.has(key)
  }

  set(key: string, record: T): void {
    this.#records.set(key, record)
  }

  /** The string itself is kept, so that a store that has it too shares it. */
  setText(key: string, text: string): void {
    this.#records.set(key, text)
  }

  delete(key: string): void {
    this.#records.delete(key)
  }

  keys(): Iterable<string> {
    return this.#records.keys()
  }

  /** All of them; they stay parsed. */
  *values(): Iterable<T> {
    for (const key of this.#records.keys()) {
      const record = this.get(key)
      if (record) yield record
    }
  }

  /** Those of the keys that are there; they stay parsed. */
  ofKeys(keys: Iterable<string>): T[] {
    return [...keys].flatMap(key => this.get(key) ?? [])
  }

  /**
   * Those that may be what is looked for, by their text, since parsing all of them takes longer than searching; what is parsed
   * already may be in any case. Each for one look.
   */
  *search(mayBe: (text: string) => boolean): Iterable<T> {
    for (const found of this.#records.values()) {
      if (typeof found !== 'string') yield found
      else if (mayBe(found)) yield JSON.parse(found) as T
    }
  }

  /** All of them, each for one look at it: text stays text. */
  *walk(): Iterable<T> {
    for (const key of this.#records.keys()) {
      const record = this.peek(key)
      if (record) yield record
    }
  }
}

export type RecordTables = { readonly [K in RecordKind]: RecordTable<RecordTypes[K]> }

export const emptyTables = (): RecordTables => ({
  lease: new RecordTable(),
  holder: new RecordTable(),
  attachment: new RecordTable(),
  reservation: new RecordTable(),
  pool: new RecordTable(),
  quota: new RecordTable(),
  mac: new RecordTable(),
  node: new RecordTable(),
})

export interface RecordName {
  readonly kind: RecordKind
  readonly key: string
}
