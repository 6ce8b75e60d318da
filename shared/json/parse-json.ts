import { locateSyntaxError } from './locate-syntax-error.ts'

/** A text that is not one JSON document: what is wrong, in words, and where (1-based; columns count characters). */
export class JsonSyntaxError extends Error {
  readonly what: string
  readonly line: number
  readonly column: number

  constructor(what: string, line: number, column: number) {
    super(`${what} at line ${line} column ${column}`)
    this.name = 'JsonSyntaxError'
    this.what = what
    this.line = line
    this.column = column
  }
}

/**
 * Strict JSON (RFC 8259), from text or from bytes; bytes that are no UTF-8 are replaced, as Go does (cni-protocol C7).
 * Of equal keys the last one wins. Only a text that fails is looked at a second time, to say where.
 *
 * @throws JsonSyntaxError, e.g. "trailing comma before } at line 3 column 18"
 */
export function parseJson(input: string | Uint8Array): unknown {
  const text = typeof input === 'string' ? input : new TextDecoder('utf-8', { ignoreBOM: true }).decode(input)
  try {
    return JSON.parse(text)
  } catch (error) {
    const found = locateSyntaxError(text)
    if (found) throw new JsonSyntaxError(found.what, ...lineAndColumn(text, found.offset))
    throw new JsonSyntaxError(error instanceof Error ? error.message : String(error), 1, 1)
  }
}

/** Both count from 1; a line ends with "\n", "\r\n" or "\r", a column is a character even where it takes two units. */
function lineAndColumn(text: string, offset: number): [line: number, column: number] {
  const lines = text.slice(0, offset).split(/\r\n|\n|\r/)
  return [lines.length, Array.from(lines.at(-1) ?? '').length + 1]
}
