/** However long a refresh takes, so many times as long is waited until the next: a page never asks all of the time. */
const share = 10
/** Milliseconds between the ends of two refreshes, and until one that failed is tried again. */
const pause = 500
const retryAfter = 5_000

/**
 * Does work again and again when it is woken, one at a time: what wakes it during the work, or soon afterwards, is done
 * together. `work` says whether it succeeded.
 */
export class Refresher {
  readonly #work: () => Promise<boolean>
  #timer: ReturnType<typeof setTimeout> | undefined
  #working = false
  #wanted: 'soon' | 'now' | undefined
  #notBefore = 0

  constructor(work: () => Promise<boolean>) {
    this.#work = work
  }

  /** `now`: a person waits, so the pause is left away. */
  wake(when: 'soon' | 'now' = 'soon'): void {
    if (this.#wanted !== 'now') this.#wanted = when
    if (this.#working) return
    if (when === 'now') clearTimeout(this.#timer)
    else if (this.#timer !== undefined) return
    const wait = when === 'now' ? 0 : Math.max(0, this.#notBefore - performance.now())
    this.#timer = setTimeout(() => void this.#run(), wait)
  }

  async #run(): Promise<void> {
    this.#timer = undefined
    this.#working = true
    this.#wanted = undefined
    const began = performance.now()
    const done = await this.#work()
    const ended = performance.now()
    this.#working = false
    this.#notBefore = ended + (done ? Math.max(pause, share * (ended - began)) : retryAfter)
    const wanted = this.#wanted as 'soon' | 'now' | undefined
    if (wanted !== undefined || !done) this.wake(wanted)
  }
}
