import { Continuity, type CallStart } from '../shared/continuity.ts'
import type { EtcdPosition } from './etcd-messages.ts'

/**
 * Whether etcd's answers are all out of the same data: one cluster, whose revision only grows. Data that was recreated, or
 * restored from a snapshot, has another cluster ID, or a revision that was passed before; most have both.
 */
export class EtcdContinuity extends Continuity<EtcdPosition | undefined> {
  /** The cluster, and its highest revision in any answer. */
  #position: EtcdPosition | undefined

  protected override known(): EtcdPosition | undefined {
    return this.#position
  }

  /** Whether an answer that shows the newest there is goes on from what was known when it was asked for. */
  holds(answer: EtcdPosition, start: CallStart<EtcdPosition | undefined>): boolean {
    if (!this.isUnbroken(start) || !this.isOf(answer.cluster)) return false
    const passed = start.known?.revision ?? 0
    if (answer.revision < passed) {
      this.break(
        `etcd has gone back from revision ${passed} to ${answer.revision}: it was restored from a snapshot`,
        answer,
      )
      return false
    }
    if (answer.revision > (this.#position?.revision ?? 0)) this.#position = pick(answer)
    return true
  }

  /** Changes were heard of up to this revision: who asks from now on is told no less. */
  passed(revision: number): void {
    if (this.#position && revision > this.#position.revision) this.#position = { ...this.#position, revision }
  }

  /** Whether an answer of whatever age comes from the cluster that was known. */
  isOf(cluster: string): boolean {
    const known = this.#position?.cluster
    if (known === undefined || known === cluster) return true
    this.break(
      `etcd is another cluster (ID ${cluster}) than it was (${known}): its data was recreated, or restored from a snapshot`,
      { cluster, revision: 0 },
    )
    return false
  }

  /** Also where something that was written is not there, or older. */
  override break(reason: string, position?: EtcdPosition): void {
    this.#position = position && pick(position)
    super.break(reason)
  }
}

const pick = ({ cluster, revision }: EtcdPosition): EtcdPosition => ({ cluster, revision })
