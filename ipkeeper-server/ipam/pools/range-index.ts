import type { Address, Family } from '../../../shared/net/address.ts'
import { lowerBound } from './lower-bound.ts'
import type { Interval, Range } from './pool.ts'

/** A range in its segment, with whatever it belongs to. */
export interface PlacedRange<T> {
  readonly segment: string
  readonly range: Range
  readonly owner: T
}

const keyOf = (segment: string, family: Family): string => `${family} ${segment}`

/** Ranges of any number of pools in order, so that looking one up does not cost more with each of them. */
export class RangeIndex<T> {
  readonly #lanes = new Map<string, PlacedRange<T>[]>()

  constructor(placed: Iterable<PlacedRange<T>>) {
    for (const one of placed) {
      const key = keyOf(one.segment, one.range.family)
      const lane = this.#lanes.get(key)
      if (lane) lane.push(one)
      else this.#lanes.set(key, [one])
    }
    for (const lane of this.#lanes.values())
      lane.sort(({ range: a }, { range: b }) =>
        a.first.value < b.first.value ? -1 : a.first.value > b.first.value ? 1 : 0,
      )
  }

  /** Every range that overlaps one which begins no later, with that one. */
  *overlaps(): Iterable<readonly [PlacedRange<T>, PlacedRange<T>]> {
    for (const lane of this.#lanes.values()) {
      let widest: PlacedRange<T> | undefined
      for (const one of lane) {
        if (widest && one.range.first.value <= widest.range.last.value) yield [widest, one]
        if (!widest || one.range.last.value > widest.range.last.value) widest = one
      }
    }
  }

  /** A range that shares an address with a run. No two of the index may overlap. */
  meeting(segment: string, family: Family, run: Interval): PlacedRange<T> | undefined {
    const lane = this.#lanes.get(keyOf(segment, family)) ?? []
    const last = lane[lowerBound(lane, ({ range }) => range.first.value <= run.last) - 1]
    return last && last.range.last.value >= run.first ? last : undefined
  }

  /** The range around an address, whether or not it may be given. No two of the index may overlap. */
  around(segment: string, address: Address): PlacedRange<T> | undefined {
    return this.meeting(segment, address.family, { first: address.value, last: address.value })
  }
}
