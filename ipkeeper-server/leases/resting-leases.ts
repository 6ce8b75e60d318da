/**
 * Keys of the resting leases of a pool, the longest rested first. They come in the order of their release, but for two: at
 * start records are loaded in no order, and an undo brings back one that has rested for a while.
 */
export class RestingLeases {
  #since = new Map<string, number>()
  #newest = -Infinity
  #sorted = true

  get size(): number {
    return this.#since.size
  }

  /** @param since when it was released, milliseconds since the epoch */
  add(key: string, since: number): void {
    this.#since.delete(key)
    this.#since.set(key, since)
    if (since < this.#newest) this.#sorted = false
    else this.#newest = since
  }

  delete(key: string): void {
    this.#since.delete(key)
  }

  inOrder(): Iterable<string> {
    if (!this.#sorted) {
      this.#since = new Map([...this.#since].sort(([, a], [, b]) => a - b))
      this.#newest = [...this.#since.values()].at(-1) ?? -Infinity
      this.#sorted = true
    }
    return this.#since.keys()
  }
}
