import { outlineOfAttachment, type AttachmentOutline } from '../../ipam/records/attachment-outline.ts'
import type { AttachmentRecord } from '../../ipam/records/records.ts'

/** So many texts are shared; boots and sockets of old must not stay for ever. */
const mostShared = 256

/**
 * Outlines of attachments by key, so that a pass over all of them parses no record twice. Each is made when it is first
 * asked for, because making all of them would be a tenth of the start.
 */
export class AttachmentOutlines {
  readonly #outlines = new Map<string, AttachmentOutline>()
  readonly #shared = new Map<string, string>()

  /** @param read gives the present record */
  of(key: string, read: () => AttachmentRecord | undefined): AttachmentOutline | undefined {
    const known = this.#outlines.get(key)
    if (known) return known
    const record = read()
    if (!record) return undefined
    const outline = this.#share(outlineOfAttachment(record))
    this.#outlines.set(key, outline)
    return outline
  }

  /** To be called whenever the record under a key is another one, or gone. */
  delete(key: string): void {
    this.#outlines.delete(key)
  }

  /** A record that was text has strings of its own, of which these are alike in nearly all. */
  #share(outline: AttachmentOutline): AttachmentOutline {
    const { node, bootId, madeBy } = outline
    return {
      ...outline,
      node: this.#one(node),
      bootId: bootId === null ? null : this.#one(bootId),
      madeBy: madeBy === undefined ? undefined : this.#one(madeBy),
    }
  }

  #one(text: string): string {
    const found = this.#shared.get(text)
    if (found !== undefined) return found
    if (this.#shared.size >= mostShared) this.#shared.clear()
    this.#shared.set(text, text)
    return text
  }
}
