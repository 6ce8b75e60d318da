import type { AskApi } from './page-listener.ts'

/** Milliseconds: so old an audit may be that a page is shown. */
const goodFor = 3_000

/**
 * Answers audits with one that is under way, or just was. Anybody on the node may open the page, and each audit is a look
 * into every namespace, which goes on when whoever asked has left.
 */
export class SpareAudits {
  readonly #ask: AskApi
  readonly #now: () => number
  #underWay: ReturnType<AskApi> | undefined
  #last: { readonly at: number; readonly answer: Awaited<ReturnType<AskApi>> } | undefined

  /** How often: an audit that is under way meanwhile is of no more use. */
  #forgotten = 0

  /** @param now milliseconds of a clock that nobody sets */
  constructor(ask: AskApi, now: () => number) {
    this.#ask = ask
    this.#now = now
  }

  readonly ask: AskApi = async url => {
    // It takes no query; one that is there must not make it another audit.
    if (!/^\/v1\/audit(?:\?|$)/.test(url)) return await this.#ask(url)
    if (this.#last && this.#now() - this.#last.at < goodFor) return this.#last.answer
    this.#underWay ??= this.#look()
    return await this.#underWay
  }

  /** What is wrong has changed: whoever asks from now on is to see it. */
  forget(): void {
    this.#forgotten++
    this.#underWay = undefined
    this.#last = undefined
  }

  async #look(): ReturnType<AskApi> {
    const forgotten = this.#forgotten
    try {
      const answer = await this.#ask('/v1/audit')
      if (forgotten === this.#forgotten && answer.status === 200) this.#last = { at: this.#now(), answer }
      return answer
    } finally {
      if (forgotten === this.#forgotten) this.#underWay = undefined
    }
  }
}
