import { setTimeout as pause } from 'node:timers/promises'
import type { AskApi } from './page-listener.ts'

/** Milliseconds between the end of an audit and the next one. */
const standardRest = 3_000

/**
 * Lets all who ask at a time share an audit, and lets some time pass before the next. Anybody on the node may open the page,
 * and each audit is a look into every namespace, which goes on when whoever asked has left. No answer is older than the
 * question, but for those who come while a look is under way.
 */
export class SpareAudits {
  readonly #ask: AskApi
  readonly #rest: number
  #coming: ReturnType<AskApi> | undefined
  /** Moment of performance.now(). */
  #endedAt = -Infinity

  constructor(ask: AskApi, rest = standardRest) {
    this.#ask = ask
    this.#rest = rest
  }

  readonly ask: AskApi = async url => {
    // It takes no query; one that is there must not make it another audit.
    if (!/^\/v1\/audit(?:\?|$)/.test(url)) return await this.#ask(url)
    this.#coming ??= this.#look()
    return await this.#coming
  }

  /** What is wrong has changed: whoever asks from now on is to see it, which a look that is under way may not. */
  forget(): void {
    this.#coming = undefined
  }

  #look(): ReturnType<AskApi> {
    const look = this.#afterRest().finally(() => {
      this.#endedAt = performance.now()
      if (this.#coming === look) this.#coming = undefined
    })
    return look
  }

  async #afterRest(): ReturnType<AskApi> {
    const rest = this.#endedAt + this.#rest - performance.now()
    if (rest > 0) await pause(rest, undefined, { ref: false })
    return await this.#ask('/v1/audit')
  }
}
