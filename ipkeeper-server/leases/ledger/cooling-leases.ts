/** Of a resting lease: which node had it, and when it was released, in milliseconds since the epoch. */
export interface Rest {
  readonly node: string
  readonly since: number
}

/**
 * The resting leases of a pool by their keys, the longest rested first. They come in the order of their release, but for two:
 * at start records are loaded in no order, and an undo brings back one that has rested for a while.
 */
export class RestingLeases {
  #rests = new Map<string, Rest>()
  #newest = -Infinity
  #sorted = true

  get size(): number {
    return this.#rests.size
  }

  add(key: string, { node, since }: Rest): void {
    this.#rests.delete(key)
    this.#rests.set(key, { node, since })
    if (since < this.#newest) this.#sorted = false
    else this.#newest = since
  }

  delete(key: string): void {
    this.#rests.delete(key)
  }

  *inOrder(): Iterable<Rest & { readonly key: string }> {
    if (!this.#sorted) {
      this.#rests = new Map([...this.#rests].sort(([, a], [, b]) => a.since - b.since))
      this.#newest = [...this.#rests.values()].at(-1)?.since ?? -Infinity
      this.#sorted = true
    }
    for (const [key, rest] of this.#rests) yield { key, ...rest }
  }
}
