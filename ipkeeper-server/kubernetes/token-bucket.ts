/** So many at once, then so many per second. Knows no clock: moments are handed in, in milliseconds. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #burst: number
  #tokens: number
  #at = -Infinity

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#tokens = burst
  }

  /** Takes one and returns 0, or takes none and returns the milliseconds until there is one. */
  take(now: number): number {
    if (now > this.#at) {
      this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond)
      this.#at = now
    }
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1000)
    this.#tokens--
    return 0
  }
}
