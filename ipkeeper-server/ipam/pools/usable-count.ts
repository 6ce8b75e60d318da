import type { Interval, Pool } from './pool.ts'

/** Counts the addresses that a pool can give in a run, without walking them; its ranges do not overlap. */
export class UsableCount {
  readonly #runs: readonly Interval[]
  /** How many addresses there are before each run. */
  readonly #before: readonly bigint[]

  constructor(pool: Pool, family: 4 | 6) {
    const ranges = pool.rangeSets.flat().filter(range => range.family === family)
    this.#runs = ranges.flatMap(({ usable }) => usable).sort((a, b) => (a.first < b.first ? -1 : 1))
    let sum = 0n
    this.#before = this.#runs.map(({ first, last }) => {
      const before = sum
      sum += last - first + 1n
      return before
    })
  }

  has(value: bigint): boolean {
    return this.within({ first: value, last: value }) === 1n
  }

  within({ first, last }: Interval): bigint {
    return this.#upTo(last) - this.#upTo(first - 1n)
  }

  #upTo(value: bigint): bigint {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#runs[middle]?.first ?? 0n) <= value) low = middle + 1
      else high = middle
    }
    const run = this.#runs[low - 1]
    if (!run) return 0n
    return (this.#before[low - 1] ?? 0n) + (value < run.last ? value : run.last) - run.first + 1n
  }
}
