import { clipped } from '../../../../shared/json/fold.ts'
import type { LineMap } from '../line-map.ts'
import type { Fix, SyntaxFault, SyntaxRuleId } from './syntax-fault.ts'
import type { Span } from './json-node.ts'

/** What usually follows from another mistake on the same line, and is left out there. */
const followUps = new Set<SyntaxRuleId>(['missing-comma', 'unquoted-key', 'unquoted-value', 'invalid-number'])

/** Invisible characters by name. */
const invisible: Readonly<Record<string, string>> = {
  '\u00a0': 'a no-break space',
  '\u200b': 'a zero-width space',
  '\u2028': 'a line separator',
  '\u3000': 'an ideographic space',
  '\ufeff': 'a byte order mark',
  '\ufffd': 'bytes that are not UTF-8',
}

/** A part of the text, quoted for a message. */
export const quoted = (text: string): string =>
  JSON.stringify(clipped(text)).replaceAll(/[\u007f-\u009f\u2028\u2029]/g, '?')

export function nameCharacter(character: string): string {
  const name = invisible[character]
  if (name !== undefined) return name
  if (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character)) return quoted(character)
  return `the control character U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** The mistakes of one text; what only follows from an earlier mistake is left out. */
export class SyntaxFaults {
  readonly faults: SyntaxFault[] = []
  /** Whether the value is as its writer meant it in spite of the faults. */
  sound = true
  readonly #lines: LineMap
  /** The line whose structure is in doubt already: what else is wrong with it follows from that. */
  #brokenLine = 0

  constructor(lines: LineMap) {
    this.#lines = lines
  }

  add(rule: SyntaxRuleId, { start, end }: Span, message: string, remedy: string, fix?: Fix): void {
    if (followUps.has(rule) && this.#lines.placeOf(start).line === this.#brokenLine) return
    this.faults.push({ rule, start, end, message, remedy, ...(fix && { fix }) })
  }

  /** A mistake that leaves brackets, keys or values in doubt: one for each line, since the next ones follow from it. */
  addDoubt(rule: SyntaxRuleId, span: Span, message: string, remedy: string): void {
    this.sound = false
    const { line } = this.#lines.placeOf(span.start)
    if (line === this.#brokenLine) return
    this.add(rule, span, message, remedy)
    this.#brokenLine = line
  }
}
