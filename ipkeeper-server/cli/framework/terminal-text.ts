import type { LeaseItem } from '../../../shared/api/listing.schema.ts'

/** What a colour says. It never says anything alone: the word that it is on says the same. */
export type Tone = 'good' | 'warn' | 'bad' | 'faint' | 'strong'

/** Puts a colour on a text, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string

const codes: Readonly<Record<Tone, number>> = { good: 32, warn: 33, bad: 31, faint: 2, strong: 1 }

export const noPaint: Paint = (_tone, text) => text

/** SGR sequences, as every terminal knows them. */
export const ansiPaint: Paint = (tone, text) => (text === '' ? '' : `\u001b[${codes[tone]}m${text}\u001b[0m`)

/** What --color takes. */
export const colorWords = ['auto', 'always', 'never'] as const
export type ColorWord = (typeof colorWords)[number]

/**
 * Whether colours are wanted: where a terminal is that can show them, unless NO_COLOR is set to anything
 * (no-color.org); --color has the last word.
 */
export function choosePaint(
  word: ColorWord,
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  if (word !== 'auto') return word === 'always' ? ansiPaint : noPaint
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb' ? ansiPaint : noPaint
}

/** A cell, or one with a tone. */
export type Cell = string | { readonly text: string; readonly tone: Tone }

const textOf = (cell: Cell | undefined): string => (typeof cell === 'object' ? cell.text : (cell ?? ''))

/**
 * Columns of text, left-aligned, two spaces between; the header in capitals, if there is to be one. One line when there
 * are no rows.
 */
export function formatTable(
  header: readonly string[] | undefined,
  rows: readonly (readonly Cell[])[],
  empty: string,
  paint: Paint = noPaint,
): string {
  if (rows.length === 0) return `${empty}\n`
  const titles = header?.map(text => ({ text, tone: 'strong' }) as const)
  const lines = titles ? [titles, ...rows] : rows
  const widths = (lines[0] ?? []).map((_, column) =>
    lines.reduce((most, line) => Math.max(most, textOf(line[column]).length), 0),
  )
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

/** "12s", "5m", "3h", "2d": how far a moment is from now. */
export function distance(time: string): string {
  const seconds = Math.abs(Date.now() - Date.parse(time)) / 1000
  if (seconds < 120) return `${Math.round(seconds)}s`
  if (seconds < 7200) return `${Math.round(seconds / 60)}m`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)}h`
  return `${Math.round(seconds / 86_400)}d`
}

/** What the daemon says of a kept address of a container without a pod does not name the container. */
export function whoHas({ pod, containerId }: Pick<LeaseItem, 'pod' | 'containerId'>): string {
  if (pod) return `${pod.namespace}/${pod.name}`
  return containerId === null ? '-' : `container ${containerId.slice(0, 13)}`
}
