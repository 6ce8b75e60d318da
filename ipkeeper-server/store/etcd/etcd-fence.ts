import { EngineAway } from '../shared/engine.ts'
import type { EtcdClient } from './etcd-client.ts'
import { inTime } from './in-time.ts'

/**
 * A key of this node that each of its transactions compares. A member that is frozen or cut off may carry out a request
 * long after anybody waits for the answer: a record would appear that has been deleted meanwhile. So after an answer was
 * lost the key is written anew, and what still lies in a queue fails at its comparison. The revision of a key only grows:
 * a late copy of such a write makes no older one valid again.
 *
 * Invariant: once `raise` has resolved, no transaction is carried out any more that was begun before it, by this run of
 * the daemon or by an earlier one.
 */
export class EtcdFence {
  readonly key: string
  readonly #client: EtcdClient
  /** At which the key was written last, as far as is known here. */
  #revision: number | undefined
  /** Nothing is begun meanwhile, so that whoever comes later may wait for it as well. */
  #raising: Promise<number> | undefined

  constructor(client: EtcdClient, key: string) {
    this.#client = client
    this.key = key
  }

  /**
   * The revision that a transaction compares; raises the fence where none is known.
   *
   * @param ends moment of performance.now() by which it rejects at the latest, as a commit does
   */
  async revision(ends: number): Promise<number> {
    if (this.#revision !== undefined) return this.#revision
    this.#raising ??= this.#write().finally(() => {
      this.#raising = undefined
    })
    return await inTime(
      this.#raising,
      ends - performance.now(),
      () => new EngineAway(`etcd: no answer in time while ${this.key} was written`),
    )
  }

  async raise(ends: number): Promise<void> {
    this.#revision = undefined
    await this.revision(ends)
  }

  /** A transaction that compared this revision was lost, or the key has another one. */
  drop(revision: number): void {
    if (this.#revision === revision) this.#revision = undefined
  }

  /** Of other data than etcd has. */
  forget(): void {
    this.#revision = undefined
    this.#raising = undefined
  }

  async #write(): Promise<number> {
    const reply = await this.#client.repeat({
      compare: [],
      success: [{ put: this.key, value: '' }],
      failure: [],
    })
    return (this.#revision = reply.revision)
  }
}
