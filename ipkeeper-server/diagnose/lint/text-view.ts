import { countBelow } from './line-map.ts'

/**
 * A text as it is read, such as the content of a block scalar without its indentation, and where each part of it stands in
 * the file.
 */
export class TextView {
  readonly text: string
  /** Where parts begin that stand in one piece in the file: here, and there. */
  readonly #here: readonly number[]
  readonly #there: readonly number[]

  private constructor(text: string, here: readonly number[], there: readonly number[]) {
    this.text = text
    this.#here = here
    this.#there = there
  }

  /** The whole of a file. */
  static whole(text: string): TextView {
    return new TextView(text, [0], [0])
  }

  /** Of pieces of a file, in their order; `at` is where a piece begins in the file. */
  static of(pieces: Iterable<{ readonly text: string; readonly at: number }>): TextView {
    const texts: string[] = []
    const here: number[] = []
    const there: number[] = []
    let length = 0
    for (const { text, at } of pieces) {
      here.push(length)
      there.push(at)
      texts.push(text)
      length += text.length
    }
    return new TextView(texts.join(''), here, there)
  }

  /** A text of which only the beginning can be located. */
  static somewhere(text: string, at: number): TextView {
    return new TextView(
      text,
      Array.from(text, (_, index) => index),
      Array.from(text, () => at),
    )
  }

  /** Where a place of the text stands in the file. */
  inFile(offset: number): number {
    const piece = Math.max(0, countBelow(this.#here, offset + 1) - 1)
    return (this.#there[piece] ?? 0) + offset - (this.#here[piece] ?? 0)
  }
}
