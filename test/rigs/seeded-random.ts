/** Numbers that look random and are the same for the same seed (mulberry32). */
export class SeededRandom {
  readonly #seed: number
  #state: number

  constructor(seed: number) {
    this.#seed = seed >>> 0
    this.#state = this.#seed
  }

  /** Another one, which goes by this one's seed and the numbers alone, however much was drawn from this one. */
  derive(...numbers: readonly number[]): SeededRandom {
    const seed = numbers.reduce(
      (mixed, number) => Math.imul(mixed ^ number, 0x9e3779b1) + 0x7f4a7c15,
      this.#seed,
    )
    return new SeededRandom(seed ^ (seed >>> 15))
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let value = this.#state
    value = Math.imul(value ^ (value >>> 15), value | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  /** The same items in another order. */
  shuffle<Item>(items: readonly Item[]): readonly Item[] {
    return items
      .map(item => ({ item, rank: this.next() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item)
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
}
