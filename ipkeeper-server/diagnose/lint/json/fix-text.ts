import type { Edit, SyntaxFault } from './syntax-fault.ts'
import { parseTolerantly } from './parse-tolerantly.ts'

/**
 * `sound`: nothing to fix. `fixed`: the text is JSON now. `by-hand`: a person has to correct some mistakes, so nothing is
 * changed; `fault` is the first of them.
 */
export type FixedText =
  | { readonly kind: 'sound' }
  | { readonly kind: 'fixed'; readonly text: string; readonly titles: readonly string[] }
  | { readonly kind: 'by-hand'; readonly fault: SyntaxFault }

function apply(text: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let at = 0
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    if (edit.start < at) continue
    parts.push(text.slice(at, edit.start), edit.text)
    at = edit.end
  }
  parts.push(text.slice(at))
  return parts.join('')
}

/** Makes all safe changes to a text that should be JSON. What comes out is JSON, or nothing does. */
export function fixText(text: string): FixedText {
  const { faults } = parseTolerantly(text)
  const [first] = faults
  if (!first) return { kind: 'sound' }
  const byHand = faults.find(({ fix }) => fix === undefined)
  if (byHand) return { kind: 'by-hand', fault: byHand }
  const fixes = faults.flatMap(({ fix }) => fix ?? [])
  const fixed = apply(
    text,
    fixes.flatMap(({ edits }) => edits),
  )
  try {
    JSON.parse(fixed)
  } catch {
    return { kind: 'by-hand', fault: parseTolerantly(fixed).faults[0] ?? first }
  }
  return { kind: 'fixed', text: fixed, titles: fixes.map(({ title }) => title) }
}
