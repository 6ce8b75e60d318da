/** Of each of our words: those that other tools have for it. */
export type OtherWords = Readonly<Record<string, readonly string[]>>

/** Our word for what another tool calls so; undefined where none is known to mean it. */
export const meantWord = (word: string, otherWords: OtherWords): string | undefined =>
  Object.keys(otherWords).find(own => otherWords[own]?.includes(word))
