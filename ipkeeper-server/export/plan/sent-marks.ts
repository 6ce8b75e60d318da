/** An entry of the history that the receiver has. */
export interface SentMark {
  readonly id: number
  /** null: of a version that made none. */
  readonly link: string | null
}

/**
 * Marks with another one, which is the newest from now on. The older they are, the fewer are kept: of each power of two by which they are
 * behind one, so that after a ledger was put back from a copy what is sent once more is no more than a few times what the copy lacks.
 *
 * @param marks the newest first, as is the result
 */
export function withMark(marks: readonly SentMark[], mark: SentMark): readonly SentMark[] {
  const oldest = new Map<number, SentMark>()
  for (const one of marks) if (one.id < mark.id) oldest.set(Math.floor(Math.log2(mark.id - one.id)), one)
  return [mark, ...oldest.values()]
}

/** Whether an entry of the ledger is the one that was sent. */
export const isSent = (
  mark: SentMark,
  entry: { readonly id: number; readonly link?: string | undefined },
): boolean => mark.id === entry.id && mark.link === (entry.link ?? null)
