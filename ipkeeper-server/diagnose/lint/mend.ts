import type { Edit, SyntaxFault } from './fault.ts'
import { parseTolerantly } from './parse-tolerantly.ts'

/**
 * `good`: nothing to mend. `mended`: the text is JSON now. `beyond`: some mistakes are for a person, so that nothing is
 * changed; the first of them.
 */
export type Mended =
  | { readonly kind: 'good' }
  | { readonly kind: 'mended'; readonly text: string; readonly titles: readonly string[] }
  | { readonly kind: 'beyond'; readonly fault: SyntaxFault }

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
export function mend(text: string): Mended {
  const { faults } = parseTolerantly(text)
  const [first] = faults
  if (!first) return { kind: 'good' }
  const beyond = faults.find(({ fix }) => fix === undefined)
  if (beyond) return { kind: 'beyond', fault: beyond }
  const fixes = faults.flatMap(({ fix }) => fix ?? [])
  const mended = apply(
    text,
    fixes.flatMap(({ edits }) => edits),
  )
  try {
    JSON.parse(mended)
  } catch {
    return { kind: 'beyond', fault: parseTolerantly(mended).faults[0] ?? first }
  }
  return { kind: 'mended', text: mended, titles: fixes.map(({ title }) => title) }
}
