import { incarnationOf, type AttachmentRecord } from '../ipam/records/records.ts'
import type { SeenFalseAnswer } from './plan-snapshot.ts'

/** Milliseconds for which an answer is remembered. */
const remembered = 3_600_000

/** So many pods; who makes more of them is found out by these. */
const most = 1_000

/** Pods that lately answered for addresses that others were to get. */
export class FalseAnswers {
  readonly #monotonic: () => number
  /** By incarnation, the one that was last noted last. */
  readonly #seen = new Map<string, SeenFalseAnswer & { readonly at: number }>()

  /** @param monotonic milliseconds of a clock that nobody sets */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  /** Returns how often the pod has done so by now. */
  note(attachment: AttachmentRecord, addresses: readonly string[]): number {
    const key = incarnationOf(attachment)
    const times = (this.#seen.get(key)?.times ?? 0) + 1
    this.#seen.delete(key)
    this.#seen.set(key, { attachment, addresses, times, at: this.#monotonic() })
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= most) break
      this.#seen.delete(oldest)
    }
    return times
  }

  list(): readonly SeenFalseAnswer[] {
    const now = this.#monotonic()
    for (const [key, { at }] of this.#seen) if (now - at > remembered) this.#seen.delete(key)
    return [...this.#seen.values()]
  }
}
