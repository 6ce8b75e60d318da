import { attachmentKey, type AttachmentKey, type Began } from '../../ipam/records/records.ts'

/** Longer than any runtime lets an ADD run. */
const keptFor = 10 * 60_000
const mostKept = 100_000

interface Tombstone extends Began {
  readonly at: number
  readonly giver: Giver
}

/** Who gave a deleted attachment its addresses: a fallback, we (null), or nobody knows. */
export type Giver = string | null | undefined

/**
 * Remembers for a while which attachments were deleted, so that an ADD which began before its DEL and comes after it does
 * not leave an address with a sandbox that the runtime has given up; and who gave the addresses, because runtimes repeat
 * DELs.
 */
export class Tombstones {
  /** In the order of burial; the oldest go first. */
  readonly #buried = new Map<string, Tombstone>()

  /** `now`: milliseconds of a clock that nobody sets, such as CLOCK_MONOTONIC. */
  bury(key: AttachmentKey, began: Began, now: number, giver?: Giver): void {
    const id = attachmentKey(key)
    const earlier = this.#buried.get(id)
    if (earlier?.bootId === began.bootId && earlier.startedAt > began.startedAt) return
    this.#buried.delete(id)
    const { bootId, startedAt } = began
    this.#buried.set(id, { bootId, startedAt, at: now, giver: giver === undefined ? earlier?.giver : giver })
    for (const [oldest, { at }] of this.#buried) {
      if (at > now - keptFor && this.#buried.size <= mostKept) break
      this.#buried.delete(oldest)
    }
  }

  /** Whether the attachment was deleted a while ago. */
  has(key: AttachmentKey): boolean {
    return this.#buried.has(attachmentKey(key))
  }

  giver(key: AttachmentKey): Giver {
    return this.#buried.get(attachmentKey(key))?.giver
  }

  /** Whether a DEL of the attachment began after this ADD did. */
  stops(key: AttachmentKey, add: Began): boolean {
    const stone = this.#buried.get(attachmentKey(key))
    return stone?.bootId === add.bootId && stone.startedAt > add.startedAt
  }
}
