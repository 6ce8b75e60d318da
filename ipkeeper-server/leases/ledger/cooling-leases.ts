/** Of a cooling lease: which node had it, and when it was released, in milliseconds since the epoch. */
export interface Cooling {
  readonly node: string
  readonly since: number
}

/**
 * The cooling and remembered leases of a pool by their keys, the longest released first. They come in the order of their release, but for two:
 * at start records are loaded in no order, and an undo brings back one that was released a while ago.
 */
export class CoolingLeases {
  #leases = new Map<string, Cooling>()
  #newest = -Infinity
  #sorted = true

  get size(): number {
    return this.#leases.size
  }

  add(key: string, { node, since }: Cooling): void {
    this.#leases.delete(key)
    this.#leases.set(key, { node, since })
    if (since < this.#newest) this.#sorted = false
    else this.#newest = since
  }

  delete(key: string): void {
    this.#leases.delete(key)
  }

  *inOrder(): Iterable<Cooling & { readonly key: string }> {
    if (!this.#sorted) {
      this.#leases = new Map([...this.#leases].sort(([, a], [, b]) => a.since - b.since))
      this.#newest = [...this.#leases.values()].at(-1)?.since ?? -Infinity
      this.#sorted = true
    }
    for (const [key, cooling] of this.#leases) yield { key, ...cooling }
  }
}
