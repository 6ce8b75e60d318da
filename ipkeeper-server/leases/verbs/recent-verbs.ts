import { attachmentKey, type AttachmentKey, type Began } from '../../ipam/records/records.ts'

/** Milliseconds; longer than any runtime lets an ADD run. */
const tombstonesKeptFor = 10 * 60_000
const mostTombstones = 100_000

/** Milliseconds; no plugin of a GC lives for so long. */
const answersKeptFor = 60_000

interface Tombstone extends Began {
  readonly at: number
  readonly giver: Giver
}

/** Who gave a deleted attachment its addresses: a fallback, or we (null); undefined where it is not known. */
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
      if (at > now - tombstonesKeptFor && this.#buried.size <= mostTombstones) break
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
      if (at > now - answersKeptFor) break
      this.#at.delete(oldest)
    }
  }

  /** Milliseconds of CLOCK_MONOTONIC; undefined where none was answered lately. */
  of(key: AttachmentKey): number | undefined {
    return this.#at.get(attachmentKey(key))
  }
}
