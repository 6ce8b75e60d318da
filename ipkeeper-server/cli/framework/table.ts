import { noPaint, type Paint, type Tone } from './paint.ts'

/** A cell, or one with a tone. */
export type Cell = string | { readonly text: string; readonly tone: Tone }

const textOf = (cell: Cell | undefined): string => (typeof cell === 'object' ? cell.text : (cell ?? ''))

/** Columns of text, left-aligned, two spaces between; the header in capitals. One line when there are no rows. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  empty: string,
  paint: Paint = noPaint,
): string {
  if (rows.length === 0) return `${empty}\n`
  const titles = header.map(text => ({ text, tone: 'strong' }) as const)
  const lines = [titles, ...rows]
  const widths = header.map((_, column) => Math.max(...lines.map(line => textOf(line[column]).length)))
  return lines
    .map(line => {
      // What is last on its line has no spaces behind it.
      const last = line.findLastIndex(cell => textOf(cell) !== '')
      const cells = line.slice(0, last + 1).map((cell, column) => {
        const text = textOf(cell)
        const gap = column === last ? '' : ' '.repeat((widths[column] ?? 0) - text.length + 2)
        return `${typeof cell === 'object' ? paint(cell.tone, text) : text}${gap}`
      })
      return `${cells.join('').trimEnd()}\n`
    })
    .join('')
}
