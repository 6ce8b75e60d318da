import { systemCode } from '../../shared/system-code.ts'
/** Why something fails that is tried again and again: a log has each reason once, and once that it is over. */
export class FailureReasons {
  #told = new Set<string>()
  #ofThisRound = new Set<string>()

  /** Whether that is news. */
  failed(error: unknown): boolean {
    const reason = systemCode(error)
    const isNews = !this.#told.has(reason) && !this.#ofThisRound.has(reason)
    this.#ofThisRound.add(reason)
    return isNews
  }

  /** All was tried once. Returns whether nothing failed, for the first time after something did. */
  endRound(): boolean {
    const isOver = this.#told.size > 0 && this.#ofThisRound.size === 0
    this.#told = this.#ofThisRound
    this.#ofThisRound = new Set()
    return isOver
  }
}
