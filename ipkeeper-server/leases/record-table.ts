/**
 * Records of one kind by key. One that was loaded stays JSON text until somebody asks for it: at start most are never
 * looked at, and parsing them all would cost most of the start-up time and of the memory.
 */
export class RecordTable<T extends object> {
  readonly #records = new Map<string, T | string>()

  get size(): number {
    return this.#records.size
  }

  get(key: string): T | undefined {
    const found = this.#records.get(key)
    if (typeof found !== 'string') return found
    const record = JSON.parse(found) as T
    this.#records.set(key, record)
    return record
  }

  has(key: string): boolean {
    return this.#records.has(key)
  }

  set(key: string, record: T): void {
    this.#records.set(key, record)
  }

  setText(key: string, text: string): void {
    this.#records.set(key, text)
  }

  delete(key: string): void {
    this.#records.delete(key)
  }

  keys(): Iterable<string> {
    return this.#records.keys()
  }

  *values(): Iterable<T> {
    for (const key of this.#records.keys()) {
      const record = this.get(key)
      if (record) yield record
    }
  }
}
