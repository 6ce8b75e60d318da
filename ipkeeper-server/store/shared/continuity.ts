/** What was known of an engine's data when a call began. */
export interface CallStart<Known> {
  readonly breaks: number
  readonly known: Known
}

/** Whether the answers of an engine are all out of the same data. */
export abstract class Continuity<Known> {
  readonly #onBreak: (reason: string) => void
  #breaks = 0

  /** @param onBreak called with the reason, once for each break */
  constructor(onBreak: (reason: string) => void) {
    this.#onBreak = onBreak
  }

  /** By what an answer is judged later. */
  protected abstract known(): Known

  /** To be taken before a call is made. */
  begin(): CallStart<Known> {
    return { breaks: this.#breaks, known: this.known() }
  }

  /** Whether there was no break since the call began: an answer out of other data than is known now is none. */
  isUnbroken({ breaks }: CallStart<Known>): boolean {
    return breaks === this.#breaks
  }

  break(reason: string): void {
    this.#breaks++
    this.#onBreak(reason)
  }
}
