import { attachmentOfKey, type AttachmentKey, type Change } from '../../ipam/records/records.ts'
import type { Note } from './journal.ts'

/** Milliseconds: whoever took an address over may not reach the engine for hours, and gives it back only then. */
const rememberedFor = 24 * 3_600_000
const mostRemembered = 4096

interface Ended {
  /** In milliseconds of CLOCK_MONOTONIC. */
  readonly at: number
  readonly bootId: string
}

/**
 * Attachments that ended on this node, for a day. A node that had taken over what one of them had may give it back later, and knows nothing
 * of its end: what is in use here by a sandbox that has ended is nobody's, also after a restart.
 */
export class EndedAttachments {
  readonly #monotonic: () => number
  readonly #bootId: string
  /** By key, the oldest first. */
  #ended = new Map<string, Ended>()

  /** `monotonic`: milliseconds of CLOCK_MONOTONIC, which restarts with each boot. */
  constructor(monotonic: () => number, bootId: string) {
    this.#monotonic = monotonic
    this.#bootId = bootId
  }

  /** Takes note of those of earlier runs of the daemon. What ended in another boot did so before this one, at the least. */
  found(notes: readonly { readonly key: string; readonly text: string }[]): void {
    const found = notes.map(({ key, text }) => {
      const { at, bootId } = JSON.parse(text) as Ended
      return [key, { at: bootId === this.#bootId ? at : 0, bootId: this.#bootId }] as const
    })
    this.#ended = new Map(found.sort(([, a], [, b]) => a.at - b.at))
  }

  has(key: string): boolean {
    return this.#ended.has(key)
  }

  *keys(): Iterable<AttachmentKey> {
    for (const key of this.#ended.keys()) yield attachmentOfKey(key)
  }

  /** What is to be noted with a change. One that is added again under its key has not ended. */
  after(change: Change): readonly Note[] {
    const notes = change.flatMap(({ kind, key, record }): readonly Note[] => {
      if (kind !== 'attachment') return []
      return record === null ? [this.#end(key)] : this.#forget(key)
    })
    return [...notes, ...this.#forgetOld()]
  }

  /** What is to be noted of attachments that never came to be: their ADDs were refused, or interrupted. */
  refused(keys: readonly string[]): readonly Note[] {
    return [...keys.map(key => this.#end(key)), ...this.#forgetOld()]
  }

  #end(key: string): Note {
    const ended: Ended = { at: this.#monotonic(), bootId: this.#bootId }
    this.#ended.delete(key)
    this.#ended.set(key, ended)
    return { kind: 'ended', key, text: JSON.stringify(ended) }
  }

  #forgetOld(): readonly Note[] {
    const now = this.#monotonic()
    const notes: Note[] = []
    for (const [key, { at }] of this.#ended) {
      if (now - at < rememberedFor && this.#ended.size <= mostRemembered) break
      notes.push(...this.#forget(key))
    }
    return notes
  }

  #forget(key: string): readonly Note[] {
    return this.#ended.delete(key) ? [{ kind: 'ended', key, text: null }] : []
  }
}
