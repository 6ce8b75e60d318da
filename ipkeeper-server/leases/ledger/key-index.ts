/** Keys of records by a property of theirs. Most properties belong to one record, which then costs no set of its own. */
export class KeyIndex {
  readonly #keys = new Map<string, string | Set<string>>()

  /** The keys under a property, in the order in which they came. */
  get(property: string): Iterable<string> {
    const found = this.#keys.get(property)
    return found === undefined ? [] : typeof found === 'string' ? [found] : found
  }

  has(property: string): boolean {
    return this.#keys.has(property)
  }

  /** Whether a key is among those of a property from now on. */
  keep(property: string, key: string, present: boolean): void {
    if (present) this.add(property, key)
    else this.delete(property, key)
  }

  add(property: string, key: string): void {
    const found = this.#keys.get(property)
    if (found === undefined) this.#keys.set(property, key)
    else if (typeof found !== 'string') found.add(key)
    else if (found !== key) this.#keys.set(property, new Set([found, key]))
  }

  delete(property: string, key: string): void {
    const found = this.#keys.get(property)
    if (found === key) this.#keys.delete(property)
    else if (found instanceof Set && found.delete(key) && found.size === 0) this.#keys.delete(property)
  }
}

/** Whether a key is in a set from now on. */
export function keepIn(set: Set<string>, key: string, present: boolean): void {
  if (present) set.add(key)
  else set.delete(key)
}

/** How many records have a property; what none has any more costs nothing. */
export class PropertyCounts {
  readonly #counts = new Map<string, number>()

  get size(): number {
    return this.#counts.size
  }

  get(property: string): number {
    return this.#counts.get(property) ?? 0
  }

  has(property: string): boolean {
    return this.#counts.has(property)
  }

  /** The properties that any record has. */
  properties(): Iterable<string> {
    return this.#counts.keys()
  }

  /** @param step 1 when there is one more, -1 when one less */
  count(property: string, step: 1 | -1): void {
    const count = this.get(property) + step
    if (count === 0) this.#counts.delete(property)
    else this.#counts.set(property, count)
  }
}
