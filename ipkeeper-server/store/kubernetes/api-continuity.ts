import { Continuity, type CallStart } from '../shared/continuity.ts'
import { EngineAway } from '../shared/engine.ts'

/**
 * Whether the answers of the Kubernetes API are all out of the same data. Resource versions are revisions of its etcd, which
 * only grow: an answer that tells the newest there is, and is older than what was known before it was asked for, comes from
 * an etcd that was restored from a backup.
 */
export class ApiContinuity extends Continuity<number> {
  readonly #newest: () => number

  /** @param newest the newest version of anything that was heard of since the last break; 0: nothing was */
  constructor(newest: () => number, onBreak: (reason: string) => void) {
    super(onBreak)
    this.#newest = newest
  }

  protected override known(): number {
    return this.#newest()
  }

  /** Whether an answer that shows the newest there is goes on from what was known when it was asked for. */
  holds(version: number, start: CallStart<number>): boolean {
    if (!this.isUnbroken(start)) return false
    if (!(version < start.known)) return true
    this.break(
      `it has gone back from resource version ${start.known} to ${version}: its etcd was restored from a backup`,
    )
    return false
  }

  /** Throws EngineAway where an answer cannot be believed, for what is known now is out of other data. */
  expectSame(start: CallStart<number>): void {
    if (!this.isUnbroken(start)) throw new EngineAway('the Kubernetes API: it has gone back meanwhile')
  }
}
