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
