import { leaseKey, type ReservationRecord } from '../../ipam/records/records.ts'
import type { EngineRecord } from '../shared/engine.ts'

/** An IPReservation, as far as it can be read. */
export interface ReservationObject {
  readonly revision: number
  readonly createdAt: number
  readonly records: readonly ReservationRecord[]
}

/** What is written to change one record. */
export interface Promised {
  /** "namespace/name" of the object. */
  readonly name: string
  readonly object: ReservationObject
  /** Of the record: it grows whenever another object has its say, too. */
  readonly revision: number
}

export interface ReservationSink {
  put(record: EngineRecord): void
  remove(key: string): void
  /** Two objects promise one address, and the older one counts. */
  twice(key: string, counts: string, ignored: string): void
}

/** Records of reservations from objects that may hold several of them each, and of which two may hold the same. */
export class ReservationBook {
  readonly #sink: ReservationSink
  readonly #objects = new Map<string, ReservationObject>()
  readonly #namesByKey = new Map<string, Set<string>>()
  readonly #promised = new Map<string, Promised>()

  constructor(sink: ReservationSink) {
    this.#sink = sink
  }

  get(key: string): Promised | undefined {
    return this.#promised.get(key)
  }

  /** Nobody is told. */
  clear(): void {
    this.#objects.clear()
    this.#namesByKey.clear()
    this.#promised.clear()
  }

  put(name: string, object: ReservationObject): void {
    const before = this.#objects.get(name)
    this.#objects.set(name, object)
    const keys = new Set(object.records.map(leaseKey))
    for (const key of keys) {
      const names = this.#namesByKey.get(key)
      if (names) names.add(name)
      else this.#namesByKey.set(key, new Set([name]))
    }
    for (const record of before?.records ?? [])
      if (!keys.has(leaseKey(record))) this.#forget(leaseKey(record), name)
    for (const key of new Set([...keys, ...(before?.records ?? []).map(leaseKey)]))
      this.#settle(key, object.revision)
  }

  remove(name: string, revision: number): void {
    const before = this.#objects.get(name)
    this.#objects.delete(name)
    for (const key of new Set((before?.records ?? []).map(leaseKey))) {
      this.#forget(key, name)
      this.#settle(key, revision)
    }
  }

  #forget(key: string, name: string): void {
    const names = this.#namesByKey.get(key)
    names?.delete(name)
    if (names?.size === 0) this.#namesByKey.delete(key)
  }

  /** Lets the oldest object that promises the address have its say. */
  #settle(key: string, revision: number): void {
    const [first, ...others] = [...(this.#namesByKey.get(key) ?? [])]
      .flatMap(name => {
        const object = this.#objects.get(name)
        return object ? [{ name, object }] : []
      })
      .sort((a, b) => a.object.createdAt - b.object.createdAt || (a.name < b.name ? -1 : 1))
    const before = this.#promised.get(key)
    if (!first) {
      this.#promised.delete(key)
      if (before) this.#sink.remove(key)
      return
    }
    for (const other of others) this.#sink.twice(key, first.name, other.name)
    if (before?.name === first.name && before.object === first.object) return
    const record = first.object.records.find(one => leaseKey(one) === key)
    this.#promised.set(key, { ...first, revision })
    this.#sink.put({ kind: 'reservation', key, text: JSON.stringify(record), revision })
  }
}
