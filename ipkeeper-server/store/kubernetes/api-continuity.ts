import { EngineAway } from '../shared/engine.ts'

/** What was known when a call began. */
export interface ApiMark {
  readonly breaks: number
  readonly newest: number
}

/**
 * Whether the answers of the Kubernetes API are all out of the same data. Resource versions are revisions of its etcd, which
 * only grow: an answer that tells the newest there is, and is older than what was known before it was asked for, comes from
 * an etcd that was restored from a backup.
 */
export class ApiContinuity {
  readonly #newest: () => number
  readonly #onBreak: (reason: string) => void
  #breaks = 0

  /**
   * @param newest the newest version of anything that was heard of since the last break; 0: nothing was
   * @param onBreak called with the reason, once for each break
   */
  constructor(newest: () => number, onBreak: (reason: string) => void) {
    this.#newest = newest
    this.#onBreak = onBreak
  }

  /** To be taken before a call is made. */
  mark(): ApiMark {
    return { breaks: this.#breaks, newest: this.#newest() }
  }

  /** Whether an answer that shows the newest there is goes on from what was known when it was asked for. */
  holds(version: number, mark: ApiMark): boolean {
    if (mark.breaks !== this.#breaks) return false
    if (!(version < mark.newest)) return true
    this.break(
      `it has gone back from resource version ${mark.newest} to ${version}: its etcd was restored from a backup`,
    )
    return false
  }

  /** Throws EngineAway where an answer cannot be believed, for what is known now is out of other data. */
  expectSame({ breaks }: ApiMark): void {
    if (breaks !== this.#breaks) throw new EngineAway('the Kubernetes API: it has gone back meanwhile')
  }

  break(reason: string): void {
    this.#breaks++
    this.#onBreak(reason)
  }
}
