import { attachmentKey, type AttachmentKey } from '../../ipam/records/records.ts'

/** Milliseconds; no plugin of a GC lives for so long. */
const keptFor = 60_000

/**
 * When this daemon last had an ADD of each attachment answered, which is later than when it was recorded: by as much as the
 * wiring of the pod takes. Only for as long as a GC may be on its way.
 */
export class RecentAnswers {
  /** In the order of the answers; the oldest go first. */
  readonly #at = new Map<string, number>()

  /** `now`: milliseconds of CLOCK_MONOTONIC. */
  note(key: AttachmentKey, now: number): void {
    const id = attachmentKey(key)
    this.#at.delete(id)
    this.#at.set(id, now)
    for (const [oldest, at] of this.#at) {
      if (at > now - keptFor) break
      this.#at.delete(oldest)
    }
  }

  /** Milliseconds of CLOCK_MONOTONIC; undefined where none was answered of late. */
  of(key: AttachmentKey): number | undefined {
    return this.#at.get(attachmentKey(key))
  }
}
