import { SeededRandom } from '../rigs/seeded-random.ts'

/**
 * What is drawn while a history is played. A number goes by who asks, and when, and not by what was drawn before, so that a
 * step that is left out changes little for the others.
 */
export class Draws {
  readonly #random: SeededRandom
  readonly #now: () => number
  /** How often each has asked in its last millisecond. */
  readonly #asked = new Map<number, { readonly at: number; readonly times: number }>()

  constructor(seed: number, now: () => number) {
    this.#random = new SeededRandom(seed)
    this.#now = now
  }

  /** From 0 to below 1. */
  next(who: number): number {
    const at = this.#now()
    const last = this.#asked.get(who)
    const times = last?.at === at ? last.times + 1 : 0
    this.#asked.set(who, { at, times })
    return this.#random.derive(who, at, times).next()
  }
}
