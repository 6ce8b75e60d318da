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

/** Characters that are searched for a fault: more than a configuration has; QuickJS takes half a minute for 16 MB of them. */
const mostExplained = 256 * 1024

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
    const found = locateSyntaxError(text, mostExplained)
    if (found) throw new JsonSyntaxError(found.what, ...lineAndColumn(text, found.offset))
    throw new JsonSyntaxError(error instanceof Error ? error.message : String(error), 1, 1)
  }
}

/** Both count from 1; a line ends with "\n", "\r\n" or "\r", a column is a character even where it takes two units. */
function lineAndColumn(text: string, offset: number): [line: number, column: number] {
  let [line, column] = [1, 1]
  // Not by pieces of the text, which may be as many as it has characters.
  for (let at = 0; at < offset; at++) {
    const unit = text.charCodeAt(at)
    if (unit === lineFeed || (unit === carriageReturn && text.charCodeAt(at + 1) !== lineFeed)) {
      line++
      column = 1
    } else if (!isSecondHalf(unit) || !isFirstHalf(text.charCodeAt(at - 1))) column++
  }
  return [line, column]
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d]
/** Of a character that takes two units. */
const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isSecondHalf = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000
