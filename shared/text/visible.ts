/** A text from outside on one line of a terminal, which would obey control characters, and which others may mirror. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '?')
}
