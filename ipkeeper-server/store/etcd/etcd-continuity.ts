import type { EtcdPosition } from './etcd-messages.ts'

/** What was known when a call began. */
export interface EtcdMark {
  readonly breaks: number
  readonly position: EtcdPosition | undefined
}

/**
 * Whether etcd's answers are all out of the same data: one cluster, whose revision only grows. Data that was made anew, or
 * restored from a snapshot, has another cluster ID, or a revision that was passed before; most have both.
 */
export class EtcdContinuity {
  readonly #onBreak: (reason: string) => void
  #breaks = 0
  /** The cluster, and its highest revision in any answer. */
  #position: EtcdPosition | undefined

  /** @param onBreak called with the reason, once for each break */
  constructor(onBreak: (reason: string) => void) {
    this.#onBreak = onBreak
  }

  /** To be taken before a call is made. */
  mark(): EtcdMark {
    return { breaks: this.#breaks, position: this.#position }
  }

  /** Whether an answer that shows the newest there is goes on from what was known when it was asked for. */
  holds(answer: EtcdPosition, { breaks, position }: EtcdMark): boolean {
    if (breaks !== this.#breaks) return false
    if (!this.isOf(answer.cluster)) return false
    const passed = position?.revision ?? 0
    if (answer.revision < passed) {
      this.#break(
        answer,
        `etcd has gone back from revision ${passed} to ${answer.revision}: it was restored from a snapshot`,
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
    this.#break(
      { cluster, revision: 0 },
      `etcd is another cluster (ID ${cluster}) than it was (${known}): its data was recreated, or restored from a snapshot`,
    )
    return false
  }

  /** Something that was written is not there, or older. */
  break(reason: string): void {
    this.#break(undefined, reason)
  }

  #break(position: EtcdPosition | undefined, reason: string): void {
    this.#breaks++
    this.#position = position && pick(position)
    this.#onBreak(reason)
  }
}

const pick = ({ cluster, revision }: EtcdPosition): EtcdPosition => ({ cluster, revision })
