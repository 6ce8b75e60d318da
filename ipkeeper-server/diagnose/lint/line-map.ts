/** A place in a text; both count from 1, columns in characters, a tab being one. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** How many elements of a sorted list are smaller than a value. */
export function countBelow(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Lines of a text. A line ends with "\n", "\r\n" or "\r", as everywhere in ipkeeper. Looking a place up costs no walk
 * through its line, which may be the whole text.
 */
export class LineMap {
  readonly #text: string
  readonly #starts: number[] = [0]
  /** Where the second half of a character of two UTF-16 units stands. */
  readonly #halves: number[] = []

  constructor(text: string) {
    this.#text = text
    for (const { index, 0: found } of text.matchAll(/\r\n|[\n\r]|[\ud800-\udbff][\udc00-\udfff]/g)) {
      if (found >= '\ud800') this.#halves.push(index + 1)
      else this.#starts.push(index + found.length)
    }
  }

  /** @param offset in UTF-16 units, from 0 */
  placeOf(offset: number): TextPlace {
    const line = countBelow(this.#starts, offset + 1)
    const start = this.#starts[line - 1] ?? 0
    const halves = countBelow(this.#halves, offset) - countBelow(this.#halves, start)
    return { line, column: offset - start - halves + 1 }
  }

  /** The text of a line, counted from 1, without its end. */
  lineText(line: number): string {
    const start = this.#starts[line - 1]
    if (start === undefined) return ''
    return this.#text.slice(start, this.#starts[line]).replace(/[\r\n]+$/, '')
  }
}
