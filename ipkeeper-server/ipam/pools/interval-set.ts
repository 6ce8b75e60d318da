import { lowerBound } from './lower-bound.ts'

/**
 * A set of whole numbers kept as sorted, disjoint, non-adjacent intervals, so that "the lowest number of a range that is
 * not in the set" costs a binary search however many numbers are in it and however wide the range is.
 *
 * Invariant: for every i, first[i] <= last[i] and last[i] + 1 < first[i + 1].
 */
export class IntervalSet {
  readonly #first: bigint[] = []
  readonly #last: bigint[] = []

  /** Index of the first interval that ends at or after the number; the length when there is none. */
  #indexOf(value: bigint): number {
    return lowerBound(this.#last, last => last < value)
  }

  has(value: bigint): boolean {
    const first = this.#first[this.#indexOf(value)]
    return first !== undefined && first <= value
  }

  add(value: bigint): void {
    const index = this.#indexOf(value)
    const first = this.#first[index]
    if (first !== undefined && first <= value) return
    const joinsNext = first === value + 1n
    const joinsPrevious = index > 0 && this.#last[index - 1] === value - 1n
    if (joinsNext && joinsPrevious) {
      this.#last.splice(index - 1, 1)
      this.#first.splice(index, 1)
    } else if (joinsNext) this.#first[index] = value
    else if (joinsPrevious) this.#last[index - 1] = value
    else {
      this.#first.splice(index, 0, value)
      this.#last.splice(index, 0, value)
    }
  }

  delete(value: bigint): void {
    const index = this.#indexOf(value)
    const first = this.#first[index]
    const last = this.#last[index]
    if (first === undefined || last === undefined || first > value) return
    if (first === last) {
      this.#first.splice(index, 1)
      this.#last.splice(index, 1)
    } else if (first === value) this.#first[index] = value + 1n
    else if (last === value) this.#last[index] = value - 1n
    else {
      this.#first.splice(index + 1, 0, value + 1n)
      this.#last.splice(index, 0, value - 1n)
    }
  }

  /** Lowest number of [first, last] that is not in the set; undefined when all are. */
  firstGap(first: bigint, last: bigint): bigint | undefined {
    const index = this.#indexOf(first)
    const start = this.#first[index]
    const end = this.#last[index]
    const candidate = start === undefined || end === undefined || start > first ? first : end + 1n
    return candidate <= last ? candidate : undefined
  }
}
